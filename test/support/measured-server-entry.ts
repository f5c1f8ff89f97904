/** The child process of measured-server.ts: a real server that reports its memory on request. Needs --expose-gc. */
import { serve } from "../../server/main.ts";
import { readConfig } from "../../server/runtime/config.ts";

const flags = JSON.parse(process.argv[2] ?? "{}") as Readonly<Record<string, unknown>>;
const read = readConfig(flags, {});
if (read.kind === "invalid") throw new Error(read.message);
const server = await serve(read.config);

/** Returns the memory that is reachable after finalizers have run too: they may free what only they held. */
async function settle(): Promise<NodeJS.MemoryUsage> {
  for (let round = 0; round < 4; round++) {
    void globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage();
}

process.on("message", () => void settle().then((usage) => process.send?.({ memory: usage })));
// A failed test may not stop the server, so the server ends when the test's process disconnects.
process.once("disconnect", () => process.exit(1));
process.once("SIGTERM", () => void server.stop().then(() => process.exit(0)));
process.send?.({ grpcPort: server.grpcPort, httpPort: server.httpPort });
