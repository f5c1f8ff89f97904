/**
 * Judges generated pairs of known truth, blind: the classes were written without a look at the comparison in envs/math.
 * The program ends with 1 if more than 0.5% of the equal pairs are refused or an unequal one is accepted.
 *
 * ```
 * node bench/math/blind.ts [--count 100] [--seed 1] [--table FILE] [--json]
 * ```
 *
 * `--count` is of equal and of unequal pairs in each class. `--table` writes a table of the classes with examples.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { SyncEnvironment } from "../../envs/environment.ts";
import { createRegistry, environments } from "../../envs/registry.ts";
import { type ResolvedScheme, resolveScheme } from "../../envs/reward/schemes.ts";
import { score } from "../../envs/score.ts";
import { classes } from "./blind/classes.ts";
import { type Pair, pairsOf } from "./blind/write.ts";

const REFUSED_SHARE_MAX = 0.005;
const EXAMPLES = 4;

/** A pair that was judged wrongly, and how. */
interface Fault {
  readonly pair: Pair;
  readonly verdict: string;
}

interface Judged {
  readonly name: string;
  readonly equal: number;
  readonly unequal: number;
  readonly refused: readonly Fault[];
  readonly accepted: readonly Fault[];
}

function mathOf(): { readonly environment: SyncEnvironment; readonly scheme: ResolvedScheme } {
  const found = createRegistry(environments).find("math");
  if (found.kind !== "found" || found.environment.resource !== undefined)
    throw new Error("there is no math environment");
  const resolved = resolveScheme(found.environment, "", {});
  if (resolved.kind !== "ok") throw new Error(resolved.message);
  return { environment: found.environment, scheme: resolved.scheme };
}

const { environment, scheme } = mathOf();

/** Undefined: the verifier takes the answer for right; else why it does not. */
function refusalOf({ problem, gold, format, completion }: Pair): string | undefined {
  const row = environment.rows?.read({ problem, answer: gold });
  if (row?.kind !== "answer") return `the gold is rejected: ${row?.reason ?? "no rows"}`;
  const { solved, verdict, violation } = score({ environment, instance: row.answer, format, scheme }, completion);
  return solved ? undefined : `${verdict}: ${violation}`;
}

function judge(name: string, { equal, unequal }: ReturnType<typeof pairsOf>): Judged {
  const refused = equal.flatMap((pair): Fault[] => {
    const refusal = refusalOf(pair);
    return refusal === undefined ? [] : [{ pair, verdict: refusal }];
  });
  const accepted = unequal.flatMap((pair): Fault[] =>
    refusalOf(pair) === undefined ? [{ pair, verdict: "accepted" }] : [],
  );
  return { name, equal: equal.length, unequal: unequal.length, refused, accepted };
}

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    table: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

const size = { count: Number(values.count), seed: Number(values.seed) };
const judged = Object.entries(classes).map(([name, [template, draw]]) =>
  judge(name, pairsOf(name, template, draw, size)),
);
const sum = (of: (one: Judged) => number): number => judged.reduce((total, one) => total + of(one), 0);
const totals = {
  classes: judged.length,
  equal: sum((one) => one.equal),
  refused: sum((one) => one.refused.length),
  unequal: sum((one) => one.unequal),
  accepted: sum((one) => one.accepted.length),
};
const share = ((100 * totals.refused) / totals.equal).toFixed(2);
const isMet = totals.refused <= REFUSED_SHARE_MAX * totals.equal && totals.accepted === 0;
const summary = `seed ${values.seed}, ${totals.classes} classes: ${totals.refused} of ${totals.equal} equal pairs refused (${share}%), ${totals.accepted} of ${totals.unequal} unequal ones accepted; the bar is ${isMet ? "met" : "missed"}`;

/** The answer without its numbers, names and spacing. */
const shapeOf = (answer: string): string =>
  answer
    .replace(/\\(left|right|quad|[,; ])|\s/g, "")
    .replace(/[-−]?[0-9]+/g, "#")
    .replace(/(?<![a-z\\])[a-z](?![a-z])/gi, "v");

/** Examples of a class's faults, of as many shapes as there are. */
function examplesOf(faults: readonly Fault[]): string {
  const shapes = new Map(faults.map((fault) => [shapeOf(fault.pair.answer), fault]));
  const chosen = [...new Set([...shapes.values(), ...faults])].slice(0, EXAMPLES);
  const line = ({ pair, verdict }: Fault) =>
    `  - \`${pair.problem}\` gold \`${pair.gold}\` answer \`${pair.answer.replaceAll("\n", "⏎")}\` (${pair.format}): ${verdict}`;
  return chosen.map(line).join("\n");
}

function tableOf(): string {
  const rows = judged.map(({ name, equal, unequal, refused, accepted }) =>
    [name, equal, refused.length, unequal, accepted.length].join(" | "),
  );
  const details = judged.flatMap(({ name, refused, accepted }) => [
    ...(refused.length > 0 ? [`- **${name}**: equal ones refused\n${examplesOf(refused)}`] : []),
    ...(accepted.length > 0 ? [`- **${name}**: unequal ones accepted\n${examplesOf(accepted)}`] : []),
  ]);
  const head = "| class | equal | refused | unequal | accepted |\n| --- | --- | --- | --- | --- |";
  return `# Blind pairs\n\n${summary}\n\n${head}\n${rows.map((row) => `| ${row} |`).join("\n")}\n\n${details.join("\n")}\n`;
}

if (values.table !== undefined) writeFileSync(values.table, tableOf());
console.log(values.json ? JSON.stringify({ ...totals, isMet, judged }) : summary);
process.exitCode = isMet ? 0 : 1;
