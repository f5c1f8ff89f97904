/** Gradus over gRPC, for Node. */
import type { ClientDefaults } from "./caller.ts";
import { clientOver } from "./client.ts";
import type { GradusClient } from "./client.ts";
import { grpcTransport } from "./grpc/transport.ts";
import type { GrpcOptions } from "./grpc/transport.ts";

export type { TlsOptions } from "./grpc/channel.ts";
export * from "./public.ts";

/** How a server is reached, and what holds for all calls. */
export interface ClientOptions extends ClientDefaults, GrpcOptions {}

/** A client of the gRPC server at "host:port". Nothing is opened before the first call. */
export function createClient(address: string, options: ClientOptions = {}): GradusClient {
  return clientOver(grpcTransport(address, options), options);
}
