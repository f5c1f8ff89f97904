/**
 * Plays completions of an episode: reads their calls, carries them out one by one, and scores the episode when it ends.
 * A completion of k calls equals k completions of one call each.
 */
import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { locateAnswers, trusting } from "../answers/locate.ts";
import { stripAnswer } from "../answers/strip.ts";
import { type Facts, type Findings, malformed } from "../facts.ts";
import { assertNever } from "../lib/assert-never.ts";
import { hashKey, type Rng, rngFor } from "../lib/rng.ts";
import { gradeOf, isSolved, ratioOf, type ScoreTask } from "../score.ts";
import { scoreEpisode, type EpisodeEnd } from "./score-episode.ts";
import { hermesCalls, readObject, type ToolCall, type WrittenCall } from "./read-calls.ts";
import {
  type Action,
  type Episode,
  logBytes,
  type LoggedCall,
  type Reply,
  type Standing,
  type Turns,
} from "./turns.ts";

/** Task with turns, and the sample that plays it. */
export interface EpisodeTask extends ScoreTask {
  /** Maximum number of calls. */
  readonly calls: number;
  /** Names of the tools that the policy may call. */
  readonly tools: readonly string[];
  /** Parts of the random seed that name the task and the sample. */
  readonly seed: readonly (string | number)[];
}

/** Completion of a policy, and what its trainer says of it. */
export interface PolicyMessage {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** Whether the text may hold calls in the form of Hermes. */
  readonly isHermes: boolean;
  /** Whether the text reached its maximum length. None of its calls is then made, because the last may be half a call. */
  readonly isCut: boolean;
  /** Whether the trainer ends the episode after this message. */
  readonly ends: boolean;
}

export type Played =
  | {
      readonly kind: "turn";
      readonly episode: Episode;
      /** Replies, one for each call that was made. */
      readonly messages: readonly Reply[];
      /** Sum of the calls' rewards. Undefined: none has a reward of its own. */
      readonly reward: number | undefined;
    }
  | ({ readonly kind: "over" } & EpisodeEnd);

const FIRST: Episode = { calls: 0, state: undefined, log: [], standing: undefined, digest: "" };

/** Plays a completion. `begun` is the episode after its earlier calls; undefined: this is the first completion. */
export function play(task: EpisodeTask, begun: Episode | undefined, message: PolicyMessage): Played {
  const turns = turnsOf(task);
  let episode = begun ?? FIRST;
  const end = (stop: EpisodeEnd["stop"], last?: Called): Played => {
    const digest = last === undefined ? chained(episode, stop, message.text) : episode.digest;
    return { kind: "over", ...scoreEpisode(task, episode, stop, last?.findings), digest };
  };
  if (message.isCut) return end("truncated");
  let state = presentState(task, turns, episode);
  const messages: Reply[] = [];
  let reward: number | undefined;
  for (const written of callsOf(message, task, episode.calls)) {
    const called = makeCall(task, turns, episode, state, written);
    ({ episode, state } = called);
    messages.push(called.message);
    if (called.message.reward !== undefined) reward = (reward ?? 0) + called.message.reward;
    if (called.isOver) return end("goal", called);
    if (episode.calls >= task.calls) return end("budget", called);
  }
  return message.ends ? end("ended") : { kind: "turn", episode, messages, reward };
}

export function turnsOf({ environment }: Pick<ScoreTask, "environment">): Turns<unknown> {
  if (environment.turns === undefined) throw new Error(`bug: tasks of ${environment.id} have no turns`);
  return environment.turns;
}

/** Yields the calls of a message, as they are needed. An empty message that ends the episode makes none. */
function* callsOf({ text, toolCalls, isHermes, ends }: PolicyMessage, task: EpisodeTask, made: number) {
  let count = 0;
  for (const call of toolCalls) {
    count++;
    yield { kind: "tool", ...call } as const;
  }
  if (count === 0 && isHermes)
    for (const call of hermesCalls(text, task.thinking ?? "required", made)) {
      count++;
      yield call;
    }
  if (count === 0 && !(ends && text === "")) yield { kind: "answer", text } as const;
}

