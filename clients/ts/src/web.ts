/** Client over Connect, for browsers. It equals the gRPC client, but streamSteps makes BatchStep calls. */
import type { ClientDefaults } from "./caller.ts";
import { clientOver } from "./client.ts";
import type { GradusClient } from "./client.ts";
import { connectTransport } from "./connect/transport.ts";
import type { ConnectOptions } from "./connect/transport.ts";

export * from "./public.ts";

/** Options of the connection, and defaults for all calls. */
export interface ClientOptions extends ClientDefaults, ConnectOptions {}

/** Returns a client of the server whose HTTP port has this base URL, e.g. "http://localhost:8080". */
export function createClient(baseUrl: string, options: ClientOptions = {}): GradusClient {
  return clientOver(connectTransport(baseUrl, options), options);
}
