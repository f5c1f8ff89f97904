/** Calls over gRPC, by grpc-js. */
import type { DescMethod } from "@bufbuild/protobuf";
import { Client, Metadata } from "@grpc/grpc-js";
import type { CallOptions } from "@grpc/grpc-js";
import { abortedError } from "../errors.ts";
import { EnvironmentService } from "../gen/gradus/v1/environment_pb.js";
import type { Attempt, Transport } from "../transport.ts";
import { asIs, bytesOf, reader } from "./bytes.ts";
import { channelOptions, credentialsOf } from "./channel.ts";
import type { TlsOptions } from "./channel.ts";
import { fromServiceError } from "./service-error.ts";
import { stepChannel } from "./steps.ts";

/** How a gRPC server is reached. */
export interface GrpcOptions {
  readonly tls?: TlsOptions | undefined;
  /** Bearer token, where the server asks for one. */
  readonly token?: string | undefined;
}

const pathOf = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;

function optionsOf({ timeoutMs }: Attempt): CallOptions {
  return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
}

/** Cancels a call when its signal aborts; gives what stops listening. */
function cancelOn(signal: AbortSignal | undefined, call: { cancel(): void }): () => void {
  const cancel = (): void => call.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  return () => signal?.removeEventListener("abort", cancel);
}

function unary(client: Client, metadata: Metadata): Transport["unary"] {
  return async (method, message, attempt) => {
    if (attempt.signal?.aborted) throw abortedError(attempt.signal);
    const bytes = bytesOf(method.input, message);
    const read = reader(method.output);
    return new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        pathOf(method),
        asIs,
        read,
        bytes,
        metadata,
        optionsOf(attempt),
        (error, reply) => {
          stop();
          if (error === null) resolve(reply as ReturnType<typeof read>);
          else reject(fromServiceError(error));
        },
      );
      const stop = cancelOn(attempt.signal, call);
    });
  };
}

function serverStream(client: Client, metadata: Metadata): Transport["serverStream"] {
  return async function* (method, message, attempt) {
    if (attempt.signal?.aborted) throw abortedError(attempt.signal);
    const bytes = bytesOf(method.input, message);
    const read = reader(method.output);
    const call = client.makeServerStreamRequest(pathOf(method), asIs, read, bytes, metadata, optionsOf(attempt));
    // The end of a cancelled call has no reader.
    call.on("error", () => undefined);
    const stop = cancelOn(attempt.signal, call);
    try {
      for await (const reply of call) yield reply as ReturnType<typeof read>;
    } catch (error) {
      throw fromServiceError(error);
    } finally {
      stop();
      call.cancel();
    }
  };
}

/** Reaches a gRPC server at "host:port". Nothing is opened before the first call. */
export function grpcTransport(address: string, options: GrpcOptions): Transport {
  const metadata = new Metadata();
  if (options.token !== undefined) metadata.set("authorization", `Bearer ${options.token}`);
  let made: Client | undefined;
  const client = (): Client =>
    (made ??= new Client(address, credentialsOf(options.tls), channelOptions(address, options.tls)));
  return {
    unary: (method, message, attempt) => unary(client(), metadata)(method, message, attempt),
    serverStream: (method, message, attempt) => serverStream(client(), metadata)(method, message, attempt),
    openSteps: () => {
      const method = EnvironmentService.method.streamSteps;
      return stepChannel(() => client().makeBidiStreamRequest(pathOf(method), asIs, reader(method.output), metadata));
    },
    close: () => {
      made?.close();
      made = undefined;
    },
  };
}
