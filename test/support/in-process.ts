/** The real server in this process, on free ports, with a client. */
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { serve, type Server } from "../../server/main.ts";
import { readConfig } from "../../server/runtime/config.ts";
import { openLog } from "../../server/runtime/logging.ts";
import { LIGHT, temporaryFolder } from "./server-process.ts";

export interface TestServer extends AsyncDisposable {
  readonly server: Server;
  readonly client: GradusClient;
  readonly address: string;
  readonly http: string;
  readonly dataDir: string;
}

/**
 * Starts a server with one worker thread and no sandbox in a folder of its own. Flags are those of `gradus serve`, in
 * camel case. With `waits` it returns once all mounts are ready.
 */
export async function openServer(flags: Readonly<Record<string, unknown>> = {}, waits = true): Promise<TestServer> {
  const folder = temporaryFolder();
  const own = { port: "0", httpPort: "0", dataDir: folder.path, logLevel: "silent" };
  const read = readConfig({ ...own, ...LIGHT, ...flags }, {});
  if (read.kind === "invalid") throw new Error(read.message);
  const server = await serve(read.config, openLog(read.config));
  if (waits)
    await server.mounted.catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
  const address = `127.0.0.1:${server.grpcPort}`;
  const client = createClient(address, read.config.token === undefined ? {} : { token: read.config.token });
  return {
    server,
    client,
    address,
    dataDir: read.config.dataDir,
    http: `http://127.0.0.1:${server.httpPort}`,
    async [Symbol.asyncDispose]() {
      client.close();
      await server.stop();
      folder[Symbol.dispose]();
    },
  };
}

/** Starts a server with the sandbox, so that all environments are available. */
export function openWholeServer(flags: Readonly<Record<string, unknown>> = {}): Promise<TestServer> {
  return openServer({ sandbox: "embedded", ...flags });
}
