/**
 * How right and how fast answers are compared: the table of pairs, near misses and equal pairs from seeds, or a file of
 * pairs of one's own ("gold ||| answer ||| 1" for equal, 0 for not), labelled pairs, and what dear and hostile texts cost.
 *
 *   node bench/math/run.ts [--pairs FILE] [--seed 1] [--count 1500] [--json]
 */
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { rngFor } from "../../envs/lib/rng.ts";
import { compareMath, readMath } from "../../envs/math/value.ts";
import { hostileTexts } from "../../test/envs/hostile.ts";
import { DEAR } from "../../test/envs/math/dear.ts";
import { equalPairs, nearMisses } from "../../test/envs/math/look-alikes.ts";

const { values: options } = parseArgs({
  options: {
    pairs: { type: "string" },
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "1500" },
    json: { type: "boolean", default: false },
  },
});

interface Case {
  readonly gold: string;
  readonly answer: string;
  readonly isEqual: boolean;
}

interface Row {
  readonly name: string;
  readonly count: number;
  /** As they are expected to be. */
  readonly right: number;
  /** Taken, and not equal. */
  readonly takenWrongly: number;
  readonly undecided: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly cpuMaxMs: number;
}

function judge(gold: string, answer: string): string {
  const [expected, given] = [readMath(gold), readMath(answer)];
  if (expected.kind === "malformed" || given.kind === "malformed") return "malformed";
  return compareMath(expected.answer, given.answer).kind;
}

interface Timed {
  readonly verdict: string;
  readonly ms: number;
  /** Of this thread on a processor, which other work on the machine lengthens little. It is counted coarsely. */
  readonly cpuMs: number;
}

/** Medians of five. */
function timed(run: () => string): Timed {
  const [times, cpuTimes]: [number[], number[]] = [[], []];
  let verdict = "";
  for (let i = 0; i < 5; i++) {
    const [start, cpuStart] = [performance.now(), process.threadCpuUsage()];
    verdict = run();
    const { user, system } = process.threadCpuUsage(cpuStart);
    times.push(performance.now() - start);
    cpuTimes.push((user + system) / 1_000);
  }
  const [ms, cpuMs] = [times, cpuTimes].map((each) => each.sort((a, b) => a - b)[2]) as [number, number];
  return { verdict, ms, cpuMs };
}

function measured(name: string, cases: Iterable<Case>): Row {
  const times: number[] = [];
  let [right, takenWrongly, undecided, cpuMaxMs] = [0, 0, 0, 0];
  for (const { gold, answer, isEqual } of cases) {
    const { verdict, ms, cpuMs } = timed(() => judge(gold, answer));
    times.push(ms);
    cpuMaxMs = Math.max(cpuMaxMs, cpuMs);
    if ((verdict === "equal") === isEqual) right++;
    if (verdict === "equal" && !isEqual) takenWrongly++;
    if (verdict === "undecided") undecided++;
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  return {
    name,
    count: times.length,
    right,
    takenWrongly,
    undecided,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    cpuMaxMs,
  };
}

function fromFile(path: string | URL, equal: string): readonly Case[] {
  const lines = readFileSync(path, "utf8").split("\n");
  const pairs = lines.filter((line) => line.includes(" ||| ") && !line.startsWith("#"));
  return pairs.map((line) => {
    const [gold = "", answer = "", verdict = ""] = line.split(" ||| ");
    return { gold, answer, isEqual: verdict.trim() === equal };
  });
}

function* hostile(): Iterable<Case> {
  for (const length of [8_000, 262_144])
    for (const answer of hostileTexts(length))
      for (const gold of ["x^2+1", "\\{1,2,3\\}"]) yield { gold, answer, isEqual: false };
}

/** Each beside golds of several kinds, in both places. */
function* dear(): Iterable<Case> {
  for (const text of DEAR)
    for (const other of ["5", "x^2+1", "\\{1,2,3\\}", "x>3", "x+2y=3"]) {
      yield { gold: other, answer: text, isEqual: false };
      yield { gold: text, answer: other, isEqual: false };
    }
}

/** Labelled pairs of ours, a file a class. */
function labelled(): readonly Case[] {
  const folder = new URL("../../test/envs/math/pairs/", import.meta.url);
  return readdirSync(folder).flatMap((name) =>
    (JSON.parse(readFileSync(new URL(name, folder), "utf8")) as readonly (Case & { readonly verdict: string })[]).map(
      ({ gold, answer, verdict }) => ({ gold, answer, isEqual: verdict === "equal" }),
    ),
  );
}

const count = Number(options.count);
const rows: Row[] = [
  measured("table", fromFile(new URL("../../test/envs/math/pairs.txt", import.meta.url), "equal")),
  measured(
    "near misses",
    nearMisses(count, rngFor("near-misses", options.seed)).map((pair) => ({ ...pair, isEqual: false })),
  ),
  measured(
    "equal pairs",
    equalPairs(count, rngFor("equal-pairs", options.seed)).map((pair) => ({ ...pair, isEqual: true })),
  ),
  measured("labelled pairs", labelled()),
  measured("dear texts", dear()),
  measured("hostile texts", hostile()),
];
if (options.pairs !== undefined) rows.push(measured("own pairs", fromFile(options.pairs, "1")));

if (options.json) console.log(JSON.stringify(rows, null, 2));
else {
  const heads = ["pairs", "right", "taken wrongly", "undecided", "p50 ms", "p99 ms", "max ms", "max CPU ms"];
  console.log(`${"".padEnd(16)}${heads.map((head) => head.padStart(15)).join("")}`);
  for (const { name, p50Ms, p99Ms, maxMs, cpuMaxMs, ...rest } of rows) {
    const share = `${((100 * rest.right) / rest.count).toFixed(2)}%`;
    const cells = [
      rest.count,
      share,
      rest.takenWrongly,
      rest.undecided,
      p50Ms.toFixed(3),
      p99Ms.toFixed(2),
      maxMs.toFixed(1),
      cpuMaxMs.toFixed(1),
    ];
    console.log(name.padEnd(16) + cells.map((cell) => `${cell}`.padStart(15)).join(""));
  }
}
