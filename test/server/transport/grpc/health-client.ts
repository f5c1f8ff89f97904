import { credentials, makeClientConstructor } from "@grpc/grpc-js";
import type { ClientReadableStream, ServiceError } from "@grpc/grpc-js";
import { service } from "grpc-health-check";

interface HealthClient {
  check(request: object, done: (error: ServiceError | null, answer?: { readonly status: string }) => void): void;
  watch(request: object): ClientReadableStream<{ readonly status: string }>;
  close(): void;
}

/** Gives the client to `use`, and closes it after. */
export async function withHealth<T>(port: number, use: (client: HealthClient) => Promise<T>): Promise<T> {
  const Client = makeClientConstructor(service, "Health");
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure()) as unknown as HealthClient;
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** The status of a service, or of the whole server. Rejects as the call does. */
export function checkHealth(port: number, name = ""): Promise<string> {
  return withHealth(port, (client) => {
    return new Promise((resolve, reject) => {
      client.check({ service: name }, (error, answer) =>
        error === null ? resolve(answer?.status ?? "") : reject(error),
      );
    });
  });
}
