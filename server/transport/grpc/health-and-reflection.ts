/** Adds the gRPC services for health checks and reflection, which libraries implement, to the gRPC port. */
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

/** Maximum bytes of a request for health or reflection, which contains only a name. */
const requestBytesMax = 4096;
/** Maximum number of open health watches and reflection streams together, over all callers. */
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
 * Service name with which a probe asks whether the process lives. Its status is SERVING while the process answers, even
 * if the store is unavailable.
 */
const LIVENESS = "liveness";

/**
 * Adds reflection (v1 and v1alpha) and health checks. Checks of the empty name, of each service and of "readiness" tell
 * whether calls are served; a check of "liveness" is always SERVING.
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
        const why = `${openStreamsMax} health watches and reflection streams are already open, the limit: close one`;
        return void stream.emit("error", toStatus(new RpcError("RESOURCE_EXHAUSTED", why)));
      }
      open.add(stream);
      stream.on("cancelled", () => open.delete(stream));
      if (readsRequests) readInTurns(stream, callOf(stream).connection);
      handler(stream);
    };
  /**
   * Returns a stand-in for the gRPC server, to which a library adds its service. The streams of the service's method
   * `streaming` then count towards openStreamsMax.
   */
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
 * Makes a stream read one request at a time, and only when the client has read earlier responses. The reflection
 * library never waits for its client, and a response is a thousand times as long as a request.
 */
export function readInTurns(stream: Omit<Stream, "metadata">, connection: Connection): void {
  const goOn = (): void => connection.take(() => stream.resume());
  stream.on("data", () => {
    stream.pause();
    if (stream.writableNeedDrain) stream.once("drain", goOn);
    else goOn();
  });
}

/** Creates a method whose calls are counted but not logged or traced, because load balancers check every second. */
function quietMethod(context: TransportContext, { path, requestStream }: ServiceDefinition[string]): Method {
  const of = { path: path.slice(1), role: "viewer", streamsRequests: requestStream } as const;
  return methodAt({ ...context, maxMessageBytes: requestBytesMax, traces: undefined }, of, "warn");
}

/**
 * Returns the services' file descriptors in the form of @grpc/proto-loader. The reflection library reads only the
 * files.
 */
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
