/** Scores the completions of an evaluation, or those that a run keeps, once more under other settings. */
import { create } from "@bufbuild/protobuf";
import { ListRunSamplesRequestSchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import {
  type Completion,
  type CompletionGroup,
  CompletionSchema,
  type ReissueResult,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import {
  type ListSamplesRequest,
  ListSamplesRequestSchema,
  type ListSamplesResponse,
  type RescoredGroup,
  RescoredGroupSchema,
  type RescoreRequest,
  type RescoreResponse,
  RescoreResponseSchema,
} from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { type Outcome, OutcomeSchema } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { codes, type CallContext, RpcError } from "../../base/rpc.ts";
import { keptSampleHandlers } from "../curriculum/run-samples.ts";
import type { ServiceDeps } from "../deps.ts";
import { scoreGroups } from "../environment/handlers.ts";
import { readSettings, reissueOne } from "../environment/reissue-handlers.ts";
import { invalid } from "../request-checks.ts";
import { okOrThrow } from "../to-rpc-error.ts";

/** Stored completion of a run or an evaluation. */
interface Stored {
  readonly taskId: string;
  readonly groupId: string;
  readonly armId: string;
  /** Hash of the task's instance. Undefined for a run. */
  readonly instanceHash?: string;
  readonly sampleIndex: number;
  readonly completion: string;
  readonly finishReason: Completion["finishReason"];
  readonly outcome?: Outcome | undefined;
}

/** Group whose completions are gathered from pages of samples, by their indices. */
interface Gathered {
  readonly first: Stored;
  readonly reissued: ReissueResult["result"];
  /** Number of completions of the whole group. */
  readonly size: number;
  readonly samples: Map<number, Stored>;
}

/** Number of samples that are read at a time. A response has at most as many groups. */
const PAGE = 256;

/**
 * Maximum length of the completions of incomplete groups that are held, in UTF-16 units. Beyond it, the groups that
 * came first are scored as they are, without advantages.
 */
const HELD_MAX = 32 * 1024 ** 2;

type ListSamples = (request: ListSamplesRequest) => Promise<ListSamplesResponse>;

export async function* rescore(
  deps: ServiceDeps,
  listSamples: ListSamples,
  { source, settings: asked, armIds }: RescoreRequest,
  context: CallContext,
): AsyncGenerator<RescoreResponse, void, undefined> {
  if (source.case === undefined) throw invalid("source", "must be set: evaluation_id or run_id");
  const settings = readSettings(asked);
  const isRun = source.case === "runId";
  const pages = isRun ? runPages(deps, source.value, context) : evaluationPages(listSamples, source.value);
  const open = new Map<string, Gathered>();
  const wanted = new Set(armIds);
  let [held, isEmpty] = [0, true];
  for await (const page of pages) {
    const size = isRun ? 0 : okOrThrow(await deps.evaluations.get(source.value)).samplesPerTask;
    for (const sample of page) {
      if (wanted.size > 0 && !wanted.has(sample.armId)) continue;
      isEmpty = false;
      const group = open.get(sample.groupId) ?? begun(sample, reissueOne(deps, sample.taskId, settings), size);
      open.set(sample.groupId, group);
      // A run that takes reported advantages may have scored a sample more than once. The newest comes first.
      if (group.samples.has(sample.sampleIndex)) continue;
      group.samples.set(sample.sampleIndex, sample);
      held += sample.completion.length;
    }
    const full: Gathered[] = [];
    for (const [id, group] of open) {
      if (group.samples.size < group.size && held <= HELD_MAX) continue;
      for (const { completion } of group.samples.values()) held -= completion.length;
      full.push(group);
      open.delete(id);
    }
    if (full.length > 0) yield await scored(deps, full, context);
  }
  if (wanted.size > 0 && isEmpty) throw invalid("arm_ids", "there are no completions of these arms or parts");
  const rest = [...open.values()];
  for (let at = 0; at < rest.length; at += PAGE) yield await scored(deps, rest.slice(at, at + PAGE), context);
}

function begun(first: Stored, { result: reissued }: ReissueResult, size: number): Gathered {
  if (reissued.case === "failure" && reissued.value.code === codes.INVALID_ARGUMENT) {
    const { message } = reissued.value;
    throw new RpcError("INVALID_ARGUMENT", message, { field: message.slice(0, message.indexOf(":")) });
  }
  const ofRun = reissued.case === "task" ? reissued.value.numGenerations : 0;
  return { first, reissued, size: Math.max(size, ofRun, 1), samples: new Map() };
}

async function scored(deps: ServiceDeps, all: readonly Gathered[], context: CallContext): Promise<RescoreResponse> {
  const groups = all.map(toGroup);
  const able = groups.flatMap((to, i) => (to.missing === "" ? [{ to, request: requestOf(to, all[i]!) }] : []));
  const requests = able.map(({ request }) => request);
  const outcomes = requests.length === 0 ? [] : await scoreGroups(deps, requests, context);
  for (const [i, { to }] of able.entries()) to.outcome = outcomes[i];
  return create(RescoreResponseSchema, { groups });
}

const EPISODE = "its completions end episodes of several calls, which are not stored whole";

function toGroup(group: Gathered): RescoredGroup {
  const { first, reissued } = group;
  const { taskId, armId, instanceHash = "" } = first;
  const of = { taskId, armId, instanceHash };
  const before = inOrder(group).map(({ sampleIndex, outcome }) => outcome ?? create(OutcomeSchema, { sampleIndex }));
  if (reissued.case !== "task")
    return create(RescoredGroupSchema, { ...of, before, missing: reissued.value?.message ?? "it has no task" });
  const { value: task } = reissued;
  return create(RescoredGroupSchema, { ...of, before, task, missing: task.callsMax > 0 ? EPISODE : "" });
}

function requestOf({ task }: RescoredGroup, group: Gathered): CompletionGroup {
  const { taskId = "", groupId = "" } = task ?? {};
  const completions = inOrder(group).map(({ sampleIndex, completion: text, finishReason }) =>
    create(CompletionSchema, { sampleIndex, text, finishReason }),
  );
  const numGenerations = Math.max(group.size, completions.length);
  return { $typeName: "gradus.v1.CompletionGroup", taskId, groupId, completions, numGenerations };
}

function inOrder({ samples }: Gathered): readonly Stored[] {
  return [...samples.values()].sort((a, b) => a.sampleIndex - b.sampleIndex);
}

async function* runPages(deps: ServiceDeps, runId: string, context: CallContext): AsyncGenerator<readonly Stored[]> {
  const handlers = keptSampleHandlers(deps);
  let pageToken = "";
  do {
    const request = create(ListRunSamplesRequestSchema, { runId, pageSize: PAGE, pageToken });
    const { samples, nextPageToken } = await handlers.listRunSamples(request, context);
    yield samples;
    pageToken = nextPageToken;
  } while (pageToken !== "");
}

async function* evaluationPages(listSamples: ListSamples, evaluationId: string): AsyncGenerator<readonly Stored[]> {
  let pageToken = "";
  do {
    const request = create(ListSamplesRequestSchema, { evaluationId, pageSize: PAGE, pageToken });
    const { samples, nextPageToken } = await listSamples(request);
    yield samples.map(({ task, part, ...sample }) => {
      const { taskId = "", groupId = "", instanceHash = "" } = task ?? {};
      return { ...sample, taskId, groupId, instanceHash, armId: part };
    });
    pageToken = nextPageToken;
  } while (pageToken !== "");
}
