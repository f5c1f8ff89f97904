/**
 * The test pairs of math-verify 0.9.0, out of its source package: where both read the answer and do not agree, with our
 * reason. The pairs are fetched into .cache/ and not kept in the repository; the reasons are (peer-reasons.json), by hash.
 *
 *   node bench/math/peer.ts [--python .venv/bin/python] [--unread] [--json]
 *
 * Exits with 1 where a disagreement has no reason.
 */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compareMath, readMath } from "../../envs/math/value.ts";

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: ".venv/bin/python" },
    unread: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

const PACKAGE = "math-verify==0.9.0";
const CACHE = fileURLToPath(new URL("../../.cache/math-verify/", import.meta.url));

interface Pair {
  readonly gold: string;
  readonly answer: string;
  /** As the peer's tests say. */
  readonly isEqual: boolean;
  readonly file: string;
}

function fetched(): readonly Pair[] {
  if (!existsSync(`${CACHE}math_verify-0.9.0.tar.gz`)) {
    mkdirSync(CACHE, { recursive: true });
    const args = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", PACKAGE, "-d", CACHE];
    execFileSync(options.python, args, { stdio: "inherit" });
  }
  const script = fileURLToPath(new URL("peer_pairs.py", import.meta.url));
  return JSON.parse(execFileSync(options.python, [script, CACHE], { encoding: "utf8" })) as readonly Pair[];
}

function judged({ gold, answer }: Pair): string {
  const [expected, given] = [readMath(gold), readMath(answer)];
  if (expected.kind === "malformed") return "unread gold";
  return given.kind === "malformed" ? "unread" : compareMath(expected.answer, given.answer).kind;
}

const reasons = JSON.parse(readFileSync(new URL("peer-reasons.json", import.meta.url), "utf8")) as Readonly<
  Record<string, string>
>;
const keyOf = ({ gold, answer }: Pair): string => hash("sha256", `${gold}\n${answer}`, "hex").slice(0, 12);

const rows = fetched().map((pair) => ({ ...pair, key: keyOf(pair), verdict: judged(pair) }));
const isRead = (verdict: string): boolean => !verdict.startsWith("unread");
const read = rows.filter(({ verdict }) => isRead(verdict));
const apart = read.filter(({ verdict, isEqual }) => (verdict === "equal") !== isEqual);
const unexplained = apart.filter(({ key }) => reasons[key] === undefined);

if (options.json) console.log(JSON.stringify(rows, null, 2));
else {
  for (const { key, gold, answer, isEqual, verdict } of options.unread
    ? rows.filter((row) => !isRead(row.verdict))
    : apart) {
    const [left, right] = [gold, answer].map((text) => text.replaceAll("\n", " ").slice(-100));
    console.log(
      `${key}  theirs ${isEqual ? "equal" : "different"}, ours ${verdict}\n  ${left}\n  ${right}\n  ${reasons[key] ?? "NO REASON"}`,
    );
  }
  const taken = apart.filter(({ verdict }) => verdict === "equal").length;
  console.log(
    `${rows.length} pairs, ${read.length} read by both; ${apart.length} disagreements, of which ${taken} are equal here alone; ${unexplained.length} without a reason`,
  );
}
process.exitCode = unexplained.length > 0 ? 1 : 0;
