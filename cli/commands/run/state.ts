/**
 * `gradus run export` and `gradus run import`: write a run's whole state to a file, and read it back. The server that
 * imports must have the keys of the server that exported.
 */
import type { Command } from "commander";
import { readFileSync } from "node:fs";
import { RunSchema, type Task } from "../../../clients/ts/src/public.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../../connection.ts";
import { writeOut } from "../../out.ts";
import { jsonOf, print, printJson } from "../../print.ts";
import { fileProblem, pathTrouble } from "../../problem.ts";

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
}

interface ImportFlags extends Flags {
  readonly runId: string;
  readonly restoreControl?: boolean;
}

export function addState(group: Command): void {
  const save = group
    .command("export")
    .description("write a run's whole state to a file: groups that are open, values and history")
    .argument("<run>", "its id")
    .requiredOption("-o, --out <file>", "file to write, e.g. adsc.run")
    .option("--json", "print JSON");
  addServerOptions(save).action(async (id: string, flags: Flags & { readonly out: string }) => {
    const { state, epoch, cursor } = await withServer(flags, (client) => client.run(id).export());
    await writeOut("--out", flags.out, state);
    if (flags.json) printJson({ file: flags.out, bytes: state.length, epoch, cursor: String(cursor) });
    else print(`${flags.out}: run ${id} at task ${cursor}, ${state.length} bytes`);
  });

  const load = group
    .command("import")
    .description(
      "restore an exported state, as another run or in place, where the run keeps its weights, policy, arms, sizes and pause; " +
        "tasks that were open are issued again",
    )
    .argument("<file>", "from gradus run export")
    .requiredOption("--run-id <id>", "the exported run's id, or a new one")
    .option("--restore-control", "take the export's weights, policy, arms, sizes and pause, too (role operator)")
    .option("--json", "print JSON: the contract's Run");
  addServerOptions(load).action(async (path: string, flags: ImportFlags) => {
    const state = bytesOf(path);
    const { runId, restoreControl } = flags;
    const { run, outstanding } = await withServer(flags, (client) =>
      client.run(runId).import(state, { restoreControl }),
    );
    if (run === undefined) throw new Error("the server's reply has no run");
    if (flags.json) printJson(jsonOf(RunSchema, run));
    else print(`run ${runId} stands at task ${run.state?.cursor ?? 0n}; ${openWords(outstanding)}`);
  });
}

function openWords(outstanding: readonly Task[]): string {
  if (outstanding.length === 0) return "no tasks were open";
  return `${outstanding.length} tasks that were open are issued again with new ids: feedback for their old ids does not count`;
}

function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw fileProblem(`<file> must be a file that can be read; got '${path}'${pathTrouble(error)}`, "usage");
  }
}
