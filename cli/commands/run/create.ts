/** `gradus run create`: creates a run from its file. */
import type { Command } from "commander";
import { type GradusClient, type Run, RunSchema } from "../../../clients/ts/src/public.ts";
import { addServerOptions, collect, type ConnectionFlags, withServer } from "../../connection.ts";
import { note } from "../../notes.ts";
import { ratesIn } from "../../pools/rates.ts";
import { jsonOf, print, printJson, terminalWidth } from "../../print.ts";
import { CliProblem } from "../../problem.ts";
import {
  addChangeOptions,
  type ChangeFlags,
  checkPools,
  inRunFile,
  readRunFile,
  type RunFile,
} from "../../run-file.ts";
import { stateLines } from "../../runs/lines.ts";

interface Flags extends ChangeFlags {
  readonly runId?: string;
  readonly rates?: readonly string[];
  readonly json?: boolean;
}

export function addCreate(group: Command): void {
  const command = group
    .command("create")
    .description("create a run on a server from a file; if it exists, print it as it is")
    .argument("<file>", "the run's configuration in YAML or JSON, e.g. examples/adsc.yaml")
    .option("--run-id <id>", "the run's id (default: the file's run_id)")
    .option(
      "--rates <arm=file>",
      "begin an arm's curriculum over rows with these pass rates: CSV of row and pass_rate, or report.json of gradus eval; may be given several times",
      collect,
    )
    .option("--json", "print JSON: the contract's Run");
  addServerOptions(addChangeOptions(command, { pool: true })).action(
    async (path: string, flags: Flags & ConnectionFlags) => {
      const file = readRunFile("<file>", path, flags);
      checkPools(file);
      const rates = (flags.rates ?? []).map((given) => ratedArm(file, given));
      const id = idOf(file, flags.runId);
      const run = await withServer(flags, async (client) => {
        const created = await createdOf(client, file, id);
        // Ignore --rates for a run that has drawn tasks, because the option gives the rates with which a run begins.
        // The run keeps its own rates.
        if (created.state !== undefined && created.state.batchesDrawn > 0n && rates.length > 0)
          note(`run ${id} has drawn tasks already and keeps its own pass rates: --rates is ignored`);
        else for (const { arm, of } of rates) await client.run(id).rateRows(arm, of);
        return created;
      });
      if (flags.json) printJson(jsonOf(RunSchema, run));
      else if (run.state !== undefined) print(stateLines(run.config, run.state, terminalWidth()).join("\n"));
    },
  );
}

/** Creates the run on the server. Problems that the server reports name their line in the file. */
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

/**
 * Parses a value "arm=file" of --rates, and reads pass rates from the file. If the file is a report with rows of
 * several pools, the rows of the arm's pool are used.
 */
function ratedArm({ config, path }: RunFile, given: string) {
  const at = given.indexOf("=");
  const [id, file] = [given.slice(0, at), given.slice(at + 1)];
  if (at < 1 || file === "")
    throw new CliProblem("usage", `--rates must be arm=file, e.g. math=rates.csv; got '${given}'`);
  const arm = config.arms.find((each) => each.id === id);
  const ids = config.arms.map((each) => each.id).join(", ");
  if (arm === undefined) throw new CliProblem("usage", `--rates: ${path} has no arm '${id}'; it has: ${ids}`);
  if (arm.rows === undefined)
    throw new CliProblem(
      "usage",
      `--rates: arm '${id}' of ${path} does not choose its rows by pass rates: give it rows: {}`,
    );
  return { arm: id, of: ratesIn("--rates", file, arm.spec?.pool === "" ? undefined : arm.spec?.pool) };
}
