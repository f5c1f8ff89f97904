/**
 * `gradus run rows` and `gradus run rate-rows`: show the pass rates that a run knows of an arm's rows, and set these
 * rates.
 */
import type { Command } from "commander";
import { RowStateSchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { ArmRows } from "../../../clients/ts/src/public.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../../connection.ts";
import { rateHistogram, ratesIn } from "../../pools/rates.ts";
import { jsonOf, print, printJson } from "../../print.ts";
import { numberThat } from "../../task-options.ts";

interface Flags extends ConnectionFlags {
  readonly samples?: number;
  readonly ofPool?: string;
  readonly json?: boolean;
}

export function addRows(group: Command): void {
  const list = group
    .command("rows")
    .description("show what a run knows of the rows of an arm that chooses them by their pass rates")
    .argument("<run>", "its id")
    .argument("<arm>", "the arm's id")
    .option("--json", "print JSON: the contract's RowStates, the histogram and how many are retired");
  addServerOptions(list).action(async (id: string, arm: string, { json, ...flags }: Flags) => {
    const known = await withServer(flags, (client) => client.run(id).rows(arm));
    if (json) printJson({ ...known, rows: known.rows.map((row) => jsonOf(RowStateSchema, row)) });
    else print(rowsText(known));
  });

  const rate = group
    .command("rate-rows")
    .description("give a run the pass rates of rows, from the next update batch on")
    .argument("<run>", "its id")
    .argument("<arm>", "the arm's id")
    .argument(
      "<file>",
      "CSV with columns row and pass_rate, rows numbered as in the pool's file; or report.json of gradus eval",
    )
    .option("--of-pool <name>", "pool whose rows are used, if the report has rows of several pools")
    .option("--samples <n>", "number of samples that each rate counts as (default: 8)", samplesOf)
    .option("--json", "print JSON");
  addServerOptions(rate).action(async (id: string, arm: string, path: string, flags: Flags) => {
    const rates = ratesIn("<file>", path, flags.ofPool);
    const from = await withServer(flags, (client) => client.run(id).rateRows(arm, rates, flags.samples));
    if (flags.json) printJson({ rated: rates.size, appliesFromCursor: String(from) });
    else print(`${rates.size} rows rated, from task ${from} on`);
  });
}

/** Maximum of --samples, which the server also checks. It is repeated here to name the option in the error. */
const SAMPLES_MAX = 1023;

const samplesOf = numberThat(
  (value) => value > 0 && value <= SAMPLES_MAX,
  `a number above 0 and at most ${SAMPLES_MAX}`,
);

function rowsText({ rows, histogram, retired }: ArmRows): string {
  const seen = rows.filter(({ samples }) => samples > 0).length;
  return [
    `${rows.length} rows, ${seen} of them seen or rated, ${retired} retired`,
    rateHistogram(histogram.flatMap((count, step) => Array<number>(count).fill((step + 0.5) / histogram.length))),
  ].join("\n");
}
