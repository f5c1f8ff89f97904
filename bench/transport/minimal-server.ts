/**
 * Serves gRPC with grpc-js, protobuf-es and our server's transport settings, to show what gRPC in Node costs by itself.
 * The handler answers each completion with one constant outcome. Prints the port, and runs until it is killed.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, DescMethod, Message, MessageShape } from "@bufbuild/protobuf";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { MethodDefinition, ServerDuplexStream, ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import {
  BatchStepResponseSchema,
  EnvironmentService,
  StepResponseSchema,
  StreamStepsResponseSchema,
} from "../../proto/gen/gradus/v1/environment_pb.js";
import type {
  BatchStepRequest,
  BatchStepResponse,
  CompletionGroup,
  StepRequest,
  StepResponse,
  StreamStepsRequest,
  StreamStepsResponse,
} from "../../proto/gen/gradus/v1/environment_pb.js";
import { GroupOutcomeSchema, OutcomeSchema, Verdict } from "../../proto/gen/gradus/v1/outcome_pb.js";
import { setHttp2Options, watchConnections } from "../../server/transport/grpc/internals.ts";
import { createArrivals } from "../../server/transport/arrivals.ts";
import { createTurns } from "../../server/transport/connection-turns.ts";
import { createResetBudgets } from "../../server/transport/reset-budgets.ts";

const outcome = create(OutcomeSchema, {
  result: { case: "score", value: { reward: 1, verdict: Verdict.FEASIBLE, solved: true } },
});
const groupOutcome = ({ groupId, completions }: CompletionGroup) =>
  create(GroupOutcomeSchema, { groupId, outcomes: completions.map(() => outcome) });

const reader =
  <Desc extends DescMessage>(schema: Desc) =>
  (bytes: Buffer): MessageShape<Desc> =>
    fromBinary(schema, bytes);
const writer =
  <Desc extends DescMessage>(schema: Desc) =>
  (message: MessageShape<Desc>): Buffer => {
    const { buffer, byteOffset, byteLength } = toBinary(schema, message);
    return Buffer.from(buffer, byteOffset, byteLength);
  };

function definition({ input, output, name, methodKind }: DescMethod): MethodDefinition<Message, Message> {
  const stream = methodKind === "bidi_streaming";
  return {
    path: `/${EnvironmentService.typeName}/${name}`,
    requestStream: stream,
    responseStream: stream,
    requestSerialize: writer(input),
    requestDeserialize: reader(input),
    responseSerialize: writer(output),
    responseDeserialize: reader(output),
  };
}

const server = new Server({ "grpc.max_receive_message_length": 64 * 1024 ** 2, "grpc.enable_channelz": 0 });
setHttp2Options(server, 1024);
const { step, batchStep, streamSteps } = EnvironmentService.method;
server.addService(
  { step: definition(step), batchStep: definition(batchStep), streamSteps: definition(streamSteps) },
  {
    step: (_: ServerUnaryCall<StepRequest, StepResponse>, respond: sendUnaryData<StepResponse>) => {
      respond(null, create(StepResponseSchema, { outcome }));
    },
    batchStep: (
      call: ServerUnaryCall<BatchStepRequest, BatchStepResponse>,
      respond: sendUnaryData<BatchStepResponse>,
    ) => {
      respond(null, create(BatchStepResponseSchema, { groups: call.request.groups.map(groupOutcome) }));
    },
    streamSteps: (call: ServerDuplexStream<StreamStepsRequest, StreamStepsResponse>) => {
      call.on("data", ({ requestId, groups }: StreamStepsRequest) => {
        call.write(create(StreamStepsResponseSchema, { requestId, groups: groups.map(groupOutcome) }));
      });
      call.on("end", () => call.end());
    },
  },
);
process.on("SIGTERM", () => process.exit(0));
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, grpcPort) => {
  if (error !== null) throw error;
  const resets = createResetBudgets(() => undefined);
  watchConnections(server, createArrivals(createTurns(), resets));
  console.log(JSON.stringify({ msg: "listening", grpcPort }));
});
