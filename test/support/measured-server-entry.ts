/** A child's side of measured-server.ts: the real server, and a way to ask what memory it holds. Wants --expose-gc. */
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
// A test that fails may not have come to stop it.
process.once("disconnect", () => process.exit(1));
process.once("SIGTERM", () => void server.stop().then(() => process.exit(0)));
process.send?.({ grpcPort: server.grpcPort, httpPort: server.httpPort });
