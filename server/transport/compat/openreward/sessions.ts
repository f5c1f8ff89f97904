/**
 * Sessions of OpenReward's clients. A client sends its session's id with each request and cannot carry state, so a
 * store has one row for each session: the task, and the task id for the next call. Any server that shares the store can
 * answer.
 */
import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { locateAnswers } from "../../../../envs/answers/locate.ts";
import { wrapAnswer } from "../../../../envs/answers/wording.ts";
import {
  BatchStepRequestSchema,
  CompletionSchema,
  type Environment,
  FinishReason,
  GetEnvironmentRequestSchema,
} from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { OutcomeSchema } from "../../../../proto/gen/gradus/v1/outcome_pb.js";
import { TaskSchema, type Tool } from "../../../../proto/gen/gradus/v1/task_pb.js";
import { callerName } from "../../../base/fair-turns.ts";
import { type CallContext, RpcError } from "../../../base/rpc.ts";
import type { SessionStore } from "../../../stores/session-store.ts";
import { advance, begin, type Context, type Episode, type Handlers, unscored, type Written } from "../episode.ts";
import type { Choice } from "../read-task-choice.ts";
import type { ToolCall } from "./message.ts";
import { type Prompt, type Refused, refused, resultOf, SUBMIT, toolSpec } from "./write.ts";

/** Maximum number of sessions of one caller, and the time after which an unused session ends. */
const LIMITS = { callerMax: 4096, idleMs: 15 * 60_000 } as const;
/** Maximum number of characters of a session's task, with its prompt. */
const TASK_LENGTH_MAX = 64 * 1024;
/**
 * Minimum time, in milliseconds, between two writes of the time at which a session was last used. Clients send a ping
 * every 10 s.
 */
const TOUCH_MS = 60_000;

type Format = Parameters<typeof wrapAnswer>[1];
type Thinking = NonNullable<Parameters<typeof wrapAnswer>[3]>;

/** Part of a session that never changes. */
interface KeptTask {
  readonly groupId: string;
  readonly sampleIndex: number;
  readonly sampleKey?: string;
  readonly prompt: Prompt;
  readonly tools: readonly JsonObject[];
  readonly format: Format;
  readonly thinking: Thinking;
  readonly hasTurns: boolean;
  /**
   * Whether score_group may score completions of the task. False for tasks with turns, and for tasks of a run, which
   * would record the scores a second time.
   */
  readonly isScorable: boolean;
}

/** Part of a session that each call changes. */
interface State {
  /** Number of calls so far. */
  readonly calls: number;
  /** Task id of the next call. Null: the episode is over. */
  readonly taskId: string | null;
  /** Task id that the last call used, so that a client that lost the result can repeat the call. */
  readonly before?: string | null;
}

export interface Session {
  readonly id: string;
  readonly version: number;
  readonly task: KeptTask;
  readonly state: State;
}

/** Result of a call of a tool in OpenReward's form. */
export interface Played {
  readonly result: JsonObject;
  /** Restores the session as it was before the call. Called if the client did not get the result. */
  readonly undo: () => void;
}