type AnyCall = WrittenCall | { readonly kind: "answer"; readonly text: string };

/** A call that was made. */
interface Called {
  readonly episode: Episode;
  readonly state: Message;
  readonly message: Reply;
  readonly isOver: boolean;
  /** Facts, or the reason why the call could not be read. Undefined: the call has no worth. */
  readonly findings: Findings | undefined;
}

function makeCall(task: EpisodeTask, turns: Turns<unknown>, before: Episode, state: Message, call: AnyCall): Called {
  const number = before.calls;
  const digest = chained(before, ...partsOf(call));
  const read = readCall(task, turns, call, number);
  if (read.kind === "bad") {
    const episode = { ...before, calls: number + 1, digest };
    const message = replyTo(call, read.reason);
    return { episode, state, message, isOver: false, findings: malformed(read.reason) };
  }
  const rng = lazyRng("turn", task.environment.id, task.environment.version, ...task.seed, number);
  const {
    reply,
    state: next,
    over = false,
    facts,
  } = turns.advance(task.instance, state, read.action, rng, task.baseline);
  const priced = facts && worthOf(task, before.standing, facts, number, read.formatValid);
  const episode: Episode = {
    calls: number + 1,
    ...shorter(turns, before, next, read.logged),
    standing: priced?.standing ?? before.standing,
    digest,
  };
  const message = { ...replyTo(call, reply), ...(priced && { reward: priced.reward }) };
  return { episode, state: next, message, isOver: over, findings: facts };
}

/** Returns the next link of the chain of hashes over all calls. */
function chained({ digest }: Episode, ...parts: readonly string[]): string {
  return hashKey("call", digest, ...parts).slice(0, 12);
}

function partsOf(call: AnyCall): readonly string[] {
  return call.kind === "tool" ? [call.kind, call.name, call.argumentsJson] : [call.kind, call.text];
}

const NAME_SHOWN_MAX = 64;

function replyTo(call: AnyCall, content: string): Reply {
  if (call.kind === "answer") return { role: "user", content, toolCallId: "", name: "" };
  return { role: "tool", content, toolCallId: call.id, name: call.name.slice(0, NAME_SHOWN_MAX) };
}

type ReadCall =
  | {
      readonly kind: "action";
      readonly action: Action;
      readonly logged: LoggedCall;
      /** Whether an answer is marked as its format asks. */
      readonly formatValid: boolean;
    }
  | { readonly kind: "bad"; readonly reason: string };

function readCall(task: EpisodeTask, turns: Turns<unknown>, call: AnyCall, number: number): ReadCall {
  switch (call.kind) {
    case "bad":
      return call;
    case "tool":
      return readToolCall(task, turns, call, number);
    case "answer": {
      const located = trusting(locateAnswers(call.text, task.format, task.thinking));
      if (located.problem !== undefined) return bad(`The message has no answer: ${located.problem}.`);
      const { verbatim, answerNames } = task.environment;
      const text = verbatim === true ? `${located.answer}` : stripAnswer(`${located.answer}`, answerNames);
      const tooLong = whyTooLong("answer", text, turns);
      if (tooLong !== undefined) return tooLong;
      const logged = { number, tool: 0, text };
      return { kind: "action", action: { kind: "answer", number, text }, logged, formatValid: located.formatValid };
    }
    default:
      return assertNever(call);
  }
}

function readToolCall(
  { tools }: EpisodeTask,
  turns: Turns<unknown>,
  { name, argumentsJson: text }: ToolCall,
  number: number,
): ReadCall {
  const tool = turns.tools.findIndex((each) => each.name === name) + 1;
  if (tool === 0 || !tools.includes(name)) {
    const there = tools.length === 0 ? "there are no tools" : `the tools are: ${tools.join(", ")}`;
    return bad(`There is no tool '${name.slice(0, NAME_SHOWN_MAX)}': ${there}.`);
  }
  const tooLong = whyTooLong("arguments", text, turns);
  if (tooLong !== undefined) return tooLong;
  const read = readObject(text);
  if (read.kind === "bad") return bad(`The text of the arguments ${read.reason}.`);
  const action = { kind: "tool", number, name, arguments: read.value } as const;
  return { kind: "action", action, logged: { number, tool, text }, formatValid: true };
}

