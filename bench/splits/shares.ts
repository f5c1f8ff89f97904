/**
 * What the splits really have: small levels have few classes of tasks that differ by more than names and order, so that
 * their splits' shares of what is drawn are not 80, 10 and 10%. Prints the table of docs/splits.md.
 *
 *   node bench/splits/shares.ts [environment…] [--draws 20000] [--json]
 */
import { parseArgs } from "node:util";
import type { Environment, Level } from "../../envs/environment.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import { environments } from "../../envs/registry.ts";
import { invariantOf, splitOf } from "../../envs/splits.ts";
import { createProgress } from "../progress.ts";
import { environmentOf } from "../solvers/timed.ts";

/** How many of the most frequent classes are counted together. */
const FREQUENT = 10;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { draws: { type: "string", default: "20000" }, json: { type: "boolean", default: false } },
});

function sharesOf(environment: Environment, level: Level, draws: number) {
  const { generator } = environment;
  const bySplit = { train: 0, eval: 0, bench: 0 };
  const byClass = new Map<string, number>();
  let drawn = 0;
  for (let i = 0; i < draws; i++) {
    const instance = generator?.generate(level.parameters, rngFor("shares", environment.id, level.name, i));
    if (instance === undefined || generator?.accepts?.(instance, level.parameters) === false) continue;
    const told = invariantOf(environment, instance);
    byClass.set(told, (byClass.get(told) ?? 0) + 1);
    bySplit[splitOf(environment, instance)]++;
    drawn++;
  }
  const counts = [...byClass.values()].sort((a, b) => b - a);
  const frequent = counts.slice(0, FREQUENT).reduce((sum, count) => sum + count, 0);
  return {
    ...{ environment: environment.id, level: level.name, draws: drawn, classes: byClass.size },
    ...{ frequent: frequent / drawn, train: bySplit.train / drawn },
    ...{ eval: bySplit.eval / drawn, bench: bySplit.bench / drawn },
  };
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
  console.log(`| level | draws | classes | the ten most frequent | train | eval | bench |`);
  console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
  for (const row of rows) {
    const shares = [row.frequent, row.train, row.eval, row.bench].map(percent);
    console.log(`| ${[`${row.environment} ${row.level}`, row.draws, row.classes, ...shares].join(" | ")} |`);
  }
}
