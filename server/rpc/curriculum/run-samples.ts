/** Stores the completions of runs when they are scored, and lists them. */
import { LIMITS } from "../../../proto/limits.ts";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { GroupRef } from "../../curriculum/feedback.ts";
import type { RunView } from "../../curriculum/run-view.ts";
import {
  type CurriculumService,
  DeleteRunSamplesResponseSchema,
  type ListRunSamplesRequest,
  ListRunSamplesResponseSchema,
  type RunSample as WireSample,
  RunSampleSchema,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { type Feedback, FeedbackStatus } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { isMeant } from "../../samples/sample-filter.ts";
import type { HistoryPart } from "../../runs/history.ts";
import type { KeptSample } from "../../samples/kept-samples.ts";
import { type CompletionGroup as WireGroup, FinishReason } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { Keyring } from "../../tasks/keyring.ts";
import type { ScoredGroup } from "../../tasks/scoring/score-group.ts";
import { mintTaskId } from "../../tasks/task-id.ts";
import { inlineOf } from "../../tasks/task.ts";
import type { OpenTask } from "../../tasks/scoring/scorer.ts";
import { mapInSlices } from "../../base/time-slices.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import type { ServiceHandlers } from "../../base/rpc.ts";
import { pageToken, readPage, readPlace, readRunId, toCount } from "../request-checks.ts";
import { conversationOf, conversationToWire } from "../conversations.ts";
import type { ServiceDeps } from "../deps.ts";
import { okOrThrow } from "../to-rpc-error.ts";
import { keptToWire } from "./write-tasks.ts";
import { readFilter } from "./read-sample-filter.ts";
import { answerLine, outcomeToWire } from "../write-outcome.ts";

/**
 * Stores those completions of a group whose scores the run recorded. If the run records no scores, e.g. because its
 * trainer reports advantages, all scored completions are stored.
 */
export function keepGroup(
  { samples: kept, keyring }: Pick<ServiceDeps, "samples" | "keyring">,
  task: OpenTask,
  group: WireGroup,
  { samples }: ScoredGroup,
  feedback: readonly (Feedback | undefined)[] | undefined,
): void {
  const { token, groupId } = task;
  const { run } = token;
  if (kept.bytesMax === 0 || run === undefined) return;
  const { runId, incarnation, arm, cursor, evaluationRound } = run;
  const isKept = (i: number): boolean => !run.feedback || feedback?.[i]?.status === FeedbackStatus.RECORDED;
  // The id of a later turn begins in the middle of an episode, so the id of the episode's first turn is stored.
  const isFirst = group.taskId !== "" && token.episode === undefined;
  const taskId = isFirst ? group.taskId : firstTaskId(keyring, task);
  const toKeep = samples.flatMap(({ sampleIndex, result }, i) => {
    const completion = group.completions[i];
    if (completion === undefined || result.kind === "turn" || !isKept(i)) return [];
    const { text, policyVersion, tokens, finishReason } = completion;
    const index = feedback?.[i]?.sampleIndex ?? sampleIndex;
    const place = { taskId, groupId, index, incarnation, arm, cursor, evaluationRound, policyVersion, tokens };
    const conversation = conversationOf(completion);
    const isAlone = Object.keys(conversation).length === 0;
    const isCut = finishReason === FinishReason.LENGTH && ({ isCut: true } as const);
    return [{ ...place, completion: text, result, ...isCut, ...(!isAlone && { conversation }) }];
  });
  kept.keep(runId, toKeep);
}

/** Returns the id of a task before the first call of its episode. */
function firstTaskId(keyring: Keyring, { token: { episode: _, ...token }, scoring }: OpenTask): string {
  const inline = inlineOf(scoring.environment, token.key, scoring.instance);
  return mintTaskId(keyring, { ...token, ...(inline && { inline }) }).taskId;
}

type Handlers = Pick<ServiceHandlers<typeof CurriculumService>, "listRunSamples" | "deleteRunSamples">;

export function keptSampleHandlers(deps: ServiceDeps) {
  const { runs, samples: kept } = deps;
  return {
    async listRunSamples(request, { signal }) {
      const runId = readRunId(request);
      const { size: limit, after } = readPage(request, LIMITS.ListRunSamplesRequest.page_size);
      const [below] = readPlace(after, 1);
      const run = okOrThrow(await runs.get(runId));
      const { updateBatch } = request;
      const cursors = updateBatch === undefined ? undefined : await cursorsOf(deps, runId, updateBatch);
      const test = testOf(request, run, okOrThrow(await runs.incarnations(runId)), cursors);
      const { samples, next } = await kept.list(runId, { below, limit, test });
      const advantages = await advantagesOf(deps, runId, samples, signal);
      return create(ListRunSamplesResponseSchema, {
        samples: await Promise.all(
          await mapInSlices(samples, (sample) => toWire(deps, run, sample, request, advantages)),
        ),
        nextPageToken: isWholeGroup(deps, request, samples) ? "" : pageToken(next),
        kept: kept.bytesMax > 0,
      });
    },
    async deleteRunSamples(request) {
      const runId = readRunId(request);
      okOrThrow(await runs.get(runId));
      await kept.remove(runId);
      return create(DeleteRunSamplesResponseSchema);
    },
  } satisfies Handlers;
}

/**
 * Returns a function that tells whether a stored sample matches a request. Samples of a deleted run with the same id do
 * not match, because they have other incarnations.
 */
function testOf(
  request: ListRunSamplesRequest,
  run: RunView<TaskSpec>,
  ofRun: readonly string[],
  cursors: Cursors | undefined,
): (sample: KeptSample) => boolean {
  const filter = readFilter(request.filter);
  const { armId, groupId } = request;
  const incarnations = new Set(ofRun);
  return (sample) =>
    incarnations.has(sample.incarnation) &&
    (armId === "" || armOf(run, sample)?.id === armId) &&
    (groupId === "" || sample.groupId === groupId) &&
    (cursors === undefined || isIn(cursors, sample)) &&
    isMeant(filter, sample.completion, sample.result);
}

/** Cursors of an update batch's tasks: from `from`, and below `to`. */
interface Cursors {
  readonly from: number;
  readonly to: number;
}

/** Number of records of the history that are read at a time, which takes a few milliseconds. */
const RECORDS_READ = 256;

/** Returns the cursors of an update batch, from its record in the history. Without a record, the range is empty. */
async function cursorsOf({ runs }: ServiceDeps, runId: string, updateBatch: bigint): Promise<Cursors> {
  const batch = toCount(updateBatch, "update_batch");
  // Each update batch has a record of its own, so the record of batch k is at position k or later.
  let position: number | undefined = batch;
  while (position !== undefined) {
    const reading = { isByArm: false, isSentWhole: false };
    const page: HistoryPart = okOrThrow(await runs.history(runId, position, RECORDS_READ, reading));
    for (const record of page.items)
      if (record.kind === "batch" && !record.rolledBack && record.batch >= batch)
        return record.batch === batch ? { from: record.cursor, to: record.cursor + record.released } : NO_CURSORS;
    position = page.next;
  }
  return NO_CURSORS;
}

const NO_CURSORS: Cursors = { from: 0, to: 0 };

function isIn({ from, to }: Cursors, { cursor, evaluationRound }: KeptSample): boolean {
  return evaluationRound === undefined && cursor >= from && cursor < to;
}

/** Returns whether the request is for one group and `samples` has all of its samples, so that the search can end. */
function isWholeGroup(
  { scorer }: ServiceDeps,
  { groupId }: ListRunSamplesRequest,
  samples: readonly KeptSample[],
): boolean {
  const [first] = samples;
  if (first === undefined || groupId === "") return false;
  const task = scorer.open(first.taskId);
  return task.kind !== "none" && new Set(samples.map(({ index }) => index)).size === task.token.run?.numGenerations;
}

function armOf({ configNow }: RunView<TaskSpec>, { arm, evaluationRound }: KeptSample) {
  return evaluationRound === undefined ? configNow.arms[arm] : configNow.evaluationArms[arm];
}

interface Advantages {
  readonly rloo: number | undefined;
  readonly grpo: number | undefined;
}

/**
 * Key of a sample. It includes the run's incarnation, which changes at each import, because an import may put other
 * tasks at the same cursors.
 */
const keyOf = ({ incarnation, cursor }: GroupRef, index: number): string => `${incarnation} ${cursor} ${index}`;

/** Returns the advantages of samples, by keyOf. Only complete groups that the run still knows have advantages. */
async function advantagesOf(
  { runs }: ServiceDeps,
  runId: string,
  samples: readonly KeptSample[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Advantages>> {
  const refs = new Map<string, GroupRef>();
  for (const { groupId, incarnation, cursor, evaluationRound } of samples)
    if (evaluationRound === undefined) refs.set(groupId, { incarnation, cursor });
  if (refs.size === 0) return new Map();
  const wanted = { kind: "groups", refs: [...refs.values()] } as const;
  const found = await runs.groups(runId, { wanted, from: 0, limit: refs.size, waitMs: 0, signal });
  if (found.kind !== "ok") return new Map();
  return new Map(
    found.value.groups.flatMap(({ task, samples: all }) =>
      all.map(({ index, rloo, grpo }) => [keyOf(task, index), { rloo, grpo }] as const),
    ),
  );
}

async function toWire(
  deps: ServiceDeps,
  run: RunView<TaskSpec>,
  sample: KeptSample,
  { brief, tasks }: ListRunSamplesRequest,
  advantages: ReadonlyMap<string, Advantages>,
): Promise<WireSample> {
  const { number, atMs, taskId, groupId, index, cursor, evaluationRound, policyVersion, completion, result } = sample;
  const { conversation = {}, tokens, isCut } = sample;
  const outcome = outcomeToWire(index, result);
  // Samples of evaluation arms have no advantages. Their `cursor` counts within the arm, so keyOf could find another
  // sample.
  const { rloo, grpo } = (evaluationRound === undefined && advantages.get(keyOf(sample, index))) || {};
  if (rloo !== undefined) outcome.rlooAdvantage = rloo;
  if (grpo !== undefined) outcome.grpoAdvantage = grpo;
  const arm = armOf(run, sample);
  const task = tasks && arm !== undefined ? await keptToWire(deps, taskId, arm, run.configNow) : undefined;
  return create(RunSampleSchema, {
    number: BigInt(number),
    taskId,
    groupId,
    sampleIndex: index,
    armId: arm?.id ?? "",
    cursor: BigInt(cursor),
    ...(evaluationRound !== undefined && { evaluationRound: BigInt(evaluationRound) }),
    completion: brief ? "" : completion,
    answer: answerLine(completion, result),
    ...conversationToWire(conversation, brief),
    outcome,
    ...(policyVersion !== undefined && { policyVersion }),
    ...(tokens !== undefined && { tokens }),
    time: timestampFromMs(atMs),
    ...(isCut && { finishReason: FinishReason.LENGTH }),
    ...(task && { task }),
  });
}
