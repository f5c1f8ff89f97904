/** A gRPC server whose answers a test scripts: for faults that the real server is built not to have. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, DescService, MessageInitShape } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import {
  CurriculumService,
  EnvironmentService,
  GroupOutcomeSchema,
  StreamStepsResponseSchema,
} from "../../../../clients/ts/src/index.ts";
import type { StreamStepsRequest, StreamStepsResponse } from "../../../../clients/ts/src/index.ts";

export type StepsCall = grpc.ServerDuplexStream<StreamStepsRequest, StreamStepsResponse>;

/** Handlers by method name, e.g. "StreamSteps". Other methods return UNIMPLEMENTED. */
export type Script = Readonly<Record<string, grpc.UntypedHandleCall>>;

const read =
  (schema: DescMessage) =>
  (bytes: Buffer): object =>
    fromBinary(schema, bytes);
const write =
  (schema: DescMessage) =>
  (message: object): Buffer =>
    Buffer.from(toBinary(schema, message as never));

function definitionOf(service: DescService): grpc.ServiceDefinition {
  return Object.fromEntries(
    service.methods.map(({ name, input, output, methodKind }) => [
      name,
      {
        path: `/${service.typeName}/${name}`,
        requestStream: methodKind === "bidi_streaming" || methodKind === "client_streaming",
        responseStream: methodKind === "bidi_streaming" || methodKind === "server_streaming",
        requestSerialize: write(input),
        requestDeserialize: read(input),
        responseSerialize: write(output),
        responseDeserialize: read(output),
      },
    ]),
  );
}

/** Serves a script on a port of its own (or the one given); `stop` drops all connections. */
export async function scriptedServer(
  script: Script,
  port = 0,
): Promise<{ address: string; port: number; stop(): void }> {
  const server = new grpc.Server();
  server.addService(definitionOf(EnvironmentService), script);
  server.addService(definitionOf(CurriculumService), script);
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error, got) =>
      error === null ? resolve(got) : reject(error),
    );
  });
  return { address: `127.0.0.1:${bound}`, port: bound, stop: () => server.forceShutdown() };
}

/** The reply that a request of one group gets: its group_id comes back. */
export function replyTo(request: StreamStepsRequest): StreamStepsResponse {
  const groups = request.groups.map(({ groupId }) => create(GroupOutcomeSchema, { groupId }));
  return create(StreamStepsResponseSchema, { requestId: request.requestId, groups });
}

export function refusal(
  requestId: string,
  failure: MessageInitShape<typeof StreamStepsResponseSchema>["failure"],
): StreamStepsResponse {
  return create(StreamStepsResponseSchema, { requestId, ...(failure === undefined ? {} : { failure }) });
}

/** A status with the server's retry delay. */
export function status(code: grpc.status, details: string, retryDelayMs?: number): Partial<grpc.StatusObject> {
  const metadata = new grpc.Metadata();
  if (retryDelayMs !== undefined) metadata.set("retry-delay-ms", String(retryDelayMs));
  return { code, details, metadata };
}
