/**
 * Plants the faults that issue 25 tells of, one at a time, in a copy of the tree, and runs the tests that hold what was mended:
 * each must fail. A list of scripts/planted/ has a row for each statement of a class of that issue. By hand, for it takes
 * minutes; test/tools/planted.test.ts holds the lists to the tree.
 *
 *   node scripts/planted.ts [--only WORDS] [--json] [--python .venv/bin/python] [--trainers .trainers/bin/python]
 *
 * Ends with 1 where a fault is missed, where its text is not in its file, or where a test does not run.
 */
import { execFileSync, spawnSync, type SpawnSyncOptions } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { createProgress } from "../bench/progress.ts";

const root = join(import.meta.dirname, "..");

/** A fault may make a test wait for what never comes: it fails then, as the tests of CI do, and only sooner. */
const TEST_MS = 120_000;
/** A test that works without an end does not fail by itself. */
const RUN_MS = 2 * TEST_MS;
const inTime = [`--testTimeout=${TEST_MS}`, `--hookTimeout=${TEST_MS}`, "--teardownTimeout=5000"];

/** A text of a file and what is put in its place. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

export interface Fault extends Edit {
  /** What the issue says, in a few words. */
  readonly says: string;
  /** What must be changed with it, where one place does not bring the fault back. */
  readonly also?: readonly Edit[];
  /** The file of the test that must fail. */
  readonly test: string;
  /** A part of the test's name, as vitest's or pytest's. */
  readonly name: string;
}

/** The lists, by their names. */
export function faults(): Readonly<Record<string, readonly Fault[]>> {
  const folder = join(root, "scripts/planted");
  const lists = readdirSync(folder).map((file) => [file, parse(readFileSync(join(folder, file), "utf8")) as Fault[]]);
  return Object.fromEntries(lists) as Record<string, Fault[]>;
}

export const editsOf = (fault: Fault): readonly Edit[] => [fault, ...(fault.also ?? [])];

/** A text with the edit made; undefined: what is to be found is not there, or not once. */
export function edited(text: string, { find, put }: Edit): string | undefined {
  const parts = text.split(find);
  return parts.length === 2 ? parts.join(put) : undefined;
}

/** The tracked files, with what is installed linked: workspaces are those of the copy. */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "gradus-planted-"));
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
  for (const file of files.filter((each) => each !== "" && existsSync(join(root, each))))
    cpSync(join(root, file), join(copy, file));
  const link = (path: string): void => {
    const target = join(root, path);
    const isLink = lstatSync(target).isSymbolicLink();
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    symlinkSync(isLink ? readlinkSync(target) : target, join(copy, path));
  };
  for (const name of readdirSync(join(root, "node_modules")).filter((each) => each !== ".cache")) {
    const path = join("node_modules", name);
    if (name === "@gradus") for (const each of readdirSync(join(root, path))) link(join(path, each));
    else link(path);
  }
  return copy;
}

type Outcome = "passes" | "fails" | "does not run";

interface Ran {
  readonly outcome: Outcome;
  /** Why it fails or does not run. */
  readonly why: string;
}

interface VitestReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly failureMessages: readonly string[] }[];
  }[];
}

/** Runs a program in the copy, and ends what it leaves behind: a fault may be that a process outlives its parent. */
function runIn(copy: string, program: string, args: readonly string[], more: SpawnSyncOptions = {}) {
  const options = { ...more, cwd: copy, encoding: "utf8", timeout: RUN_MS, detached: true } as const;
  const ended = spawnSync(program, args, options);
  try {
    // 0: it was not started, and would stand for this process and its like.
    if (ended.pid > 0) process.kill(-ended.pid, "SIGKILL");
  } catch {
    // It left nothing.
  }
  return ended;
}

