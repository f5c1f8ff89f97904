/** Adds health checks and reflection, services that libraries bring, to the gRPC port. */
import { type DescFile, type DescService, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Metadata, Server, ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import { ReflectionService } from "@grpc/reflection";
import { HealthImplementation, service as healthService } from "grpc-health-check";
import { type Method, methodAt, type TransportContext } from "../call-context.ts";
import { toStatus } from "../errors.ts";
import { RpcError } from "../../base/rpc.ts";
import { callOf } from "./call.ts";
import type { Connection } from "../connection-turns.ts";

export type Companions = ReturnType<typeof addCompanions>;

/** Requests hold the name of a service or of a symbol. */
const requestBytesMax = 4096;
/** Maximum number of open health watches and reflection streams together. */
const openStreamsMax = 1024;

interface Stream {
  readonly metadata: Metadata;
  readonly writableNeedDrain: boolean;
  on(event: string, listener: () => void): unknown;
  once(event: "drain", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  emit(event: "error", error: unknown): unknown;
  end(): void;
}
type StreamHandler = (stream: Stream) => void;

/**
 * Service that a probe names to ask whether the process lives: SERVING while the process answers, whatever the state of
 * its store.
 */
const LIVENESS = "liveness";

/**
 * Adds reflection v1 and v1alpha, and grpc.health.v1. Health says whether calls are served: for the whole server (the
 * empty name), for each service and as "readiness". "liveness" always serves.
 */
export function addCompanions(server: Server, services: readonly DescService[], context: TransportContext) {
  const names = ["", "readiness", ...services.map((service) => service.typeName)];
  const first = context.health.problem() === undefined ? "SERVING" : "NOT_SERVING";
  const health = new HealthImplementation({
    ...Object.fromEntries(names.map((name) => [name, first] as const)),
    [LIVENESS]: "SERVING",
  });
  const methods: Method[] = [];
  const open = new Set<Stream>();
  const tracked =
    (handler: StreamHandler, readsRequests: boolean): StreamHandler =>
    (stream) => {
      if (open.size >= openStreamsMax) {
        const why = `${openStreamsMax} health watches and reflection streams are open, which is the limit`;
        return void stream.emit("error", toStatus(new RpcError("RESOURCE_EXHAUSTED", why)));
      }
      open.add(stream);
      stream.on("cancelled", () => open.delete(stream));
      if (readsRequests) readInTurns(stream, callOf(stream).connection);
      handler(stream);
    };
  /** Server object for a library that adds its service: streams of the service are tracked. */
  const adding = (streaming: string): Server => {
    const addService = (service: ServiceDefinition, implementation: UntypedServiceImplementation) => {
      methods.push(...Object.values(service).map((method) => quietMethod(context, method)));
      const handler = implementation[streaming] as StreamHandler;
      const readsRequests = Object.values(service).some(({ requestStream }) => requestStream);
      server.addService(service, { ...implementation, [streaming]: tracked(handler, readsRequests) });
    };
    return { addService } as unknown as Server;
  };
  let stopped = false;
  const set = (status: "SERVING" | "NOT_SERVING"): void => names.forEach((name) => health.setStatus(name, status));
  context.health.onChange((problem) => {
    if (!stopped) set(problem === undefined ? "SERVING" : "NOT_SERVING");
  });
  health.addToServer(adding("watch"));
  new ReflectionService(packageOf(services)).addToServer(adding("ServerReflectionInfo"));
  return {
    methods,
    stop: () => {
      stopped = true;
      set("NOT_SERVING");
    },
    close: () => open.forEach((stream) => stream.end()),
  };
}

/**
 * Reads a stream's requests one at a time, each in its turn, and none while earlier answers are unread. The library
 * answers every request without waiting for a reader, and an answer is a thousand times as long as its request.
 */
export function readInTurns(stream: Omit<Stream, "metadata">, connection: Connection): void {
  const goOn = (): void => connection.take(() => stream.resume());
  stream.on("data", () => {
    stream.pause();
    if (stream.writableNeedDrain) stream.once("drain", goOn);
    else goOn();
  });
}

/**
 * Returns a method whose calls are counted, but write no log lines and no spans: a load balancer checks every second.
 */
function quietMethod(context: TransportContext, { path, requestStream }: ServiceDefinition[string]): Method {
  const of = { path: path.slice(1), role: "viewer", streamsRequests: requestStream } as const;
  return methodAt({ ...context, maxMessageBytes: requestBytesMax, traces: undefined }, of, "warn");
}

/** Our descriptors and health's in the shape of @grpc/proto-loader's, of which reflection reads only the files. */
function packageOf(services: readonly DescService[]): ConstructorParameters<typeof ReflectionService>[0] {
  const files = new Set<DescFile>();
  const add = (file: DescFile): void => {
    files.add(file);
    file.dependencies.forEach(add);
  };
  services.forEach((service) => add(service.file));
  const ours = [...files].map((file) => Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)));
  const theirs = Object.values(healthService).flatMap(({ requestType }) => requestType.fileDescriptorProtos);
  const fileDescriptorProtos = [...ours, ...theirs];
  return { files: { format: "Protocol Buffer 3 DescriptorProto", type: {}, fileDescriptorProtos } };
}
