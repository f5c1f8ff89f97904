/** What keeps a server busy while its health is asked for. Runs as a process of its own: run.ts starts it. */
import { credentials, makeGenericClientConstructor } from "@grpc/grpc-js";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMethodUnary, MessageInitShape, MessageShape, DescMessage } from "@bufbuild/protobuf";
import { EnvironmentService } from "../../server/gen/gradus/v1/environment_pb.js";

/** Told to a flood; it says "flooding" once it runs, and ends when it is killed. */
export interface Order {
  readonly flood: Flood;
  readonly port: number;
}

const { batchReset, batchStep, reset } = EnvironmentService.method;
const KiB = 1024;

type Unary = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
) => Promise<MessageShape<O>>;

/** By name. Each is called again as soon as it has ended, by so many callers at once. */
const floods = {
  idle: { callers: 0, call: async () => undefined },
  /** The bar's flood: every worker makes and solves, and as many jobs wait. */
  "np/tsp benchmark": {
    callers: 4,
    call: (unary: Unary, i: number) => tours(unary, i, { case: "level", value: "benchmark" }),
  },
  /** 200 cities: prompts of about 150 KB, which the event loop renders. */
  "largest prompts": {
    callers: 4,
    call: (unary: Unary, i: number) =>
      tours(unary, i, { case: "parameters", value: { values: { cities_min: 200, cities_max: 200 } } }),
  },
  /** One group of long completions that are hard to read, in a message of 16 MiB. */
  "large groups": { callers: 2, call: groups },
} as const;

export type Flood = keyof typeof floods;
export const floodNames = Object.keys(floods) as readonly Flood[];

const SEEDS = 256;

async function tours(
  unary: Unary,
  i: number,
  difficulty: { case: "level"; value: string } | { case: "parameters"; value: { values: Record<string, number> } },
): Promise<void> {
  const seeds = Array.from({ length: SEEDS }, (_, k) => BigInt(i * SEEDS + k));
  await unary(batchReset, { spec: { environment: "np/tsp", difficulty }, seeds });
}

async function groups(unary: Unary, i: number): Promise<void> {
  const { task } = await unary(reset, { spec: { environment: "countdown" }, seed: BigInt(i) });
  if (task === undefined) throw new Error("no task");
  const { taskId, groupId } = task;
  const text = `<think></think><answer>${"1 + ".repeat(64 * KiB - 16)}</answer>`;
  const completions = Array.from({ length: 64 }, (_, sampleIndex) => ({ sampleIndex, text }));
  await unary(batchStep, { groups: [{ taskId, groupId, completions }] });
}

function unaryOf(port: number): Unary {
  const Client = makeGenericClientConstructor({}, "flood");
  const unlimited = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), unlimited);
  return (method, request) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(toBinary(method.input, create(method.input, request)));
      const path = `/${method.parent.typeName}/${method.name}`;
      const same = (value: Buffer): Buffer => value;
      client.makeUnaryRequest(path, same, same, bytes, (error, answer) =>
        error === null && answer !== undefined ? resolve(fromBinary(method.output, answer)) : reject(error as Error),
      );
    });
}

async function flood({ flood: name, port }: Order): Promise<void> {
  const { callers, call } = floods[name];
  const unary = unaryOf(port);
  let next = 0;
  const again = async (): Promise<never> => {
    for (;;) await call(unary, next++);
  };
  const running = Array.from({ length: callers }, again);
  process.send?.("flooding");
  await Promise.all(running);
}

process.once("message", (order) => void flood(order as Order));
