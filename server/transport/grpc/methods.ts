/** Our handlers as grpc-js takes them. Messages are read and written here, so that it sees bytes only. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Metadata } from "@grpc/grpc-js";
import type { MethodDefinition, StatusObject } from "@grpc/grpc-js";
import { Call } from "../call.ts";
import type { Host } from "../call.ts";
import { detailsOf, statusBytes } from "../details.ts";
import { codes, RpcError } from "../rpc-error.ts";

/** The parts of a grpc-js server call that all its kinds have. */
export interface GrpcCall {
  readonly metadata: Metadata;
  getPeer(): string;
  getDeadline(): number | Date;
  once(event: "cancelled", listener: () => void): unknown;
}

/** A method with what each of its calls needs. */
export interface GrpcMethod {
  readonly method: DescMethod;
  readonly path: string;
  begin(incoming: GrpcCall): Call;
  read(bytes: Buffer, call: Call): Message;
  write(message: Message, call: Call): Buffer;
}

export function grpcMethod(host: Host, method: DescMethod): GrpcMethod {
  const path = `${method.parent.typeName}/${method.name}`;
  const meter = host.meter(path);
  const log = host.log.child({ method: path });
  return {
    method,
    path: `/${path}`,
    begin: (incoming) => {
      const requestId = incoming.metadata.get("x-request-id")[0]?.toString();
      const deadline = Number(incoming.getDeadline());
      const deadlineMs = deadline === Infinity ? undefined : deadline;
      const call = new Call({ host, meter, log, requestId, deadlineMs, peer: () => incoming.getPeer() });
      // grpc-js says "cancelled" at the end of every call, once all is sent.
      incoming.once("cancelled", () => call.close());
      return call;
    },
    read: (bytes, call) => {
      call.bytesIn += bytes.length;
      return readMessage(method, bytes);
    },
    write: (message, call) => {
      const { buffer, byteOffset, byteLength } = toBinary(method.output, message);
      call.bytesOut += byteLength;
      return Buffer.from(buffer, byteOffset, byteLength);
    },
  };
}

/** The token that came with a call, as an HTTP header's value. */
export function authorizationOf(incoming: GrpcCall): string | undefined {
  return incoming.metadata.get("authorization")[0]?.toString();
}

/** A request's fault, not ours: grpc-js would call it INTERNAL. */
function readMessage({ input }: DescMethod, bytes: Buffer): Message {
  try {
    return fromBinary(input, bytes);
  } catch {
    throw new RpcError("INVALID_ARGUMENT", `the request's ${bytes.length} bytes are not a ${input.typeName} message`);
  }
}

/** A failure as grpc-js sends it, with google.rpc details and the retry delay in plain text too. */
export function toStatus(error: RpcError): StatusObject {
  const metadata = new Metadata();
  const details = detailsOf(error);
  if (details.length > 0) metadata.set("grpc-status-details-bin", Buffer.from(statusBytes(error, details)));
  if (error.retryDelayMs !== undefined) metadata.set("retry-delay-ms", String(error.retryDelayMs));
  return { code: codes[error.code], details: error.message, metadata };
}

const same = (bytes: Buffer): Buffer => bytes;

/** How grpc-js is told of a method. */
export function definitionOf({ method, path }: GrpcMethod): MethodDefinition<Buffer, Buffer> {
  const requestStream = method.methodKind === "bidi_streaming" || method.methodKind === "client_streaming";
  const responseStream = method.methodKind === "bidi_streaming" || method.methodKind === "server_streaming";
  const requests = { requestSerialize: same, requestDeserialize: same };
  return { path, requestStream, responseStream, ...requests, responseSerialize: same, responseDeserialize: same };
}
