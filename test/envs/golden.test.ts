/**
 * What a version of an environment gives, kept in files: tasks that were issued once must mean the same for ever. A
 * change that this suite finds needs a new version, registered beside the old one. UPDATE_GOLDEN=1 writes the files of
 * versions that have none yet; delete a file first to write it anew, which only a version never released may do.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import type { Environment, SyncEnvironment, Split } from "../../envs/environment.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import { pickRow, type Pool, rowAt, rowCount } from "../../envs/pool.ts";
import { environments } from "../../envs/registry.ts";
import { score } from "../../envs/score.ts";
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

/** Completions of a task, written once: the solver's answer, whole and changed, and some that are none. */
function samplesOf(
  environment: SyncEnvironment,
  { instance }: Issued,
  formats: readonly AnswerFormat[],
): readonly Sample[] {
  const solution = environment.solver?.solve(instance);
  const answer = solution === undefined ? "1" : environment.solver!.format(solution.answer);
  const swapped = answer.replace(/(\d+)(.*?)(\d+)/, "$3$2$1");
  const texts = [answer, swapped, answer.replace(/\d+/, "7"), `${answer} or so`];
  const marked = formats.flatMap((format) =>
    texts.map((text) => ({ format, completion: wrapAnswer(text, format, "é 𝟙") })),
  );
  const [format] = formats as [AnswerFormat];
  return [...marked, { format, completion: `<think>${answer}` }, { format, completion: answer }];
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
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

function taskRecord(given: Case, seed: bigint, split: Split, samples: readonly Sample[] | undefined) {
  const { environment, level } = given;
  const formats = environment.answerFormats;
  const issued = issue(given, seed, split);
  const { origin, hash, instance, baseline } = issued;
  const prompts = formats.map((format) => [format, environment.render(instance, format)] as const);
  return {
    ...{ level: level.name, seed: `${seed}`, split },
    attempt: origin.kind === "generated" ? origin.attempt : -1,
    ...{ hash, baseline, metadata: environment.metadata(instance) },
    // One whole, to read what changed; the others by their SHA-256.
    ...(seed === 0n && { prompt: prompts[0]?.[1] }),
    prompts: Object.fromEntries(prompts.map(([format, prompt]) => [format, digest(prompt)])),
    scored: (samples ?? samplesOf(environment, issued, seed === 0n ? formats : formats.slice(0, 1))).map((sample) =>
      scored(environment, issued, sample),
    ),
  };
}

function poolRecord(pool: Pool) {
  const rowOf = (result: ReturnType<typeof pickRow>) =>
    result.kind === "made" ? [(result.key.origin as { readonly row: number }).row, result.key.hash] : result.kind;
  return pool.definition.levels.map(({ name }) => ({
    ...{ pool: pool.name, level: name, count: rowCount(pool, name, "train") },
    picked: [0n, 1n, 2n ** 64n - 1n].map((seed) => rowOf(pickRow(pool, name, "train", seed))),
    walked: [0, 1, 2, 1000].map((ordinal) => rowOf(rowAt(pool, name, "train", 5n, ordinal))),
  }));
}

/** Of an environment whose answers only the outside can judge: what is asked, and of which rows. */
function recordAsked(environment: Environment) {
  const own = [...pools.values()].filter((pool) => pool.definition === environment);
  const tasks = casesOf(environment).flatMap((given) =>
    tasksOf(given, own[0], 2).map(({ hash, instance }, i) => {
      const prompts = environment.answerFormats.map(
        (format) => [format, environment.render(instance, format)] as const,
      );
      return {
        ...{ level: given.level.name, hash, metadata: environment.metadata(instance) },
        ...(i === 0 && { prompt: prompts[0]?.[1] }),
        prompts: Object.fromEntries(prompts.map(([format, prompt]) => [format, digest(prompt)])),
      };
    }),
  );
  return { environment: environment.id, version: environment.version, tasks, rows: own.flatMap(poolRecord) };
}

interface Golden {
  readonly tasks: readonly { readonly scored: readonly Sample[] }[];
}

/** All that is kept of an environment. Completions are those of the golden file, for optimal answers may differ. */
function record(environment: SyncEnvironment, golden: Golden | undefined) {
  const own = cases.filter((each) => each.environment === environment);
  const places = own.flatMap((given) => PLACES.map(([seed, split]) => ({ given, seed, split })));
  const released = places.filter(({ given, split }) => given.level.evaluationOnly !== true || split !== "train");
  const tasks = released.map(({ given, seed, split }, i) => taskRecord(given, seed, split, golden?.tasks[i]?.scored));
  const rows = [...pools.values()].filter((pool) => pool.definition === environment).flatMap(poolRecord);
  return { environment: environment.id, version: environment.version, tasks, rows };
}

function recordOf(environment: Environment, golden: Golden | undefined) {
  return environment.resource === undefined ? record(environment, golden) : recordAsked(environment);
}

/** What the judge is asked about is kept too, by a suite beside its tests: test/envs/writing/golden.test.ts. */
const ELSEWHERE = ["writing"];

describe.each(
  environments
    .filter(({ id }) => !ELSEWHERE.includes(id))
    .map((environment) => [`${environment.id} version ${environment.version}`, environment] as const),
)("%s", (title, environment) => {
  const name = `${environment.id.replaceAll("/", "-")}-v${environment.version}.json`;
  const file = new URL(`../golden/${name}`, import.meta.url);

  test("gives what it gave", () => {
    if (!existsSync(file) && process.env["UPDATE_GOLDEN"] === "1") {
      writeFileSync(file, `${JSON.stringify(recordOf(environment, undefined), undefined, 1)}\n`);
    }
    expect(existsSync(file), `test/golden/${name} is missing: UPDATE_GOLDEN=1 writes it`).toBe(true);
    const golden = JSON.parse(readFileSync(file, "utf8")) as Golden;
    const now: unknown = JSON.parse(JSON.stringify(recordOf(environment, golden)));
    expect(now, `${title} gives something else than test/golden/${name}: make it a new version`).toEqual(golden);
  });
});
