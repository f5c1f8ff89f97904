/** Calls by the Connect protocol, over fetch: for browsers, and wherever only HTTP/1.1 gets through. */
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { abortedError, codeName, GradusError, readDelayMs, retryDelayKey } from "../errors.ts";
import type { GradusCode } from "../errors.ts";
import type { Attempt, Transport } from "../transport.ts";

/** How a Connect server is reached. */
export interface ConnectOptions {
  /** Bearer token, where the server asks for one. */
  readonly token?: string | undefined;
}

function codeOf(error: ConnectError, caught: unknown): GradusCode {
  // What fetch throws (a server that is not there) has no code.
  if (caught instanceof TypeError || error.cause instanceof TypeError) return "UNAVAILABLE";
  // Connect calls a value that its field cannot hold INTERNAL, though the fault is the caller's.
  if (error.rawMessage.startsWith("serialize binary: ")) return "INVALID_ARGUMENT";
  return codeName(error.code);
}

function fromConnectError(caught: unknown, attempt: Attempt): GradusError {
  if (attempt.signal?.aborted) return abortedError(attempt.signal);
  const error = ConnectError.from(caught);
  const retryDelayMs = readDelayMs(error.metadata.get(retryDelayKey));
  return new GradusError(codeOf(error, caught), error.rawMessage, { retryDelayMs, cause: caught });
}

async function* once<T>(message: T): AsyncGenerator<T> {
  yield message;
}

/** Reaches a server's HTTP port at a base URL. */
export function connectTransport(baseUrl: string, { token }: ConnectOptions): Transport {
  const transport = createConnectTransport({ baseUrl, useBinaryFormat: true });
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  return {
    unary: async (method, message, attempt) => {
      try {
        const reply = await transport.unary(method, attempt.signal, attempt.timeoutMs, headers, message as never);
        return reply.message;
      } catch (error) {
        throw fromConnectError(error, attempt);
      }
    },
    async *serverStream<O extends DescMessage>(
      method: Parameters<Transport["serverStream"]>[0],
      message: object,
      attempt: Attempt,
    ) {
      try {
        const input = once(message as never);
        const reply = await transport.stream(method, attempt.signal, attempt.timeoutMs, headers, input);
        for await (const item of reply.message) yield item as MessageShape<O>;
      } catch (error) {
        throw fromConnectError(error, attempt);
      }
    },
    close: () => undefined,
  };
}
