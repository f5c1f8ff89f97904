/**
 * Judges the policies by simulated students: every policy against every kind, beside equal shares on the same students.
 *
 * ```
 * node bench/curriculum/run.ts [--quick] [--seeds 100] [--seeds-others 20] [--set reported|tuning|…] [--kinds tuned|all]
 *                              [--students FILE…] [--policies FILE] [--only NAME…] [--policy NAME…] [--jobs N]
 *                              [--keep FILE] [--save FILE] [--from FILE…] [--out FOLDER] [--json]
 * ```
 *
 * `seeds` is the number of students of each kind under the recommended policy, `seeds-others` under the others; `quick`
 * is 8 of each, without the slow ones. `kinds tuned` leaves out those that were set apart. `students` are files that
 * export `student`, judged beside ours; `policies` a file that exports `candidates`, in place of ours; `only` names
 * kinds, `policy` policies. `keep` is a file that each student is written to as it is done: the same command goes on where it was
 * broken off. `save` keeps what became of each student, and `from` takes files of it in place of playing, so
 * that kinds can be played apart. `out` is where results.md and the plot go: none unless given.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Piscina } from "piscina";
import { keptIn } from "../kept.ts";
import { createProgress } from "../progress.ts";
import { judgedKinds, type JudgedKind, sets } from "./judged-kinds.ts";
import { judged as judge, overall, type Played } from "./judge.ts";
import { candidates, recommended, type Candidate, uniform } from "./policies.ts";
import { kindTable, overallTable, report } from "./report.ts";
import { seedSets, seedsOf } from "./setting.ts";
import type { Job, Taught } from "./worker.ts";

/** Students of one job: few, so that two threads end together; one if results are kept, so that little is repeated. */
const [SEEDS_A_JOB, KEPT_A_JOB] = [10, 1];
const QUICK_SEEDS = 8;

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seeds: { type: "string", default: "100" },
    "seeds-others": { type: "string", default: "20" },
    set: { type: "string", default: "reported" },
    kinds: { type: "string", default: "all" },
    students: { type: "string", multiple: true, default: [] },
    policies: { type: "string" },
    only: { type: "string", multiple: true, default: [] },
    policy: { type: "string", multiple: true, default: [] },
    jobs: { type: "string", default: String(availableParallelism()) },
    keep: { type: "string" },
    save: { type: "string" },
    from: { type: "string", multiple: true, default: [] },
    out: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

async function candidatesFrom(file: string | undefined): Promise<readonly Candidate[]> {
  if (file === undefined) return candidates.filter(({ name }) => name !== uniform.name);
  const module = (await import(pathToFileURL(resolve(file)).href)) as { readonly candidates: readonly Candidate[] };
  return module.candidates;
}

const set = seedSets.find((name) => name === options.set);
if (set === undefined) throw new Error(`--set must be one of ${seedSets.join(", ")}, not ${options.set}`);
const { students: files, only, policy: wanted, quick } = options;
const kinds = (await judgedKinds(files)).filter(
  ({ name, set: of }) =>
    (only.length === 0 || only.includes(name)) &&
    (options.kinds === "all" || of !== "set apart") &&
    !(quick && name.startsWith("slow, ")),
);
const judged = (await candidatesFrom(options.policies)).filter(
  ({ name }) => wanted.length === 0 || wanted.includes(name),
);
const seedsFor = ({ name }: Candidate): number => {
  if (quick) return QUICK_SEEDS;
  return Number(name === recommended.name || options.policies !== undefined ? options.seeds : options["seeds-others"]);
};

/** Groups policies that have the same number of students into one job, so that equal shares are played once. */
function jobsOf({ name: kind, places, shape }: JudgedKind): readonly Job[] {
  const counts = [...new Set(judged.map(seedsFor))].sort((a, b) => a - b);
  const size = options.keep === undefined ? SEEDS_A_JOB : KEPT_A_JOB;
  return counts.flatMap((count, i) => {
    const [from, policies] = [counts[i - 1] ?? 0, judged.filter((candidate) => seedsFor(candidate) >= count)];
    const seeds = seedsOf(set ?? "reported", count).slice(from);
    return Array.from({ length: Math.ceil(seeds.length / size) }, (_, chunk) => ({
      kind,
      files,
      policies: policies.map((candidate) => [candidate.name, candidate.policy(places, shape)] as const),
      seeds: seeds.slice(chunk * size, (chunk + 1) * size),
    }));
  });
}

/** Students of a kind, and their results. */
interface Lesson {
  readonly kind: string;
  readonly students: readonly Taught[];
}

async function lessons(): Promise<readonly Lesson[]> {
  const pool = new Piscina<Job, readonly Taught[]>({
    filename: new URL("worker.ts", import.meta.url).href,
    maxThreads: Number(options.jobs),
  });
  const jobs = kinds.flatMap(jobsOf);
  const kept = keptIn<readonly Taught[]>(options.keep);
  const progress = createProgress("policies against students", jobs.length);
  const taught = await Promise.all(
    jobs.map(async (job): Promise<Lesson> => {
      const before = kept.of(job);
      const students = before ?? (await pool.run(job));
      if (before === undefined) kept.keep(job, students);
      progress.step();
      return { kind: job.kind, students };
    }),
  );
  progress.stop();
  await pool.destroy();
  return taught;
}

const read = (file: string): readonly Lesson[] => JSON.parse(readFileSync(file, "utf8")) as readonly Lesson[];
const taught = options.from.length > 0 ? options.from.flatMap(read) : await lessons();
if (options.save !== undefined) writeFileSync(options.save, JSON.stringify(taught));

const judgements = kinds.flatMap(({ name: kind, set: of }) => {
  const students = taught.filter((each) => each.kind === kind).flatMap((each) => each.students);
  return judged.map(({ name: policy }) => {
    const pairs = students.flatMap(({ uniform: alike, others }): Played["pairs"] => {
      const life = others[policy];
      return life === undefined ? [] : [{ policy: life, uniform: alike }];
    });
    return judge({ kind, set: of, policy, pairs });
  });
});
const first = (judged.find(({ name }) => name === recommended.name) ?? judged[0])?.name ?? "";
if (options.out !== undefined) {
  mkdirSync(options.out, { recursive: true });
  const counts = quick ? "--quick" : `--seeds ${options.seeds} --seeds-others ${options["seeds-others"]}`;
  const command = `node bench/curriculum/run.ts --set ${set} ${counts}`;
  const text = report({ judgements, candidates: judged, kinds, first, command });
  writeFileSync(join(options.out, "results.md"), text);
}
if (options.json) {
  // JSON has no Infinity: the figure of runs that never reached the target is null.
  console.log(
    JSON.stringify({ set, overall: sets.flatMap((of) => overall(judgements, of)), judgements }, undefined, 2),
  );
} else {
  for (const of of sets)
    if (judgements.some((each) => each.set === of)) console.log(`${of}\n${overallTable(judgements, of)}\n`);
  console.log(kindTable(judgements, first));
}
