/** `gradus serve`: runs a server until it is stopped. */
import type { Command } from "commander";
import { addServeOptions, readConfig } from "../../server/runtime/config.ts";
import { isFirstProcess, superviseProcesses, untilStarted } from "../../server/runtime/processes.ts";
import { poolBars } from "../pool-bars.ts";
import { fileProblem } from "../problem.ts";

/**
 * Time in milliseconds after the first signal to stop. If a signal arrives later, the process ends at once, without
 * waiting for requests in progress.
 */
const impatienceMs = 1_000;

export function addServe(program: Command): void {
  addServeOptions(program.command("serve")).action(async (flags: Readonly<Record<string, unknown>>) => {
    const result = readConfig(flags, process.env);
    if (result.kind === "invalid") throw fileProblem(result.message, "usage");
    const { tokensProblem } = await import("../../server/runtime/tokens.ts");
    const problem = tokensProblem(result.config.tokensFile);
    if (problem !== undefined) throw fileProblem(problem, "usage");
    // Install the handlers early, because the first process of a container ignores signals without a handler.
    const told = toldToStop();
    if (result.config.processes > 1 && isFirstProcess()) return superviseProcesses(result.config, told);
    // Load the server only here, because other commands do not need it.
    const [{ serve }, { StartError }] = await Promise.all([
      import("../../server/main.ts"),
      import("../../server/start-error.ts"),
    ]);
    const pools = poolBars();
    const server = await untilStarted(serve(result.config, undefined, { onPoolProgress: pools.onProgress }))
      .finally(pools.stop)
      .catch((error: unknown) => {
        throw error instanceof StartError ? fileProblem(error.message, error.kind) : error;
      });
    const failed = await Promise.race([told, server.mounted.then(() => told)]).catch((error: unknown) => error);
    await server.stop();
    if (failed instanceof StartError) throw fileProblem(failed.message, failed.kind);
    // Exit now that everything is closed and written. A peer that keeps its connection open would otherwise keep the
    // process alive.
    process.exit();
  });
}

/** Resolves at the first signal to stop. A signal that arrives more than a second later ends the process at once. */
function toldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const stop = (): void => {
      // Let only a later signal end the process, because Ctrl-C arrives twice at once: from the terminal and from the
      // npx that started this process.
      if (first !== undefined && performance.now() - first > impatienceMs) process.exit(1);
      first ??= performance.now();
      resolve();
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, stop);
  });
}
