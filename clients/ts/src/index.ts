/** Client over gRPC, for Node. */
import type { ClientDefaults } from "./caller.ts";
import { clientOver } from "./client.ts";
import type { GradusClient } from "./client.ts";
import { grpcTransport } from "./grpc/transport.ts";
import type { GrpcOptions } from "./grpc/transport.ts";

export type { TlsOptions } from "./grpc/channel.ts";
export * from "./public.ts";

/** Options of the connection, and defaults for all calls. */
export interface ClientOptions extends ClientDefaults, GrpcOptions {}

/** Returns a client of the gRPC server at "host:port". The first call connects. */
export function createClient(address: string, options: ClientOptions = {}): GradusClient {
  return clientOver(grpcTransport(address, options), options);
}
