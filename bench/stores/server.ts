/** A server in a process of its own that says how late its event loop was. Started by run.ts. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { serve } from "../../server/main.ts";
import { readConfig } from "../../server/runtime/config.ts";
import { openLog } from "../../server/runtime/logging.ts";

/** Milliseconds, of the loop's turns since it was last asked. */
export interface LoopDelays {
  readonly p99Ms: number;
  readonly maxMs: number;
}

const [dataDir = ""] = process.argv.slice(2);
const read = readConfig({ port: "0", httpPort: "0", dataDir, logLevel: "error" }, {});
if (read.kind === "invalid") throw new Error(read.message);
const server = await serve(read.config, openLog(read.config));
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
process.on("message", (message) => {
  if (message === "stop") {
    void server.stop().then(() => process.disconnect());
    return;
  }
  const found: LoopDelays = { p99Ms: delays.percentile(99) / 1e6, maxMs: delays.max / 1e6 };
  delays.reset();
  process.send?.(found);
});
process.send?.({ grpcPort: server.grpcPort });
