/** Health checks and reflection: services that libraries bring, beside ours on the gRPC port. */
import { type DescFile, type DescService, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Metadata, Server, ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import { ReflectionService } from "@grpc/reflection";
import { HealthImplementation } from "grpc-health-check";
import { type TokenCheck, unauthenticated } from "../admission.ts";
import { toStatus } from "../errors.ts";

export interface Companions {
  /** Health checks answer NOT_SERVING from now on. */
  readonly stop: () => void;
  /** Ends the streams that have no end of their own, so that they do not hold the shutdown up. */
  readonly close: () => void;
}

interface Stream {
  readonly metadata: Metadata;
  on(event: string, listener: () => void): unknown;
  emit(event: "error", error: unknown): unknown;
  end(): void;
}
type StreamHandler = (stream: Stream) => void;

/**
 * Adds grpc.health.v1 (for the whole server, the empty name, and for each service), open to all, and reflection v1 and
 * v1alpha, which want the token as our own services do.
 */
export function addCompanions(server: Server, services: readonly DescService[], mayEnter: TokenCheck): Companions {
  const names = ["", ...services.map((service) => service.typeName)];
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, "SERVING" as const])));
  const open = new Set<Stream>();
  const tracked =
    (handler: StreamHandler): StreamHandler =>
    (stream) => {
      open.add(stream);
      stream.on("cancelled", () => open.delete(stream));
      handler(stream);
    };
  const guarded =
    (handler: StreamHandler): StreamHandler =>
    (stream) => {
      if (mayEnter(stream.metadata.get("authorization")[0]?.toString())) handler(stream);
      else stream.emit("error", toStatus(unauthenticated()));
    };
  health.addToServer(adding(server, "watch", tracked));
  const reflection = new ReflectionService(packageOf(services));
  reflection.addToServer(adding(server, "ServerReflectionInfo", (handler) => guarded(tracked(handler))));
  return {
    stop: () => names.forEach((name) => health.setStatus(name, "NOT_SERVING")),
    close: () => open.forEach((stream) => stream.end()),
  };
}

/** The server as a library sees it that adds its service to it: one of its methods gets wrapped. */
function adding(server: Server, method: string, wrap: (handler: StreamHandler) => StreamHandler): Server {
  const addService = (service: ServiceDefinition, implementation: UntypedServiceImplementation) => {
    const handler = implementation[method] as StreamHandler;
    server.addService(service, { ...implementation, [method]: wrap(handler) });
  };
  return { addService } as unknown as Server;
}

/** Our descriptors in the shape of @grpc/proto-loader's, of which reflection reads the files only. */
function packageOf(services: readonly DescService[]): ConstructorParameters<typeof ReflectionService>[0] {
  const files = new Set<DescFile>();
  const add = (file: DescFile): void => {
    files.add(file);
    file.dependencies.forEach(add);
  };
  services.forEach((service) => add(service.file));
  const fileDescriptorProtos = [...files].map((file) => Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)));
  return { files: { format: "Protocol Buffer 3 DescriptorProto", type: {}, fileDescriptorProtos } };
}
