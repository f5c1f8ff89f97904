/** Useful groups per rollout of rows drawn by their pass rates, against equal draws and prime-rl's pools. See README.md. */
import { equal, learnability, ours, primePools, target, type Chooser } from "./choosers.ts";
import { isUseful, world, type World } from "./worlds.ts";

const PROMPTS = 256;
const SEEDS = Number(process.argv[2] ?? 10);

/** The share of groups that an update learns from, of a run whose feedback comes one update batch late. */
function usefulShare({ draws, group }: World, chooser: Chooser): number {
  let useful = 0;
  let late: readonly { readonly row: number; readonly solved: number }[] = [];
  for (let drawn = 0; drawn < draws;) {
    const rows = chooser.choose(Math.min(PROMPTS, draws - drawn), drawn / draws);
    chooser.learn(late);
    late = rows.map((row) => ({ row, solved: group(row, drawn) }));
    useful += late.filter(({ solved }) => isUseful(solved)).length;
    drawn += rows.length;
  }
  return useful / draws;
}

const settings = [
  { name: "(a) 100,000 rows from a column, one epoch", size: 100_000, epochs: 1, isBegun: true },
  { name: "(b) 10,000 rows cold, ten epochs", size: 10_000, epochs: 10, isBegun: false },
] as const;

for (const { name, size, epochs, isBegun } of settings) {
  const shares = new Map<string, number[]>();
  for (let seed = 0; seed < SEEDS; seed++) {
    // Of one world each, so that all of them meet the same rows.
    const choosers: readonly ((of: World) => Chooser)[] = [
      (of) => equal(of, seed),
      (of) => ours(of, seed, "learnability", learnability, isBegun),
      (of) => ours(of, seed, "target", target, isBegun),
      (of) => primePools(of, seed, isBegun),
    ];
    for (const make of choosers) {
      const of = world(size, epochs * size, seed);
      const chooser = make(of);
      shares.set(chooser.name, [...(shares.get(chooser.name) ?? []), usefulShare(of, chooser)]);
    }
  }
  const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / list.length;
  const base = shares.get("equal") ?? [];
  console.log(name);
  for (const [who, list] of shares) {
    const ratios = list.map((share, i) => share / (base[i] ?? NaN));
    console.log(
      `  ${who}: useful ${mean(list).toFixed(3)} of groups, ${mean(ratios).toFixed(3)} times equal draws (${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)} over ${ratios.length} seeds)`,
    );
  }
}
