/** Calls over gRPC, by grpc-js. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, DescMethod, MessageShape } from "@bufbuild/protobuf";
import { Client, Metadata } from "@grpc/grpc-js";
import type { CallOptions } from "@grpc/grpc-js";
import { abortedError } from "../errors.ts";
import { EnvironmentService } from "../gen/gradus/v1/environment_pb.js";
import type { Attempt, Transport } from "../transport.ts";
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

/** A view of the bytes, not a copy. */
const serializer =
  <D extends DescMessage>(schema: D) =>
  (message: MessageShape<D>): Buffer => {
    const bytes = toBinary(schema, message);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
const deserializer =
  <D extends DescMessage>(schema: D) =>
  (bytes: Buffer): MessageShape<D> =>
    fromBinary(schema, bytes);

function optionsOf({ timeoutMs }: Attempt): CallOptions {
  return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
}

/** Cancels a call when its signal aborts; gives what stops listening. */
function cancelOn(signal: AbortSignal | undefined, call: { cancel(): void }): () => void {
  const cancel = (): void => call.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  return () => signal?.removeEventListener("abort", cancel);
}

/** Reaches a gRPC server at "host:port". Nothing is opened before the first call. */
export function grpcTransport(address: string, options: GrpcOptions): Transport {
  let made: Client | undefined;
  const client = (): Client =>
    (made ??= new Client(address, credentialsOf(options.tls), channelOptions(address, options.tls)));
  const metadata = (): Metadata => {
    const headers = new Metadata();
    if (options.token !== undefined) headers.set("authorization", `Bearer ${options.token}`);
    return headers;
  };
  return {
    unary: (method, message, attempt) =>
      new Promise((resolve, reject) => {
        if (attempt.signal?.aborted) return reject(abortedError(attempt.signal));
        const call = client().makeUnaryRequest(
          pathOf(method),
          serializer(method.input),
          deserializer(method.output),
          message,
          metadata(),
          optionsOf(attempt),
          (error, reply) => {
            stop();
            if (error !== null) reject(fromServiceError(error));
            else resolve(reply as MessageShape<typeof method.output>);
          },
        );
        const stop = cancelOn(attempt.signal, call);
      }),
    async *serverStream(method, message, attempt) {
      if (attempt.signal?.aborted) throw abortedError(attempt.signal);
      const [write, read] = [serializer(method.input), deserializer(method.output)];
      const call = client().makeServerStreamRequest(
        pathOf(method),
        write,
        read,
        message,
        metadata(),
        optionsOf(attempt),
      );
      // The end of a cancelled call has no reader.
      call.on("error", () => undefined);
      const stop = cancelOn(attempt.signal, call);
      try {
        for await (const reply of call) yield reply as MessageShape<typeof method.output>;
      } catch (error) {
        throw fromServiceError(error);
      } finally {
        stop();
        call.cancel();
      }
    },
    openSteps: () => {
      const method = EnvironmentService.method.streamSteps;
      const [write, read] = [serializer(method.input), deserializer(method.output)];
      return stepChannel(() => client().makeBidiStreamRequest(pathOf(method), write, read, metadata()));
    },
    close: () => {
      made?.close();
      made = undefined;
    },
  };
}
