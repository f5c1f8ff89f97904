/**
 * What the dearest hostile completion costs, in each environment or those named: texts of one thing over and over, as
 * long as a completion may be, alone and where answers stand, in each answer format. README.md has what it gave.
 *
 *   node bench/answers/worst.ts [environment…] [--bytes 262144] [--repeats 10] [--json]
 */
import { parseArgs } from "node:util";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import type { SyncEnvironment } from "../../envs/environment.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import { makeGenerated } from "../../envs/instances.ts";
import { environments } from "../../envs/registry.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import { score, type ScoreTask } from "../../envs/score.ts";
import { UNITS } from "../../test/envs/hostile.ts";
import { createProgress } from "../progress.ts";
import { environmentOf } from "../solvers/timed.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    bytes: { type: "string", default: "262144" },
    repeats: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
});
const bytes = Number(options.bytes);
const repeats = Number(options.repeats);
const CHEAP_MS = 0.5;

interface Hostile {
  readonly name: string;
  readonly text: string;
}

/** One text for each unit and each place where it may stand. */
function* textsOf(format: AnswerFormat, answer: string): Generator<Hostile> {
  for (const unit of UNITS) {
    const many = (less: number): string =>
      unit.repeat(Math.max(0, Math.floor((bytes - less) / Buffer.byteLength(unit))));
    const marked = (inner: string): string => wrapAnswer(inner, format);
    // A character beyond Latin-1 makes V8 keep the whole text in two bytes a character, where its searches are others.
    const places: readonly (readonly [string, string])[] = [
      ["alone", many(0)],
      ["alone, wide", `${many(6)}…`],
      ["before an answer", many(100 + answer.length) + marked(answer)],
      ["after an answer", marked(answer) + many(100 + answer.length)],
      ["as the answer", marked(many(100))],
      ["as the answer, wide", marked(`${many(100)}】`)],
      ["before the answer", marked(many(100 + answer.length) + answer)],
      ["within the answer", marked(answer.slice(0, 1) + many(100 + answer.length) + answer.slice(1))],
      ["behind the answer", marked(answer + many(100 + answer.length))],
      ["around the answer", marked(unit.repeat(20) + answer + many(300 + answer.length))],
    ];
    for (const [place, text] of places) yield { name: `${JSON.stringify(unit)} ${place}`, text };
  }
}

/** A task of the hardest level that has one, scored by the scheme that reads most. */
function taskOf(
  environment: SyncEnvironment,
  format: AnswerFormat,
): { readonly task: ScoreTask; readonly answer: string } {
  const { solver, rewardSchemes } = environment;
  const level = environment.levels.at(-1);
  if (solver === undefined || level === undefined) throw new Error(`${environment.id} has no solver or no level`);
  const made = makeGenerated(environment, { parameters: level.parameters, seed: 1n, split: "bench" });
  if (made.kind !== "made") throw new Error(made.message);
  const resolved = rewardSchemes.map((name) => resolveScheme(environment, name, {}));
  const schemes = resolved.flatMap((each) => (each.kind === "ok" ? [each.scheme] : []));
  const scheme = schemes.find((each) => each.scheme.usesTidiness === true) ?? schemes[0];
  if (scheme === undefined) throw new Error(`${environment.id} has no reward scheme`);
  const { baseline } = made.key;
  const task = { environment, instance: made.instance, format, scheme, ...(baseline && { baseline }) };
  return { task, answer: solver.format(solver.solve(made.instance).answer) };
}

/** The least of several times: what else the machine does adds to it and never takes away. Cheap texts are read once. */
function leastMs(task: ScoreTask, text: string): number {
  let least = Infinity;
  for (let i = 0; i < repeats && least > CHEAP_MS; i++) {
    // As a completion comes off the wire: no part of another text.
    const fresh = Buffer.from(text).toString();
    const start = performance.now();
    score(task, fresh);
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

interface Dearest {
  readonly environment: string;
  readonly texts: number;
  readonly medianMs: number;
  readonly ms: number;
  readonly format: AnswerFormat;
  readonly text: string;
}

function dearestOf(environment: SyncEnvironment): Dearest {
  const all: { readonly ms: number; readonly format: AnswerFormat; readonly text: string }[] = [];
  const progress = createProgress(environment.id, environment.answerFormats.length);
  for (const format of environment.answerFormats) {
    const { task, answer } = taskOf(environment, format);
    for (const { name, text } of textsOf(format, answer)) all.push({ ms: leastMs(task, text), format, text: name });
    progress.step();
  }
  progress.stop();
  all.sort((a, b) => b.ms - a.ms);
  const [first] = all;
  if (first === undefined) throw new Error("no text was tried");
  return { environment: environment.id, texts: all.length, medianMs: all[all.length >> 1]?.ms ?? 0, ...first };
}

const chosen =
  positionals.length > 0 ? positionals.map(environmentOf) : environments.filter((each) => each.resource === undefined);
const reports: Dearest[] = [];
for (const environment of chosen) {
  const report = dearestOf(environment);
  reports.push(report);
  if (options.json) continue;
  const { texts, medianMs, ms, format, text } = report;
  const cells = [
    environment.id.padEnd(20),
    `${texts} texts`,
    `median ${medianMs.toFixed(2)} ms`,
    `dearest ${ms.toFixed(2)} ms`,
  ];
  console.log([...cells, `${format}, ${text}`].join("  "));
}
if (options.json) console.log(JSON.stringify(reports, null, 2));
