/**
 * Judges the policies by simulated students: every policy against every student.
 *
 *   node bench/curriculum/run.ts [--seeds 20] [--set reported|tuning|calibration] [--students FILE…] [--policies FILE]
 *                                [--only NAME…] [--jobs N] [--out FOLDER] [--json]
 *
 * `students` are files that export `student`, judged beside ours; `policies` a file that exports `candidates`, in place
 * of ours, against uniform; `only` names students. `out` is where results.md and the plots go: none unless given.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { JsonValue } from "@bufbuild/protobuf";
import { Piscina } from "piscina";
import type { Life } from "../../server/curriculum/simulation/life.ts";
import { createProgress } from "../progress.ts";
import { curves, ratios } from "./charts.ts";
import { familiesFrom } from "./families.ts";
import { judge, overall, type Played } from "./judge.ts";
import { candidates, uniform, type Candidate } from "./policies.ts";
import { ORACLE, overallTable, report } from "./report.ts";
import { places, seedSets, seedsOf } from "./setting.ts";
import type { Job } from "./worker.ts";

const { values: options } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    set: { type: "string", default: "reported" },
    students: { type: "string", multiple: true, default: [] },
    policies: { type: "string" },
    only: { type: "string", multiple: true, default: [] },
    jobs: { type: "string", default: String(availableParallelism()) },
    out: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

async function candidatesFrom(file: string | undefined): Promise<readonly Candidate[]> {
  if (file === undefined) return candidates;
  const module = (await import(pathToFileURL(resolve(file)).href)) as { readonly candidates: readonly Candidate[] };
  return [uniform, ...module.candidates];
}

const set = seedSets.find((name) => name === options.set);
if (set === undefined) throw new Error(`--set must be one of ${seedSets.join(", ")}, not ${options.set}`);
const seeds = seedsOf(set, Number(options.seeds));
const { students: files, only } = options;
const families = (await familiesFrom(files)).filter(({ name }) => only.length === 0 || only.includes(name));
const judged = await candidatesFrom(options.policies);
const policies: readonly { readonly name: string; readonly policy: JsonValue }[] = [
  ...judged.map((candidate) => ({ name: candidate.name, policy: candidate.policy(places) })),
  { name: ORACLE, policy: null },
];

const pool = new Piscina<Job, readonly Life[]>({
  filename: new URL("worker.ts", import.meta.url).href,
  maxThreads: Number(options.jobs),
});
const jobs = families.flatMap(({ name: student }) => policies.map(({ name, policy }) => ({ student, name, policy })));
const progress = createProgress("policies against students", jobs.length);
const played = await Promise.all(
  jobs.map(async ({ student, name, policy }): Promise<Played> => {
    const lives = await pool.run({ student, files, policy, seeds });
    progress.step();
    return { student, policy: name, lives };
  }),
);
progress.stop();
await pool.destroy();

const judgements = judge(played, uniform.name, ORACLE);
if (options.out !== undefined) {
  mkdirSync(options.out, { recursive: true });
  const command = `node bench/curriculum/run.ts --set ${set} --seeds ${options.seeds}`;
  writeFileSync(join(options.out, "results.md"), report(judgements, judged, command));
  writeFileSync(join(options.out, "ratios.svg"), ratios(judgements));
  writeFileSync(join(options.out, "curves.svg"), curves(judgements));
}
if (options.json) {
  // JSON has no Infinity: a figure of a run that never arrived is null.
  const text = JSON.stringify({ set, seeds: seeds.length, overall: overall(judgements), judgements }, undefined, 2);
  console.log(text);
} else console.log(options.out === undefined ? report(judgements, judged, "this") : overallTable(judgements));