const firstLine = (text: string): string =>
  text
    .replaceAll(/\u001b\[\d*m/g, "")
    .trim()
    .split("\n")[0] ?? "";

function runVitest(copy: string, { test, name }: Fault): Ran {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const pattern = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const options = ["run", test, "--testNamePattern", pattern, "--reporter=json", `--outputFile=${report}`, ...inTime];
  const { stderr } = runIn(copy, process.execPath, ["node_modules/vitest/vitest.mjs", ...options]);
  if (!existsSync(report)) return { outcome: "does not run", why: firstLine(stderr) };
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as VitestReport;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.find(({ status }) => status === "failed");
  if (failed !== undefined) return { outcome: "fails", why: firstLine(failed.failureMessages[0] ?? "") };
  if (tests.some(({ status }) => status === "passed")) return { outcome: "passes", why: "" };
  return { outcome: "does not run", why: firstLine(testResults.map(({ message }) => message).join()) };
}

function runPytest(copy: string, { test, name }: Fault, python: string): Ran {
  const args = ["-m", "pytest", `${test}::${name}`, "-q", "-p", "no:cacheprovider"];
  const env = { ...process.env, PYTHONPATH: join(copy, "clients/python/src"), PYTHONDONTWRITEBYTECODE: "1" };
  const { status, stdout, error } = runIn(copy, python, args, { env });
  if (error !== undefined) return { outcome: "does not run", why: error.message };
  const why = firstLine(/^E +(.*)$/m.exec(stdout)?.[1] ?? stdout);
  return { outcome: status === 0 ? "passes" : status === 1 ? "fails" : "does not run", why: status === 0 ? "" : why };
}

interface Judged {
  readonly list: string;
  readonly says: string;
  readonly test: string;
  readonly verdict: "caught" | "missed" | "broken";
  readonly why: string;
}

/** Tests that were seen to pass without a fault: several faults may have one. */
const passing = new Set<string>();

/** Plants a fault in the copy, runs its test, and takes the fault out again. */
function judge(copy: string, list: string, fault: Fault, run: (fault: Fault) => Ran): Judged {
  const told = { list, says: fault.says, test: `${fault.test}, ${fault.name}` };
  const before = new Map<string, string>();
  try {
    const { outcome, why } = passing.has(told.test) ? { outcome: "passes", why: "" } : run(fault);
    if (outcome !== "passes")
      return { ...told, verdict: "broken", why: `the test ${outcome} without the fault: ${why}` };
    passing.add(told.test);
    for (const edit of editsOf(fault)) {
      const path = join(copy, edit.file);
      const text = existsSync(path) ? readFileSync(path, "utf8") : "";
      const planted = edited(text, edit);
      if (planted === undefined)
        return { ...told, verdict: "broken", why: `${edit.file} does not have once: ${edit.find}` };
      if (!before.has(path)) before.set(path, text);
      writeFileSync(path, planted);
    }
    const then = run(fault);
    const verdict = { fails: "caught", passes: "missed", "does not run": "broken" } as const;
    return { ...told, verdict: verdict[then.outcome], why: then.why };
  } finally {
    for (const [path, text] of before) writeFileSync(path, text);
  }
}

function main(): void {
  const { values } = parseArgs({
    options: {
      only: { type: "string", default: "" },
      json: { type: "boolean", default: false },
      python: { type: "string", default: ".venv/bin/python" },
      trainers: { type: "string", default: ".trainers/bin/python" },
    },
  });
  const chosen = Object.entries(faults())
    .flatMap(([list, all]) => all.map((fault) => ({ list, fault })))
    .filter(({ list, fault }) => `${list}: ${fault.says}`.includes(values.only));
  const say = ({ verdict, says, why }: Judged): void => {
    if (!values.json) console.log(`${verdict}  ${says}${why === "" ? "" : ` (${why})`}`);
  };
  const copy = copyTree();
  const progress = createProgress("planted faults", chosen.length);
  try {
    const judged = chosen.map(({ list, fault }) => {
      const python = resolve(root, fault.test.includes("/tests_trainers/") ? values.trainers : values.python);
      const run = (one: Fault): Ran => (one.test.endsWith(".py") ? runPytest(copy, one, python) : runVitest(copy, one));
      const one = judge(copy, list, fault, run);
      progress.step();
      if (!process.stderr.isTTY) say(one);
      return one;
    });
    progress.stop();
    // Lines would run into the bar.
    if (process.stderr.isTTY) judged.forEach(say);
    const caught = judged.filter(({ verdict }) => verdict === "caught").length;
    console.log(values.json ? JSON.stringify(judged, undefined, 2) : `${caught} of ${judged.length} caught`);
    process.exitCode = caught === judged.length && judged.length > 0 ? 0 : 1;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

if (import.meta.main) main();
