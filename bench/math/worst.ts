/**
 * Measures the most expensive answers: each shape at the maximum length and at shorter ones, since less may be refused.
 * Each answer is read and compared through the environment's front door, with a gold of its own shape and length and
 * with some short ones.
 * The figure is the median of five. A result over the limit is measured once more at the end, and counts if it is over
 * again.
 * A thread's clock moves in steps of up to 4 ms, and a shared machine has hiccups.
 *
 * ```
 * node bench/math/worst.ts [--length 8192 --length 300 …] [--limit-ms 20] [--top 15] [--json]
 * ```
 *
 * Exits with 1 if a shape is over the limit twice.
 */
import { parseArgs } from "node:util";
import { math } from "../../envs/math/index.ts";
import { ANSWER_LENGTH_MAX } from "../../envs/math/gold.ts";
import type { MathInstance } from "../../envs/math/instance.ts";
import { LENGTH_MAX } from "../../envs/math/read/extract.ts";
import { SHAPES } from "./shapes.ts";

const { values: options } = parseArgs({
  options: {
    length: { type: "string", multiple: true, default: [`${LENGTH_MAX}`, "4000", "2000", "1000", "300"] },
    "limit-ms": { type: "string", default: "20" },
    top: { type: "string", default: "15" },
    json: { type: "boolean", default: false },
  },
});

const ROUNDS = 5;

/** Returns the verdict on one answer, or "unread" if the answer is malformed. */
function verify(instance: MathInstance, text: string): string {
  const read = math.parse(text, instance);
  if (read.kind === "malformed") return "unread";
  try {
    const facts = math.verify(instance, read.answer);
    return facts.kind === "graded" ? (facts.solved ? "equal" : (facts.info?.["undecided"] ?? "different")) : facts.kind;
  } catch {
    // The pool refuses such a gold when it is loaded.
    return "no gold";
  }
}

interface Row {
  readonly shape: string;
  readonly gold: string;
  readonly length: number;
  readonly verdict: string;
  /** Processor time. Other work on the machine lengthens the wall time only. */
  readonly ms: number;
  readonly wallMs: number;
  /** Measures it once more. */
  readonly again: () => Row;
}

function measured(shape: string, gold: string, answer: string, name: string): Row {
  const instance: MathInstance = { problem: "", answer: gold, level: "all", facts: {} };
  const times: number[] = [];
  const spent: number[] = [];
  let verdict = "";
  for (let round = 0; round < ROUNDS; round++) {
    const [start, before] = [performance.now(), process.threadCpuUsage()];
    verdict = verify(instance, answer);
    const { user, system } = process.threadCpuUsage(before);
    times.push(performance.now() - start);
    spent.push((user + system) / 1000);
  }
  const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number;
  const [wallMs, ms] = [median(times), median(spent)];
  const again = (): Row => measured(shape, gold, answer, name);
  return { shape, gold: name, length: answer.length, verdict: verdict.slice(0, 40), ms, wallMs, again };
}

const SHORT = ["5", "x^2+1", "\\{1,2,3\\}", "y=2x+1", "x>3", "|x|", "\\begin{pmatrix}1&2\\\\3&x\\end{pmatrix}"];

function rowsAt(length: number): readonly Row[] {
  return Object.entries(SHAPES).flatMap(([name, shape]) => [
    ...SHORT.map((gold) => measured(name, gold, shape(length, 1), gold)),
    measured(name, shape(ANSWER_LENGTH_MAX, 2), shape(length, 1), "its own, of 2,000"),
    measured(name, shape(length, 2), shape(length, 1), "its own, as long"),
  ]);
}

// Warm-up: nothing is compiled yet when the first answers are read.
rowsAt(100);
const rows = options.length.flatMap((length) => rowsAt(Number(length))).sort((a, b) => b.ms - a.ms);

const limit = Number(options["limit-ms"]);
const once = rows.filter(({ ms }) => ms > limit);
const over = once.map(({ again }) => again()).filter(({ ms }) => ms > limit);
if (options.json) console.log(JSON.stringify(rows, null, 2));
else {
  for (const { shape, gold, length: size, verdict, ms, wallMs } of rows.slice(0, Number(options.top)))
    console.log(
      `${ms.toFixed(2).padStart(8)} ms ${wallMs.toFixed(2).padStart(8)} by the clock  ${shape.padEnd(32)} ${`${size}`.padStart(5)}  gold ${gold.padEnd(20)} ${verdict}`,
    );
  console.log(
    `${rows.length} of ${Object.keys(SHAPES).length} shapes, ${once.length} over ${limit} ms, ${over.length} of them twice`,
  );
  for (const { shape, gold, ms } of over)
    console.log(`${ms.toFixed(2).padStart(8)} ms once more  ${shape}  gold ${gold}`);
}
process.exitCode = over.length > 0 ? 1 : 0;
