/** `gradus run compare-policy`: compares the draws of a run with those of another policy. */
import type { Command } from "commander";
import type { GradusClient } from "../../../clients/ts/src/public.ts";
import { createBar } from "../../bar.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../../connection.ts";
import type { ComparedRow } from "../../export/write.ts";
import { withOut } from "../../out.ts";
import { print, printJson, table } from "../../print.ts";
import { CliProblem } from "../../problem.ts";
import { addChangeOptions, type ChangeFlags, inRunFile, readRunFile, type RunFile } from "../../run-file.ts";

interface Flags extends ConnectionFlags, ChangeFlags {
  readonly out?: string;
  readonly json?: boolean;
}

/** Mean probabilities of an arm over the draws of the run. */
interface ArmMeans {
  readonly arm: string;
  readonly recorded: number;
  readonly compared: number;
}

export function addComparePolicy(group: Command): void {
  const command = group
    .command("compare-policy")
    .description("show how another policy, fed with the run's groups, would have drawn; the run does not change")
    .argument("<run>", "its id")
    .argument("<file>", "a run file, of which only the policy is read")
    .option("-o, --out <file>", "file for the probabilities of each arm at each draw, .parquet or .jsonl")
    .option("--json", "print JSON, and no progress");
  const takes = addChangeOptions(command, { pool: false });
  addServerOptions(takes).action(async (id: string, path: string, flags: Flags) => {
    const file = readRunFile("<file>", path, flags);
    const { policy } = file.config;
    if (policy === undefined) throw new CliProblem("usage", `${file.path} has no policy`);
    const arms = await withServer(flags, async (client) => {
      try {
        if (flags.out === undefined) return await meansOf(client, id, policy, flags);
        const { comparedColumns, createWriter, formatOf } = await import("../../export/write.ts");
        const format = formatOf(flags.out);
        if (format === undefined) throw new CliProblem("usage", `--out ${flags.out} must end in .parquet or .jsonl`);
        return await withOut("--out", flags.out, async (partial) => {
          const writer = createWriter<ComparedRow>(partial, format, comparedColumns);
          const means = await meansOf(client, id, policy, flags, (row) => writer.add(row));
          writer.finish();
          return means;
        });
      } catch (error) {
        throw inRunFile(file, error);
      }
    });
    show(arms, flags);
  });
}

/** Compares all draws. Calls `onRow` for each arm at each draw, and returns the mean probabilities of each arm. */
async function meansOf(
  client: GradusClient,
  id: string,
  policy: NonNullable<RunFile["config"]["policy"]>,
  { json }: Flags,
  onRow: (row: ComparedRow) => void = () => undefined,
): Promise<readonly ArmMeans[]> {
  const { state } = await client.run(id).get();
  const format = "{bar} {value}/{total} update batches  {left}";
  const bar = createBar({ done: 0, total: Number(state?.batchesDrawn ?? 0n), format, shown: json !== true });
  const sums = (state?.arms ?? []).map(({ armId: arm }) => ({ arm, draws: 0, recorded: 0, compared: 0 }));
  try {
    for await (const { updateBatch, recorded, probabilities } of client.comparePolicy(id, policy)) {
      for (const [i, sum] of sums.entries()) {
        const before = recorded[i];
        // Skip an arm that was added to the run after this draw.
        if (before === undefined) continue;
        const compared = probabilities[i] ?? null;
        onRow({ update_batch: Number(updateBatch), arm: sum.arm, recorded: before, compared });
        sum.draws += 1;
        sum.recorded += before;
        sum.compared += compared ?? 0;
      }
      bar.update(1);
    }
  } finally {
    bar.stop();
  }
  return sums.flatMap(({ arm, draws, recorded, compared }) =>
    draws === 0 ? [] : [{ arm, recorded: recorded / draws, compared: compared / draws }],
  );
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;

function show(arms: readonly ArmMeans[], { out, json }: Flags): void {
  if (json === true) return printJson({ arms, ...(out !== undefined && { rows: out }) });
  if (arms.length === 0) return print("the run has drawn no update batch yet");
  const cells = arms.map(({ arm, recorded, compared }) => [
    arm,
    percent(recorded),
    percent(compared),
    `${compared >= recorded ? "+" : "−"}${percent(Math.abs(compared - recorded))}`,
  ]);
  print(table(["arm", "this run", "the other policy", "difference"], cells));
  if (out !== undefined) print(`\n${out}`);
}
