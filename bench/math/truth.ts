/**
 * How many generated pairs of known truth are judged wrongly: equal by applied identities, or different by a place where an
 * exact evaluator of the tests' own finds them so.
 *
 *   node bench/math/truth.ts [--count 100000] [--seed 1] [--show 20] [--json]
 */
import { parseArgs } from "node:util";
import { rngFor } from "../../envs/lib/rng.ts";
import { compareMath, readMath } from "../../envs/math/value.ts";
import { knownPairs } from "../../test/envs/math/truth/pairs.ts";

const { values: options } = parseArgs({
  options: {
    count: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    show: { type: "string", default: "20" },
    json: { type: "boolean", default: false },
  },
});

function judge(gold: string, answer: string): string {
  const [expected, given] = [readMath(gold), readMath(answer)];
  if (expected.kind === "malformed" || given.kind === "malformed") return "malformed";
  return compareMath(expected.answer, given.answer).kind;
}

/** In time of this thread on a processor; the median of five where once took long. */
function timed(run: () => string): { readonly verdict: string; readonly ms: number } {
  const times: number[] = [];
  let verdict = "";
  do {
    const start = process.threadCpuUsage();
    verdict = run();
    const { user, system } = process.threadCpuUsage(start);
    times.push((user + system) / 1_000);
  } while (times.length < 5 && (times[0] as number) > LONG_MS);
  return { verdict, ms: times.sort((a, b) => a - b)[times.length >> 1] as number };
}

const LONG_MS = 8;

interface Tally {
  equal: number;
  different: number;
  undecided: number;
  malformed: number;
}

const tallies = new Map<string, Tally>();
const wrong: string[] = [];
let slowestCpuMs = 0;
for (const { gold, answer, isEqual, how } of knownPairs(Number(options.count), rngFor("known-truth", options.seed))) {
  const { verdict, ms } = timed(() => judge(gold, answer));
  slowestCpuMs = Math.max(slowestCpuMs, ms);
  const kind = `${how}, ${isEqual ? "equal" : "different"}`;
  const tally = tallies.get(kind) ?? { equal: 0, different: 0, undecided: 0, malformed: 0 };
  tally[verdict as keyof Tally]++;
  tallies.set(kind, tally);
  const isWrong = isEqual ? verdict !== "equal" : verdict === "equal";
  if (isWrong && (!isEqual || wrong.length < Number(options.show)))
    wrong.push(`${kind}: ${verdict}: ${gold} ||| ${answer}`);
}

const all = [...tallies].map(([kind, tally]) => ({ kind, ...tally }));
const count = (isEqual: boolean, verdict: keyof Tally): number =>
  all
    .filter(({ kind }) => kind.endsWith(isEqual ? ", equal" : ", different"))
    .reduce((sum, tally) => sum + tally[verdict], 0);
const totals = (isEqual: boolean): number =>
  (["equal", "different", "undecided", "malformed"] as const).reduce(
    (sum, verdict) => sum + count(isEqual, verdict),
    0,
  );
const result = {
  pairs: totals(true) + totals(false),
  wrongEquals: count(false, "equal"),
  equalShare: count(true, "equal") / totals(true),
  differentShare: count(false, "different") / totals(false),
  slowestCpuMs,
  kinds: all,
};
if (options.json) console.log(JSON.stringify({ ...result, wrong }, null, 2));
else {
  console.table(all);
  console.log(wrong.join("\n"));
  console.log(
    `${result.pairs} pairs: ${result.wrongEquals} wrong equals; ${(100 * result.equalShare).toFixed(2)}% of equal ones are ` +
      `equal, ${(100 * result.differentShare).toFixed(2)}% of different ones different; the slowest took ${slowestCpuMs.toFixed(1)} ms of a processor`,
  );
}
