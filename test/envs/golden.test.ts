/**
 * Compares the tasks and verdicts of each environment's version with a golden file, so that issued tasks keep their
 * meaning. A change that this suite finds needs a new version. A version that changes only verdicts, of other samples
 * than those here, names the version before it as earlier and uses its file: the tasks of both are equal.
 * UPDATE_GOLDEN=1 writes the files of versions that have none yet. It also adds the tasks of a new last level to a file
 * whose other tasks are unchanged. Delete a file to write it anew; only a version that was never released may do so.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import type { Environment, SyncEnvironment, Split } from "../../envs/environment.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import { pickRow, type Pool, rowAt, rowCount } from "../../envs/pool.ts";
import { environments } from "../../envs/registry.ts";
import { score } from "../../envs/score.ts";
import { goldenText } from "./golden-text.ts";
import { type Case, cases, casesOf, issue, type Issued, pools, scoreTask, tasksOf } from "./every.ts";

interface Sample {
  readonly format: AnswerFormat;
  readonly completion: string;
}

const PLACES: readonly (readonly [bigint, Split])[] = [
  [0n, "train"],
  [1n, "eval"],
  [2n ** 64n - 1n, "bench"],
];

/** Completions of a task, made of one answer, whole and changed, and some that are none. */
function samplesOf(answer: string, formats: readonly AnswerFormat[]): readonly Sample[] {
  const swapped = answer.replace(/(\d+)(.*?)(\d+)/, "$3$2$1");
  const texts = [answer, swapped, answer.replace(/\d+/, "7"), `${answer} or so`];
  const marked = formats.flatMap((format) =>
    texts.map((text) => ({ format, completion: wrapAnswer(text, format, "é 𝟙") })),
  );
  const [format] = formats as [AnswerFormat];
  return [...marked, { format, completion: `<think>${answer}` }, { format, completion: answer }];
}

