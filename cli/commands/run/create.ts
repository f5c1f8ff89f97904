/** gradus run create: a run from its file. */
import type { Command } from "commander";
import { type GradusClient, type Run, RunSchema } from "../../../clients/ts/src/public.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../../connection.ts";
import { jsonOf, print, printJson } from "../../print.ts";
import { CliProblem } from "../../problem.ts";
import { inRunFile, readRunFile, type RunFile } from "../../run-file.ts";
import { stateLines } from "../../runs/lines.ts";
import { terminalWidth } from "../../print.ts";

interface Flags {
  readonly runId?: string;
  readonly json?: boolean;
}

export function addCreate(group: Command): void {
  const command = group
    .command("create")
    .description("create a run on a server from a file; the same again gives the run as it is")
    .argument("<file>", "the run's configuration in YAML or JSON, e.g. examples/adsc.yaml")
    .option("--run-id <id>", "the run's id (default: the file's run_id)")
    .option("--json", "print JSON: the contract's Run");
  addServerOptions(command).action(async (path: string, flags: Flags & ConnectionFlags) => {
    const file = readRunFile("<file>", path);
    const run = await withServer(flags, (client) => createdOf(client, file, idOf(file, flags.runId)));
    if (flags.json) printJson(jsonOf(RunSchema, run));
    else if (run.state !== undefined) print(stateLines(run.config, run.state, terminalWidth()).join("\n"));
  });
}

/** What the server refuses of the file's names its line. */
export async function createdOf(client: GradusClient, file: RunFile, id: string): Promise<Run> {
  try {
    return await client.run(id).create(file.config);
  } catch (error) {
    throw inRunFile(file, error);
  }
}

export function idOf({ runId, path }: RunFile, id: string | undefined): string {
  const found = id ?? runId;
  if (found === undefined) throw new CliProblem("usage", `${path} has no run_id: give --run-id`);
  return found;
}
