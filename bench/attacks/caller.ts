/** Callers of a server, peaceful and attacking: each has a connection of its own and calls by its own contract. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { credentials, makeGenericClientConstructor, Metadata } from "@grpc/grpc-js";

/** Address of the server. */
export interface Target {
  readonly port: number;
  readonly httpPort: number;
}

export type Unary = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
) => Promise<MessageShape<O>>;

/** One attack: how many callers there are, and the call that they repeat. */
export interface Attack {
  /** Number of connections. Each calls again as soon as its call was answered or refused. */
  readonly callers: number;
  /** Runs before the attack begins. */
  readonly prepare?: (unary: Unary) => Promise<void>;
  readonly call: (caller: { readonly unary: Unary; readonly target: Target }, i: number) => Promise<unknown>;
  /** Arguments of the attacked server. */
  readonly args?: readonly string[];
}

/** Longest wait for a call, in milliseconds. */
export const CALL_MS = 30_000;

/** Opens a connection, and returns its calls. */
export function unaryOf(port: number, token?: string): Unary & { readonly close: () => void } {
  const Client = makeGenericClientConstructor({}, "attack");
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    "grpc.use_local_subchannel_pool": 1,
  });
  const metadata = new Metadata();
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  const unary: Unary = (method, message) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(toBinary(method.input, create(method.input, message)));
      const path = `/${method.parent.typeName}/${method.name}`;
      const same = (value: Buffer): Buffer => value;
      client.makeUnaryRequest(path, same, same, bytes, metadata, { deadline: Date.now() + CALL_MS }, (error, answer) =>
        error === null && answer !== undefined ? resolve(fromBinary(method.output, answer)) : reject(error as Error),
      );
    });
  return Object.assign(unary, { close: () => client.close() });
}
