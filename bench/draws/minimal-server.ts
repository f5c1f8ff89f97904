/**
 * What drawing an update batch costs at the least: tasks are made in a thread, signed, and given by grpc-js and
 * protobuf-es with the transport settings of our server. There is no run, no policy, no split to keep, no journal. Prints
 * its port, and runs until it is killed. The number of tasks is `count`, their seeds follow from `cursor`.
 */
import { createHmac, randomBytes } from "node:crypto";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import { deriveSeed } from "../../envs/lib/rng.ts";
import { CurriculumService, NextBatchResponseSchema } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import type { NextBatchRequest, NextBatchResponse } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { setHttp2Options, watchConnections } from "../../server/transport/grpc/internals.ts";
import { createResetBudgets } from "../../server/transport/reset-budgets.ts";
import { type Made, makerOf } from "./make.ts";

/** Whose tasks it makes: its arguments. */
interface Kind {
  readonly environment: string;
  readonly level: string;
}

interface Order {
  readonly from: number;
  readonly count: number;
}

function serve(): void {
  const [environment = "", level = ""] = process.argv.slice(2);
  const worker = new Worker(new URL(import.meta.url), { workerData: { environment, level } satisfies Kind });
  const waiting: ((made: readonly Made[]) => void)[] = [];
  worker.on("message", (made: readonly Made[]) => waiting.shift()?.(made));
  const key = randomBytes(32);

  const respondTo = async (request: NextBatchRequest): Promise<NextBatchResponse> => {
    const { runId, cursor = 0n, count } = request;
    const made = await new Promise<readonly Made[]>((resolve) => {
      waiting.push(resolve);
      worker.postMessage({ from: Number(cursor), count } satisfies Order);
    });
    const tasks = made.map(({ hash, prompt }, i) => {
      const groupId = `${runId}/${Number(cursor) + i}`;
      const mac = createHmac("sha256", key).update(groupId).update(hash).digest();
      return {
        taskId: `${hash}${mac.toString("base64url")}`,
        groupId,
        environment,
        level,
        version: 1,
        runId,
        armId: "only",
        instanceHash: hash,
        cursor: cursor + BigInt(i),
        armProbability: 1,
        prompt: [...prompt],
      };
    });
    return create(NextBatchResponseSchema, { tasks, nextCursor: cursor + BigInt(count) });
  };

  const { input, output, name } = CurriculumService.method.nextBatch;
  const definition = {
    path: `/${CurriculumService.typeName}/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message: NextBatchRequest) => Buffer.from(toBinary(input, message)),
    requestDeserialize: (bytes: Buffer) => fromBinary(input, bytes),
    responseSerialize: (message: NextBatchResponse) => Buffer.from(toBinary(output, message)),
    responseDeserialize: (bytes: Buffer) => fromBinary(output, bytes),
  } as const;
  const server = new Server({ "grpc.max_receive_message_length": 64 * 1024 ** 2, "grpc.enable_channelz": 0 });
  setHttp2Options(server, 1024);
  server.addService(
    { nextBatch: definition },
    {
      nextBatch: (
        { request }: ServerUnaryCall<NextBatchRequest, NextBatchResponse>,
        respond: sendUnaryData<NextBatchResponse>,
      ) => {
        respondTo(request).then(
          (response) => respond(null, response),
          (error: unknown) => respond(error as Error),
        );
      },
    },
  );
  process.on("SIGTERM", () => process.exit(0));
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, grpcPort) => {
    if (error !== null) throw error;
    watchConnections(
      server,
      createResetBudgets(() => undefined),
    );
    console.log(JSON.stringify({ msg: "listening", grpcPort }));
  });
}

function work(): void {
  const { environment, level } = workerData as Kind;
  const make = makerOf(environment, level);
  parentPort?.on("message", ({ from, count }: Order) => {
    parentPort?.postMessage(Array.from({ length: count }, (_, i) => make(deriveSeed("bench", from + i))));
  });
}

if (isMainThread) serve();
else work();
