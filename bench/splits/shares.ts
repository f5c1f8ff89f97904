/**
 * What the splits really have: small levels have few classes of tasks that differ by more than names and order, so that
 * their splits' shares of what is drawn are not 80, 10 and 10%. Prints the table of docs/splits.md.
 *
 *   node bench/splits/shares.ts [environment…] [--draws 20000] [--json]
 */
import { parseArgs } from "node:util";
import type { Environment, Level, Split } from "../../envs/environment.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import { environments } from "../../envs/registry.ts";
import { invariantOf, splitOf } from "../../envs/splits.ts";
import { createProgress } from "../progress.ts";
import { environmentOf } from "../solvers/timed.ts";

const SPLITS: readonly Split[] = ["train", "eval", "bench"];
/** How many of the most frequent classes are counted together. */
const FREQUENT = 10;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { draws: { type: "string", default: "20000" }, json: { type: "boolean", default: false } },
});

function sharesOf(environment: Environment, level: Level, draws: number) {
  const { generator } = environment;
  const byClass = new Map<string, { readonly split: Split; count: number }>();
  let drawn = 0;
  for (let i = 0; i < draws; i++) {
    const instance = generator?.generate(level.parameters, rngFor("shares", environment.id, level.name, i));
    if (instance === undefined || generator?.accepts?.(instance, level.parameters) === false) continue;
    const told = invariantOf(environment, instance);
    const own = byClass.get(told) ?? { split: splitOf(environment, instance), count: 0 };
    byClass.set(told, { ...own, count: own.count + 1 });
    drawn++;
  }
  const all = [...byClass.values()].sort((a, b) => b.count - a.count);
  const sum = (classes: readonly { readonly count: number }[]): number =>
    classes.reduce((total, { count }) => total + count, 0);
  const splits = SPLITS.map((split) => {
    const own = all.filter((each) => each.split === split);
    return { split, share: sum(own) / drawn, largest: sum(own.slice(0, 1)) / sum(own) };
  });
  const frequent = sum(all.slice(0, FREQUENT)) / drawn;
  return { environment: environment.id, level: level.name, draws: drawn, classes: byClass.size, frequent, splits };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

const chosen = positionals.length > 0 ? positionals.map(environmentOf) : environments;
const progress = createProgress("levels", chosen.flatMap(({ levels }) => levels).length);
const rows = chosen.flatMap((environment) =>
  environment.levels.map((level) => {
    const row = sharesOf(environment, level, Number(options.draws));
    progress.step();
    return row;
  }),
);
progress.stop();
if (options.json) console.log(JSON.stringify(rows, null, 2));
else {
  console.log("| level | draws | classes | ten most frequent | train | eval | bench |");
  console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
  for (const { environment, level, draws, classes, frequent, splits } of rows) {
    const shares = splits.map(({ share, largest }) => `${percent(share)} (${percent(largest)})`);
    console.log(`| ${[`${environment} ${level}`, draws, classes, percent(frequent), ...shares].join(" | ")} |`);
  }
}