export function createSessions(store: SessionStore, handlers: Handlers) {
  const inOrder = createOrder();

  const find = async (id: string, context: CallContext): Promise<Session> => {
    const stored = await store.find(id);
    if (stored === undefined || stored.caller !== nameOf(context) || stored.idleMs > LIMITS.idleMs) throw gone();
    if (stored.idleMs > TOUCH_MS) await store.touch(id);
    const { version, task, state } = stored;
    return { id, version, task: JSON.parse(task) as KeptTask, state: JSON.parse(state) as State };
  };

  return {
    find,
    /** Begins a session. A client that did not get the answer may send the same request again. */
    async create(id: string, choice: Choice, context: Context): Promise<void> {
      const episode = await begin(handlers, await withTools(handlers, choice, context), context);
      const kept = JSON.stringify(keptOf(id, choice, episode));
      if (kept.length > TASK_LENGTH_MAX)
        throw new RpcError(
          "FAILED_PRECONDITION",
          `the task has ${kept.length} characters, and a session's at most ${TASK_LENGTH_MAX}: ask for a smaller one`,
        );
      const state = encoded({ calls: 0, taskId: episode.task.taskId });
      const session = { id, caller: nameOf(context), task: kept, state };
      if ((await store.open(session, LIMITS)) === "opened") return;
      const stored = await store.find(id);
      if (stored?.caller !== session.caller || stored.task !== kept)
        throw new RpcError("FAILED_PRECONDITION", "the session has another task already: create another session");
    },
    /**
     * Carries out a call. `onNumber` gets the call's number in the session, with which the client may request the
     * result again.
     */
    play: (id: string, call: ToolCall, context: Context, onNumber: (number: number) => void): Promise<Played> =>
      inOrder(id, async () => play({ store, handlers }, await find(id, context), { call, context, onNumber })),
    score: (session: Session, texts: readonly string[], context: Context) => score(handlers, session, texts, context),
    async remove(id: string, context: CallContext): Promise<void> {
      const stored = await store.find(id);
      if (stored?.caller === nameOf(context)) await store.remove(id);
    },
  };
}

interface Asked {
  readonly call: ToolCall;
  readonly context: Context;
  readonly onNumber: (number: number) => void;
}

async function play(
  { store, handlers }: { readonly store: SessionStore; readonly handlers: Handlers },
  { id, version, task, state }: Session,
  { call, context, onNumber }: Asked,
): Promise<Played> {
  const number = call.number ?? state.calls;
  const taskId = number === state.calls ? state.taskId : number === state.calls - 1 ? state.before : undefined;
  if (taskId === undefined)
    throw new RpcError(
      "FAILED_PRECONDITION",
      "task_id: this is neither the session's last call nor its next one: create another session",
    );
  onNumber(number);
  if (taskId === null) return unplayed(refused("the session is finished: create another one", "episode_finished"));
  const written = writtenFor(task, call);
  if ("ok" in written) return unplayed(written);
  const moved = await advance(handlers, episodeOf(task, taskId), written, context);
  // If the client has left, its call did not happen.
  if (context.signal.aborted) throw new RpcError("CANCELLED", "the caller left before the answer");
  const next = moved.kind === "turn" ? moved.turn.taskId : null;
  if (!(await store.save(id, version, encoded({ calls: number + 1, taskId: next, before: taskId }))))
    throw new RpcError("UNAVAILABLE", "another call of the session came first: try again", { retryDelayMs: 100 });
  const undo = (): void => void store.save(id, version + 1, encoded(state)).catch(() => undefined);
  return { result: resultOf(moved), undo };
}

const encoded = (state: State): string => JSON.stringify(state);
const unplayed = (result: JsonObject): Played => ({ result, undo: () => undefined });

/** Scores completions of a session's task together. Throws RpcError if one of them has no reward. */
async function score(
  handlers: Handlers,
  { task, state }: Session,
  texts: readonly string[],
  context: Context,
): Promise<readonly JsonObject[]> {
  if (!task.isScorable)
    throw new RpcError(
      "UNIMPLEMENTED",
      "tasks of several calls, and those of runs, are scored by their sessions alone",
    );
  const taskId = state.before ?? state.taskId ?? "";
  const completions = texts.map((each, sampleIndex) =>
    create(CompletionSchema, { sampleIndex, text: completionOf(task, each), finishReason: FinishReason.STOP }),
  );
  const request = create(BatchStepRequestSchema, { groups: [{ taskId, groupId: task.groupId, completions }] });
  const { groups } = await handlers.batchStep(request, context);
  return (groups[0]?.outcomes ?? []).map((outcome) => {
    const { result } = outcome;
    if (result.case !== "score") throw unscored(result.case === "noReward" ? result.value : undefined);
    return { reward: result.value.reward, metadata: { outcome: toJson(OutcomeSchema, outcome, SNAKE) } };
  });
}

