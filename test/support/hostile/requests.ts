/** Right requests, from which an attacker starts by changing fields. */
import type { DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { environments } from "../../../envs/registry.ts";
import type { TaskSpecSchema } from "../../../proto/gen/gradus/v1/task_pb.js";
import { hostileCompletion, hostileText } from "./values.ts";

/** A task of the server under attack. */
export interface KnownTask {
  readonly taskId: string;
  readonly groupId: string;
}

/** Facts that an attacker knows of the server. */
export interface Knowledge {
  /** Never empty. */
  readonly tasks: readonly KnownTask[];
  /** Suite of the evaluation "e", and its tasks. Never empty. */
  readonly suite: string;
  readonly suiteTasks: readonly KnownTask[];
  /** The state that ExportRun returned. */
  readonly exported: Uint8Array;
}

/** Few ids, so that most requested runs exist and no more runs than these are made. */
const RUN_IDS = ["a", "b", "run-3", "__proto__", "constructor", ".."] as const;
const ARM_IDS = ["a", "b", "__proto__", "constructor", "toString", "x/y"] as const;

/** Generators of arguments of `create`, by the method's local name. */
type Requests = Readonly<Record<string, fc.Arbitrary<unknown>>>;

const of = <const T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const runId = of(...RUN_IDS);

const families: readonly MessageInitShape<typeof TaskSpecSchema>[] = [
  ...environments.map(({ id }) => ({ environment: id })),
  { environment: "countdown", difficulty: { case: "level", value: "T1" }, split: 2, answerFormat: 3 },
  { environment: "countdown", difficulty: { case: "level", value: "T0" }, source: 2, pool: "countdown" },
  { environment: "countdown", difficulty: { case: "level", value: "OOD" }, split: 3 },
  { environment: "countdown", difficulty: { case: "parameters", value: { values: { numbers_max: 3 } } } },
  { environment: "np/tsp", version: 1, difficulty: { case: "level", value: "easy" } },
  { environment: "np/tsp", difficulty: { case: "parameters", value: { values: { cities_min: 3, cities_max: 5 } } } },
];
const family = fc
  .tuple(of(...families), of(undefined, { name: "" }))
  .map(([spec, rewardScheme]) => (rewardScheme === undefined ? spec : { ...spec, rewardScheme }));

const arm = fc.record({ id: of(...ARM_IDS), spec: of(...families.filter((each) => each.answerFormat === undefined)) });
// Most configurations of these arms cannot meet the last two constraints.
const constraints = of({}, {}, {}, { realShareMin: 0.5 }, { syntheticShareMax: 0.5, hardShareMin: 0.1 });
const policy = fc.record({
  kind: of(
    { case: "mixture", value: {} },
    { case: "bandit", value: {} },
    { case: "named", value: { name: "bandit", parameters: { ucb: { exploration: [null] } } } },
    { case: "bandit", value: { rule: { case: "emaSoftmax", value: { alpha: 1, tau: 1e-300 } }, epsilon: 0 } },
  ),
  constraints,
});
const config = fc.record({
  arms: fc.uniqueArray(arm, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
  policy,
  seed: fc.bigInt(0n, 3n),
  numGenerations: of(1, 2),
  length: of(0n, 5n),
  promptsPerUpdate: of(1, 2, 3),
  lag: of({ case: "feedbackLag", value: 0 }, { case: "feedbackUnbounded", value: true }),
  feedbackSource: of(1, 2),
  groupTimeout: of({ seconds: 1n }, { nanos: 5_000_000 }),
  timeToLive: of({ seconds: 60n }, { seconds: 315_576_000_000n }),
});

const rescoreSettings = fc.record({
  version: of(0, 0, 1, 99),
  answerFormat: of(0, 1, 99),
  thinking: of(0, 2, 99),
  rewardScheme: of(
    undefined,
    { name: "" },
    { name: "graded", parameters: { format_score: NaN } },
    { name: "toString" },
  ),
});

function environmentRequests({ tasks }: Knowledge): Requests {
  const task = of(...tasks);
  const completions = fc.uniqueArray(fc.record({ sampleIndex: fc.nat(3), text: hostileCompletion }), {
    minLength: 1,
    maxLength: 2,
    selector: ({ sampleIndex }) => sampleIndex,
  });
  const forgedTask = fc.oneof({ weight: 4, arbitrary: task }, task.chain(forged));
  const group = fc
    .tuple(forgedTask, completions, of(0, 1, 2))
    .map(([known, texts, numGenerations]) => ({ ...known, completions: texts, numGenerations }));
  const groups = fc.array(group, { minLength: 1, maxLength: 2 });
  const streamed = { requestId: of("1", "2", "__proto__"), groups };
  const text = fc.tuple(of("answer", "completion"), hostileCompletion).map(([kind, value]) => ({ case: kind, value }));
  return {
    listEnvironments: fc.record({ category: of("", "np"), pageSize: of(0, 1, 1000) }),
    getServerInfo: fc.record({}),
    getServerStatus: fc.record({}),
    getEnvironment: fc.record({ id: of("countdown", "np/tsp"), version: of(0, 1) }),
    reset: fc.record({ spec: family, seed: fc.bigInt(0n, 2n ** 64n - 1n) }),
    batchReset: fc.record({ spec: family, seeds: fc.array(fc.bigInt(0n, 99n), { minLength: 1, maxLength: 3 }) }),
    reissueTasks: fc.record({
      taskIds: fc.array(forgedTask, { minLength: 1, maxLength: 3 }).map((known) => known.map(({ taskId }) => taskId)),
      settings: rescoreSettings,
    }),
    step: fc
      .tuple(forgedTask, fc.nat(3), hostileCompletion)
      .map(([known, sampleIndex, completion]) => ({ ...known, sampleIndex, completion })),
    tryAnswer: fc.tuple(forgedTask, text).map(([{ taskId }, given]) => ({ taskId, text: given })),
    drawTask: fc.tuple(forgedTask, text).map(([{ taskId }, given]) => ({ taskId, text: given })),
    solveTask: fc.tuple(forgedTask, text, fc.boolean()).map(([{ taskId }, beside, draw]) => ({ taskId, beside, draw })),
    batchStep: fc.record({ groups }),
    streamSteps: fc.record({ ...streamed, more: fc.array(fc.record(streamed), { maxLength: 3 }) }),
  };
}

/** Generates a task whose id is cut, extended or changed in one character, or which names another group. */
function forged({ taskId, groupId }: KnownTask): fc.Arbitrary<KnownTask> {
  const position = fc.nat(taskId.length - 1);
  const id = fc.oneof(
    position.map((end) => taskId.slice(0, end)),
    hostileText.map((more) => taskId + more),
    position.map((i) => taskId.slice(0, i) + (taskId[i] === "A" ? "B" : "A") + taskId.slice(i + 1)),
    fc.constant(taskId.repeat(50)),
  );
  return fc.oneof(
    id.map((changed) => ({ taskId: changed, groupId })),
    fc.oneof(hostileText, of("a/0/1", "a/9/0")).map((changed) => ({ taskId, groupId: changed })),
  );
}

const filter = fc.record({
  violation: hostileText,
  violationTemplate: hostileText,
  text: hostileText,
  rewardMin: of(0, NaN),
  solved: fc.boolean(),
});

function curriculumRequests({ tasks, exported }: Knowledge): Requests {
  const run = fc.record({ runId });
  const groupId = fc.oneof(
    of(...tasks.map((task) => task.groupId)),
    fc.nat(5).map((cursor) => `a/0/${cursor}`),
  );
  const groups = fc.array(fc.record({ groupId, advantages: of([], [0.5, -0.5], [NaN]), rewardMean: of(0, 1) }), {
    maxLength: 2,
  });
  const cursor = fc.oneof(of(undefined), fc.bigInt(0n, 9n));
  const next = fc.tuple(runId, cursor, of(0, 1, 5), of({ nanos: 0 }, { nanos: 5_000_000 }));
  return {
    createRun: fc.record({ runId, config }),
    checkRun: fc.record({
      source: fc.oneof(
        config.map((value) => ({ case: "config", value })),
        fc
          .oneof(of("arms: np/*", "policy: { bandit: {} }", "a: &a [*a]"), hostileText)
          .map((value) => ({ case: "file", value })),
      ),
    }),
    simulateRun: fc.record({ config, student: of("", "learner", "x"), updates: of(0, 1, 3), points: of(0, 1, 2000) }),
    rateRows: fc.record({
      runId,
      armId: of(...ARM_IDS),
      rows: fc.array(fc.record({ row: fc.nat(3), passRate: of(0, 0.5, 2, NaN) }), { maxLength: 2 }),
      samples: of(0, 1, NaN),
    }),
    listRows: fc.record({ runId, armId: of(...ARM_IDS), pageSize: of(0, 1, 1000), pageToken: of("", "MQ") }),
    listRunSamples: fc.record({
      runId,
      pageSize: of(0, 1, 1000),
      pageToken: of("", "MQ"),
      filter,
      tasks: fc.boolean(),
      brief: fc.boolean(),
      updateBatch: of(undefined, 0n, 2n ** 64n - 1n),
    }),
    getViolations: fc.record({ runId, armId: of("", ...ARM_IDS) }),
    deleteRunSamples: run,
    getRun: run,
    listRuns: fc.record({ pageSize: of(0, 1, 1000), pageToken: of("", "YQ") }),
    deleteRun: run,
    nextBatch: next.map(([id, at, count, wait]) => ({
      runId: id,
      count,
      wait,
      ...(at === undefined ? {} : { cursor: at }),
    })),
    reportAdvantages: fc.record({ runId: of("a", "b"), groups }),
    closeGroups: fc.record({
      runId: of("a"),
      groupIds: fc.array(groupId, { maxLength: 2 }),
      reason: of("", "dropped"),
    }),
    getGroups: fc.record({
      runId: of("a", "b"),
      tasks: fc.boolean(),
      open: fc.boolean(),
      wait: of({ nanos: 0 }, { nanos: 5_000_000 }),
      groupIds: fc.array(groupId, { maxLength: 2 }),
      pageSize: of(0, 1, 4096),
      pageToken: of("", "MQ"),
    }),
    reopenGroups: fc.record({ runId: of("a"), groupIds: fc.array(groupId, { maxLength: 2 }) }),
    updateShape: fc.record({
      runId: of("a", "b"),
      numGenerations: of(1, 2, 3),
      promptsPerUpdate: of(1, 2, 5),
      length: of(0n, 6n, 100n),
      removeArms: fc.array(of(...ARM_IDS), { maxLength: 1 }),
    }),
    nextEvaluation: fc.record({
      runId: of("a", "b"),
      armId: of("held-out", "a"),
      round: fc.bigInt(0n, 3n),
      cursor: fc.bigInt(0n, 9n),
      count: of(0, 1, 4096),
    }),
    updatePolicy: fc.record({ runId, policy }),
    comparePolicy: fc.record({ runId, policy }),
    setWeights: fc.record({ runId, weights: fc.dictionary(of(...ARM_IDS), of(0, 1, 2.5), { maxKeys: 2 }) }),
    advance: run,
    pause: run,
    resume: run,
    annotateRun: fc.record({
      runId,
      note: fc.oneof(of(undefined, ""), hostileText),
      addTags: fc.array(fc.oneof(of("a", "math/easy"), hostileText), { maxLength: 3 }),
      removeTags: fc.array(of("a", "b"), { maxLength: 2 }),
    }),
    exportRun: run,
    importRun: fc.record({ state: fc.constant(exported).chain(mutatedBytes), runId: of("", "a", "b") }),
    watchRun: run,
    getHistory: fc.record({ runId, pageSize: of(0, 1, 10_000), pageToken: of("", "MQ", "LTE") }),
  };
}

/** Generates bytes: unchanged, cut, extended, partly changed, or entirely different. */
export function mutatedBytes(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const position = fc.nat(Math.max(0, bytes.length - 1));
  const changes = fc.array(fc.tuple(position, fc.nat(255)), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(bytes) },
    position.map((end) => bytes.slice(0, end)),
    fc.uint8Array({ maxLength: 20 }).map((more) => Uint8Array.from([...bytes, ...more])),
    changes.map((changed) => {
      const copy = Uint8Array.from(bytes);
      for (const [at, value] of changed) if (at < copy.length) copy[at] = value;
      return copy;
    }),
    fc.uint8Array({ maxLength: 100 }),
  );
}

function evaluationRequests({ suite, suiteTasks }: Knowledge): Requests {
  const evaluationId = of("e", "e", "f", "__proto__");
  const page = fc.record({ evaluationId, pageSize: of(0, 1, 1000), pageToken: of("", "MQ", "MSAx") });
  const submission = fc
    .tuple(fc.oneof({ weight: 4, arbitrary: of(...suiteTasks) }, of(...suiteTasks).chain(forged)), hostileCompletion)
    .chain(([{ taskId }, completion]) =>
      fc.record({ evaluationId, sampleIndex: fc.nat(3) }).map((where) => ({ ...where, taskId, completion })),
    );
  return {
    listSuites: fc.record({ pageSize: of(0, 1, 1000) }),
    createEvaluation: fc.record({ evaluationId, suite: of(suite), samplesPerTask: of(0, 1, 4), model: of("", "m") }),
    getEvaluation: fc.record({ evaluationId }),
    holdEvaluation: fc.record({ evaluationId }),
    listPendingTasks: page,
    submitCompletions: submission,
    batchSubmitCompletions: fc.record({ completions: fc.array(submission, { minLength: 1, maxLength: 3 }) }),
    listEvaluations: fc.record({ pageSize: of(0, 1, 1000), pageToken: of("", "MQ"), suite: of("", suite) }),
    deleteEvaluation: fc.record({ evaluationId: of("f", "__proto__") }),
    listSamples: fc.tuple(page, filter).map(([asked, meant]) => ({ ...asked, filter: meant })),
    getReport: fc.record({ evaluationId }),
    rescore: fc.record({
      source: fc.oneof(
        evaluationId.map((value) => ({ case: "evaluationId", value })),
        runId.map((value) => ({ case: "runId", value })),
      ),
      settings: rescoreSettings,
    }),
  };
}

export function rightRequests(knowledge: Knowledge): (method: DescMethod) => fc.Arbitrary<unknown> {
  const all: Requests = {
    ...environmentRequests(knowledge),
    ...curriculumRequests(knowledge),
    ...evaluationRequests(knowledge),
  };
  return ({ localName }) => {
    const found = all[localName];
    if (found === undefined) throw new Error(`no right request is known of ${localName}`);
    return found;
  };
}
