#!/usr/bin/env node
/** The command line. Run it by bin.mjs, which picks the Node. */
import { run } from "./program.ts";

/**
 * The launcher stands in for this process: a kill -9 of it is meant for this one, which sees it by the end of the channel
 * that they share. By a signal, so that a terminal is left as it was; `gradus serve` drains.
 */
function endWithLauncher(): void {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

// A reader such as head may leave before all is written; a disk may be full.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  console.error(`gradus: standard output cannot be written: ${error.message}`);
  process.exit(1);
});

endWithLauncher();
await run(process.argv.slice(2));