function bad(reason: string): Extract<ReadCall, { kind: "bad" }> {
  return { kind: "bad", reason };
}

function whyTooLong(part: string, text: string, { actionBytesMax }: Turns<unknown>) {
  const isShort = text.length * 3 <= actionBytesMax || Buffer.byteLength(text) <= actionBytesMax;
  return isShort ? undefined : bad(`The text of the ${part} is longer than ${actionBytesMax} bytes, the limit.`);
}

/** Returns the call as it was read before. */
function actionOf({ tools }: Turns<unknown>, { number, tool, text }: LoggedCall): Action {
  if (tool === 0) return { kind: "answer", number, text };
  const name = tools[tool - 1]?.name ?? "";
  const read = readObject(text);
  return { kind: "tool", number, name, arguments: read.kind === "ok" ? read.value : {} };
}

/** Returns the present state: the stored one, after the calls of the log. */
function presentState(task: EpisodeTask, turns: Turns<unknown>, { state: stored, log }: Episode): Message {
  const { environment, instance, seed, baseline } = task;
  let state = stored === undefined ? turns.start(instance) : fromBinary(turns.schema, stored);
  for (const logged of log) {
    const rng = lazyRng("turn", environment.id, environment.version, ...seed, logged.number);
    state = turns.advance(instance, state, actionOf(turns, logged), rng, baseline).state;
  }
  return state;
}

/** Returns the shorter one of the new state, and the stored state with the calls since. */
function shorter(
  { schema }: Turns<unknown>,
  { state: stored, log }: Episode,
  next: Message,
  logged: LoggedCall,
): Pick<Episode, "state" | "log"> {
  const longer = [...log, logged];
  const state = toBinary(schema, next);
  return state.length <= (stored?.length ?? 0) + logBytes(longer) ? { state, log: [] } : { state: stored, log: longer };
}

/** Returns the reward of a call, and the return so far. */
function worthOf(
  task: EpisodeTask,
  before: Standing | undefined,
  facts: Facts,
  call: number,
  formatValid: boolean,
): { readonly reward: number; readonly standing: Standing | undefined } {
  const { environment, baseline } = task;
  const { scheme, parameters } = task.scheme;
  if (scheme.fold === undefined) throw new Error(`bug: reward scheme '${scheme.name}' defines no return`);
  const priced = { goal: environment.goal, findings: facts, formatValid, baseline, parameters };
  const { reward } = scheme.price({ ...priced, trivial: undefined, tidiness: undefined });
  const { value, isTaken } = scheme.fold(before?.value, reward, call, parameters);
  if (!isTaken) return { reward, standing: before };
  const objective = facts.kind === "feasible" ? facts.objective : undefined;
  const solved = isSolved(task, facts);
  const quality = ratioOf(task, objective) ?? (facts.kind === "graded" ? gradeOf(task, facts) : Number(solved));
  return { reward, standing: { value, verdict: facts.kind, objective, quality, solved } };
}

/** Returns a generator that is made when it is first used, because most calls use none. */
function lazyRng(...key: readonly (string | number)[]): Rng {
  let made: Rng | undefined;
  const rng = (): Rng => (made ??= rngFor(...key));
  return {
    int: (min, max) => rng().int(min, max),
    float: () => rng().float(),
    pick: (items) => rng().pick(items),
    shuffle: (items) => rng().shuffle(items),
  };
}

/** Returns the sentences of a prompt that explain the calls of its task. */
export function callsInstruction(calls: number, tools: readonly string[]): string {
  const budget = `You have up to ${calls} ${calls === 1 ? "call" : "calls"}.`;
  const answers = "Each message with an answer is one, and gets a reply until the task is over.";
  if (tools.length === 0) return `${budget} ${answers}`;
  return `${budget} Each call of a tool (${tools.join(", ")}) is one, and gets a reply until the task is over. A message without a call of a tool counts as a call too.`;
}