function answerOf({ solver }: SyncEnvironment, { instance }: Issued): string {
  return solver === undefined ? "1" : solver.format(solver.solve(instance).answer);
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** Long enough to tell a change; the fields of an object may come in any order. */
function shortDigest(value: unknown): string {
  const sorted = (_: string, each: unknown): unknown =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  return digest(JSON.parse(JSON.stringify(value, sorted))).slice(0, 16);
}

function scored(environment: SyncEnvironment, issued: Issued, { format, completion }: Sample) {
  const scores = environment.rewardSchemes.map(
    (name) => [name, score(scoreTask(environment, issued, format, name), completion)] as const,
  );
  const [[, first]] = scores as [(typeof scores)[number]];
  const { verdict, solved, objective, ratio, violation, truncated, spans, info } = first;
  const rewards = Object.fromEntries(scores.map(([name, { reward }]) => [name, reward]));
  const facts = { verdict, solved, objective, ratio, violation, truncated, info };
  return { format, completion, ...facts, spans: spans.map(({ start, end }) => `${start}-${end}`), rewards };
}

/** Returns, for each key of the records, a digest of the values that all records have there. */
function byKey<T extends object>(all: readonly T[]): Readonly<Record<string, string>> {
  const keys = Object.keys(all[0] ?? {}) as (keyof T & string)[];
  return Object.fromEntries(keys.map((key) => [key, shortDigest(all.map((each) => each[key] ?? null))]));
}

function taskRecord(given: Case, seed: bigint, split: Split, kept: string | undefined) {
  const { environment, level } = given;
  const formats = environment.answerFormats;
  const issued = issue(given, seed, split);
  const { origin, hash, instance, baseline } = issued;
  const answer = kept ?? answerOf(environment, issued);
  const samples = samplesOf(answer, seed === 0n ? formats : formats.slice(0, 1));
  return {
    level: level.name,
    seed: `${seed}`,
    split,
    attempt: origin.kind === "generated" ? origin.attempt : -1,
    hash,
    baseline,
    metadata: environment.metadata(instance),
    prompts: Object.fromEntries(formats.map((format) => [format, shortDigest(environment.render(instance, format))])),
    answer,
    scored: byKey(samples.map((sample) => scored(environment, issued, sample))),
  };
}

function poolRecord(pool: Pool) {
  const rowOf = (result: ReturnType<typeof pickRow>) =>
    result.kind === "made" ? [(result.key.origin as { readonly row: number }).row, result.key.hash] : result.kind;
  return pool.definition.levels.map(({ name }) => ({
    pool: pool.name,
    level: name,
    count: rowCount(pool, name, "train"),
    picked: [0n, 1n, 2n ** 64n - 1n].map((seed) => rowOf(pickRow(pool, name, "train", seed))),
    walked: [0, 1, 2, 1000].map((ordinal) => rowOf(rowAt(pool, name, "train", 5n, ordinal))),
  }));
}

/** Returns the golden record of an environment that only an outside resource can judge: its prompts and its rows. */
function recordAsked(environment: Environment) {
  const own = [...pools.values()].filter((pool) => pool.definition === environment);
  const tasks = casesOf(environment).flatMap((given) =>
    tasksOf(given, own[0], 2).map(({ hash, instance }, i) => {
      const prompts = environment.answerFormats.map(
        (format) => [format, environment.render(instance, format)] as const,
      );
      return {
        level: given.level.name,
        hash,
        metadata: environment.metadata(instance),
        ...(i === 0 && { prompt: prompts[0]?.[1] }),
        prompts: Object.fromEntries(prompts.map(([format, prompt]) => [format, digest(prompt)])),
      };
    }),
  );
  return { environment: environment.id, version: versionOf(environment), tasks, rows: own.flatMap(poolRecord) };
}

const nameOf = ({ id }: Environment, version: number): string => `${id.replaceAll("/", "-")}-v${version}.json`;
const fileOf = (name: string): URL => new URL(`../golden/${name}`, import.meta.url);

/**
 * Returns the version whose golden file the environment uses: its own if the file exists, else the last earlier one.
 */
function versionOf(environment: Environment): number {
  const { version, earlier = [] } = environment;
  return [version, ...earlier.toReversed()].find((each) => existsSync(fileOf(nameOf(environment, each)))) ?? version;
}

interface Golden {
  readonly tasks: readonly { readonly answer: string }[];
}

/** A golden record after a round trip through JSON. */
type Recorded = ReturnType<typeof recordOf>;

function written(golden: Golden | undefined, environment: Environment): Recorded {
  return JSON.parse(JSON.stringify(recordOf(environment, golden))) as Recorded;
}

/** Whether a record holds all of a golden file, followed by tasks of a new level. */
function isLonger(now: Recorded, golden: Golden): boolean {
  const { length } = golden.tasks;
  return now.tasks.length > length && isDeepStrictEqual({ ...now, tasks: now.tasks.slice(0, length) }, golden);
}

/**
 * Returns an environment's golden record. Its answers are those of the golden file, because optimal answers may differ.
 */
function record(environment: SyncEnvironment, golden: Golden | undefined) {
  const own = cases.filter((each) => each.environment === environment);
  const places = own.flatMap((given) => PLACES.map(([seed, split]) => ({ given, seed, split })));
  const taken = places.filter(({ given, split }) => given.level.evaluationOnly !== true || split !== "train");
  // Levels that are taken by name were once for evaluation only, so the golden file has their training tasks last.
  const isLater = ({ given, split }: (typeof taken)[number]) => given.level.byName === true && split === "train";
  const released = [...taken.filter((place) => !isLater(place)), ...taken.filter(isLater)];
  const tasks = released.map(({ given, seed, split }, i) => taskRecord(given, seed, split, golden?.tasks[i]?.answer));
  const rows = [...pools.values()].filter((pool) => pool.definition === environment).flatMap(poolRecord);
  return { environment: environment.id, version: versionOf(environment), tasks, rows };
}

function recordOf(environment: Environment, golden: Golden | undefined) {
  return environment.resource === undefined ? record(environment, golden) : recordAsked(environment);
}

/**
 * Environments with a golden suite of their own, which also keeps the judge's questions:
 * test/envs/writing/golden.test.ts.
 */
const ELSEWHERE = ["writing"];

describe.each(
  environments
    .filter(({ id }) => !ELSEWHERE.includes(id))
    .map((environment) => [`${environment.id} version ${environment.version}`, environment] as const),
)("%s", (title, environment) => {
  const name = nameOf(environment, versionOf(environment));
  const file = fileOf(name);

  test("gives what it gave", () => {
    const update = process.env["UPDATE_GOLDEN"] === "1";
    const write = (now: Recorded): void => writeFileSync(file, goldenText(now));
    if (update && !existsSync(file)) write(written(undefined, environment));
    expect(existsSync(file), `test/golden/${name} is missing: UPDATE_GOLDEN=1 writes it`).toBe(true);
    const golden = JSON.parse(readFileSync(file, "utf8")) as Golden;
    const now = written(golden, environment);
    if (update && isLonger(now, golden)) return write(now);
    expect(now, `${title} gives something else than test/golden/${name}: make it a new version`).toEqual(golden);
  });
});
