/**
 * Public expected answers: how many are rejected and why, whether each is equal to itself, and whether any is taken for
 * another one of its shape. A folder holds a file a set, SET.jsonl; none is kept in the repository. `sympy`, if its Python is
 * named, looks for a place where two golds that are taken for equal differ; what it cannot read is shown.
 *
 * ```
 * node bench/math/golds.ts FOLDER [--crossed 60000] [--python PYTHON] [--show 20]
 * ```
 *
 * Exits with 1 if a gold is not equal to itself, or if two are equal that sympy finds different.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { rngFor } from "../../envs/lib/rng.ts";
import { goldOf } from "../../envs/math/gold.ts";
import { children, type Node, variablesOf } from "../../envs/math/syntax.ts";
import { compareMath, type MathAnswer, readMath } from "../../envs/math/value.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    crossed: { type: "string", default: "60000" },
    python: { type: "string" },
    show: { type: "string", default: "20" },
  },
});

/** Names of columns, the first that a row has counts. */
const ANSWERS = ["answer", "final_answer", "ans", "target", "Answer", "solution"];
const PROBLEMS = ["question", "problem", "input", "Question"];
/** A whole sentence is no value: it has four words or more beside its formulas. */
const WORDS = /(?<![\\A-Za-z])[A-Za-z]{2,}|\p{Script=Han}{2}/gu;
const WORDS_MIN = 4;
const isSentence = (answer: unknown): boolean =>
  (`${String(answer)}`.replaceAll(/\$[^$]*\$/g, " ").match(WORDS)?.length ?? 0) >= WORDS_MIN;

interface Gold {
  readonly set: string;
  readonly text: string;
  readonly problem: string;
  readonly answer: MathAnswer;
}

const golds: Gold[] = [];
const failures: string[] = [];
const counts = { rows: 0, rejected: 0, sentences: 0 };
const reasons = new Map<string, string[]>();
const [folder = "."] = positionals;
for (const file of readdirSync(folder).filter((name) => name.endsWith(".jsonl"))) {
  let [rows, rejected, sentences] = [0, 0, 0];
  for (const line of readFileSync(`${folder}/${file}`, "utf8").trimEnd().split("\n")) {
    const row = JSON.parse(line) as Readonly<Record<string, unknown>>;
    const column = ANSWERS.find((name) => row[name] !== undefined && row[name] !== null) ?? "answer";
    if (row[column] === "") continue;
    const problem = PROBLEMS.map((name) => row[name]).find((text) => typeof text === "string") ?? "";
    const read = goldOf({ [column === "solution" ? "solution" : "answer"]: row[column] });
    rows++;
    if (read.kind === "malformed") {
      if (isSentence(row[column])) sentences++;
      else rejected++;
      const reason = read.reason.replace(/^column \S+ /, "").replace(/[":].*/s, "");
      reasons.set(reason, [...(reasons.get(reason) ?? []), `${file}: ${JSON.stringify(row[column]).slice(0, 100)}`]);
      continue;
    }
    const answer = readMath(read.answer.text);
    if (answer.kind === "malformed") throw new Error(`bug: ${read.answer.text} was read before`);
    const gold = { set: file, text: read.answer.text, problem, answer: answer.answer };
    golds.push(gold);
    const own = readMath(`The answer is $\\boxed{${gold.text.replace(/^\$(.*)\$$/s, "$1")}}$.`);
    const verdict =
      own.kind === "malformed" ? own.reason : compareMath(gold.answer, own.answer, undefined, gold.problem).kind;
    if (verdict !== "equal") failures.push(`${file}: ${gold.text} is not equal to itself: ${verdict}`);
  }
  console.log(`${file.padEnd(28)} ${rows} rows, ${rejected} rejected, ${sentences} sentences`);
  counts.rows += rows;
  counts.rejected += rejected;
  counts.sentences += sentences;
}
for (const [reason, rows] of [...reasons].sort((a, b) => b[1].length - a[1].length))
  console.log(
    `  ${rows.length} ${reason}\n${rows
      .slice(0, Number(options.show) / 5)
      .map((row) => `      ${row}`)
      .join("\n")}`,
  );

/** Golds of one shape are plausible answers to each other's problem. */
function shapeOf(node: Node, depth = 2): string {
  const parts =
    depth === 0
      ? []
      : children(node)
          .slice(0, 4)
          .map((child) => shapeOf(child, depth - 1));
  return `${node.kind}${parts.length > 0 ? `(${parts.sort().join()})` : ""}`;
}

const groups = Map.groupBy(golds, ({ answer }) => {
  const node = (answer.readings[0] as { node: Node }).node;
  return `${shapeOf(node)} ${[...variablesOf(node)].sort().join()}`;
});
const pools = [...groups.values()].filter((each) => new Set(each.map(({ text }) => text)).size > 1);
const rng = rngFor("crossed golds", "1");
const taken = new Map<string, { readonly gold: string; readonly answer: string; readonly problem: string }>();
// Each shape is drawn by the number of its golds, but for single numbers, which are most of all.
const drawn = pools.flatMap((pool) => Array.from({ length: Math.min(pool.length, 60) }, () => pool));
let crossed = 0;
while (crossed < Number(options.crossed)) {
  const pool = rng.pick(drawn);
  const [gold, other] = [rng.pick(pool), rng.pick(pool)];
  if (gold.text === other.text) continue;
  crossed++;
  if (compareMath(gold.answer, other.answer, undefined, gold.problem).kind === "equal")
    taken.set(`${gold.text}\n${other.text}`, { gold: gold.text, answer: other.text, problem: gold.problem });
}

const share = ((100 * counts.rejected) / counts.rows).toFixed(2);
console.log(
  `${counts.rows} golds, ${counts.rejected} rejected (${share}%) and ${counts.sentences} whole sentences; ${failures.length} not equal to themselves`,
);
console.log(`${crossed} crossed pairs of ${pools.length} shapes, ${taken.size} different texts taken for equal`);
for (const failure of failures.slice(0, Number(options.show))) console.log(failure);
let different = 0;
if (options.python !== undefined) {
  const script = fileURLToPath(new URL("golds_truth.py", import.meta.url));
  const input = JSON.stringify([...taken.values()]);
  const judged = JSON.parse(
    execFileSync(options.python, [script], {
      input,
      encoding: "utf8",
      maxBuffer: 2 ** 27,
      stdio: ["pipe", "pipe", "ignore"],
    }),
  ) as readonly { readonly gold: string; readonly answer: string; readonly verdict: string }[];
  for (const { gold, answer, verdict } of judged)
    if (verdict !== "equal") console.log(`${verdict}: ${gold} | ${answer}`);
  different = judged.filter(({ verdict }) => verdict === "different").length;
  const unread = judged.filter(({ verdict }) => verdict === "unread").length;
  console.log(
    `sympy: ${judged.length - different - unread} equal, ${different} different, ${unread} that it does not read`,
  );
}
process.exitCode = failures.length + different > 0 ? 1 : 0;
