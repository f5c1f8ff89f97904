/** gradus serve: a server until it is told to stop. */
import type { Command } from "commander";
import { addServeOptions, readConfig } from "../../server/runtime/config.ts";
import { isFirstProcess, superviseProcesses } from "../../server/runtime/processes.ts";
import { mountBars, poolBars } from "../pool-bars.ts";
import { fileProblem } from "../problem.ts";

/** A signal this long after the first one means that whoever sent it will not wait for the drain. */
const impatienceMs = 1_000;

export function addServe(program: Command): void {
  addServeOptions(program.command("serve")).action(async (flags: Readonly<Record<string, unknown>>) => {
    const result = readConfig(flags, process.env);
    if (result.kind === "invalid") throw fileProblem(result.message, "usage");
    const { tokensProblem } = await import("../../server/runtime/tokens.ts");
    const problem = tokensProblem(result.config.tokensFile);
    if (problem !== undefined) throw fileProblem(problem, "usage");
    // Listened for from here on: a container's first process is deaf to signals that it has no handler for.
    const told = toldToStop();
    if (result.config.processes > 1 && isFirstProcess()) return superviseProcesses(result.config, told);
    // Loaded here, for the other commands need no server.
    const { serve, StartError } = await import("../../server/main.ts");
    const [pools, mounts] = [poolBars(), mountBars()];
    const progress = { onPoolProgress: pools.onProgress, onMountProgress: mounts.onProgress };
    const server = await serve(result.config, undefined, progress)
      .finally(() => [pools, mounts].forEach(({ stop }) => stop()))
      .catch((error: unknown) => {
        throw error instanceof StartError ? fileProblem(error.message, error.kind) : error;
      });
    await told;
    await server.stop();
    // All is closed and written. A peer that neither ends its stream nor its connection would keep the process.
    process.exit();
  });
}

/** Resolves at the first signal; a later one ends the process at once. */
function toldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const stop = (): void => {
      // Ctrl-C reaches this process twice, from the terminal and from its launcher.
      if (first !== undefined && performance.now() - first > impatienceMs) process.exit(1);
      first ??= performance.now();
      resolve();
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, stop);
  });
}