const SNAKE = { useProtoFieldName: true } as const;
const nameOf = ({ caller, peer }: CallContext): string => callerName(caller, peer);

function gone(): RpcError {
  const minutes = LIMITS.idleMs / 60_000;
  return new RpcError(
    "NOT_FOUND",
    `there is no such session: it was not created, was deleted, was not used for ${minutes} minutes, or made room for newer ones`,
  );
}

/** Returns a function that runs work. Pieces of work with the same key run one after the other. */
function createOrder() {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const result = (last.get(key) ?? Promise.resolve()).then(work);
    const ended = result.catch(() => undefined);
    last.set(key, ended);
    try {
      return await result;
    } finally {
      if (last.get(key) === ended) last.delete(key);
    }
  };
}

/** Gives a task with turns all tools of its environment, unless the client chose some. */
async function withTools(handlers: Handlers, choice: Choice, context: Context): Promise<Choice> {
  const spec = choice.kind === "seed" ? choice.request.spec : undefined;
  if (spec === undefined || spec.tools.length > 0) return choice;
  const environment = await environmentOf(handlers, spec.environment, context);
  spec.tools = toolsByDefault(environment).map(({ name }) => name);
  return choice;
}

/** Returns the tools that tasks of an environment have if the client chooses none. */
export function toolsByDefault({ calls, tools }: Environment): readonly Tool[] {
  return calls > 0 ? tools : [];
}

export async function environmentOf(handlers: Handlers, id: string, context: Context): Promise<Environment> {
  const { environment } = await handlers.getEnvironment(create(GetEnvironmentRequestSchema, { id }), context);
  if (environment === undefined) throw new Error("bug: GetEnvironment answered without an environment");
  return environment;
}

function keptOf(id: string, { kind, sampleIndex }: Choice, { task }: Episode): KeptTask {
  const { answer_format: format, thinking } = toJson(TaskSchema, task, SNAKE) as Readonly<Record<string, string>>;
  const named = (value = "", prefix: string) => value.slice(prefix.length).toLowerCase();
  return {
    groupId: task.groupId,
    sampleIndex,
    // The client does not know which sample of a run's group its completion is. So the session's id serves as the
    // sample's key, and the run chooses the index.
    ...(kind === "run" && { sampleKey: id }),
    prompt: task.prompt.map(({ role, content }) => ({ role, content })),
    tools: task.tools.map(toolSpec),
    format: named(format, "ANSWER_FORMAT_") as Format,
    thinking: named(thinking, "THINKING_") as Thinking,
    hasTurns: task.callsMax > 0,
    isScorable: task.callsMax === 0 && kind === "seed",
  };
}

function episodeOf({ groupId, sampleIndex, sampleKey }: KeptTask, taskId: string) {
  return { task: { taskId, groupId }, sampleIndex, ...(sampleKey !== undefined && { sampleKey }) };
}

/** Returns the completion that a call of a tool stands for, or the result that refuses the call. */
function writtenFor(task: KeptTask, { name, inputJson, answer }: ToolCall): Written | Refused {
  const finishReason = FinishReason.STOP;
  if (name === SUBMIT.name)
    return answer === undefined
      ? refused("answer: must be a text", "input_validation")
      : { completion: completionOf(task, answer), finishReason };
  if (!task.hasTurns)
    return refused(`there is no tool '${name.slice(0, 64)}': the task has the tool ${SUBMIT.name}`, "not_found");
  return { completion: "", finishReason, toolCalls: [{ name, argumentsJson: inputJson }] };
}

/**
 * Returns a completion with the answer in the task's answer format. A text that is already in that format is returned
 * unchanged.
 */
export function completionOf({ format, thinking }: Pick<KeptTask, "format" | "thinking">, answer: string): string {
  const { problem } = locateAnswers(answer, format, thinking);
  return problem === undefined ? answer : wrapAnswer(answer, format, "", thinking);
}
