/**
 * Plays completions of a task with several turns (an episode): reads the calls in them, carries out each call, and
 * scores the episode when it ends.
 *
 * A completion with several calls has the same effect as several completions with one call each.
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

/** A task with several turns, and the sample of it that is played. */
export interface EpisodeTask extends ScoreTask {
  /** Maximum number of calls in the episode. */
  readonly calls: number;
  /** Names of the tools that the policy may call. */
  readonly tools: readonly string[];
  /** Values that identify the task and the sample. The random numbers of the episode are derived from them. */
  readonly seed: readonly (string | number)[];
}

/** A completion of a policy, with what the trainer says about it. */
export interface PolicyMessage {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** Whether calls are read from the text in the Hermes format, i.e. JSON between <tool_call> tags. */
  readonly isHermes: boolean;
  /**
   * Whether the text reached its maximum length. Then no call in it is carried out, because the last one may be
   * incomplete.
   */
  readonly isCut: boolean;
  /** Whether the trainer ends the episode with this message. */
  readonly ends: boolean;
}

export type Played =
  | {
      readonly kind: "turn";
      readonly episode: Episode;
      /** Replies to the policy, one for each call of the completion. */
      readonly messages: readonly Reply[];
      /** Sum of the rewards of the completion's calls. Undefined: none of them has a reward of its own. */
      readonly reward: number | undefined;
    }
  | ({ readonly kind: "over" } & EpisodeEnd);

const FIRST: Episode = { calls: 0, state: undefined, log: [], standing: undefined, digest: "" };

/**
 * Plays a completion. `begun` is the episode as earlier completions left it. Undefined: this completion is the first.
 */
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

/**
 * Yields the calls of a completion one by one. An empty completion that ends the episode has no calls; any other text
 * without tool calls counts as an answer.
 */
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

/** Result of carrying out one call. */
interface Called {
  readonly episode: Episode;
  readonly state: Message;
  readonly message: Reply;
  readonly isOver: boolean;
  /** Facts that the call established, or why it could not be read. Undefined: the call gets no reward of its own. */
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

/** Returns the episode's digest after one more call: a hash of the digest before it and the call. */
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
      /** Whether the answer is marked as the answer format demands. */
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

/** Returns the logged call in the form in which the environment takes it. */
function actionOf({ tools }: Turns<unknown>, { number, tool, text }: LoggedCall): Action {
  if (tool === 0) return { kind: "answer", number, text };
  const name = tools[tool - 1]?.name ?? "";
  const read = readObject(text);
  return { kind: "tool", number, name, arguments: read.kind === "ok" ? read.value : {} };
}

/** Returns the current state of the episode. Computes it from the stored state by repeating the logged calls. */
function presentState(task: EpisodeTask, turns: Turns<unknown>, { state: stored, log }: Episode): Message {
  const { environment, instance, seed, baseline } = task;
  let state = stored === undefined ? turns.start(instance) : fromBinary(turns.schema, stored);
  for (const logged of log) {
    const rng = lazyRng("turn", environment.id, environment.version, ...seed, logged.number);
    state = turns.advance(instance, state, actionOf(turns, logged), rng, baseline).state;
  }
  return state;
}

/**
 * Chooses how to store the state after a call, in fewer bytes: the state itself, or the state stored before with one
 * more logged call.
 */
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

/** Returns the reward of a call, and the episode's return after it. */
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

/** Returns a random number generator that is created at its first use, because most calls need none. */
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

/** Returns the sentences of a prompt that tell how many calls the task allows and what counts as a call. */
export function callsInstruction(calls: number, tools: readonly string[]): string {
  const budget = `You have up to ${calls} ${calls === 1 ? "call" : "calls"}.`;
  const answers = "Each message with an answer is one, and gets a reply until the task is over.";
  if (tools.length === 0) return `${budget} ${answers}`;
  return `${budget} Each call of a tool (${tools.join(", ")}) is one, and gets a reply until the task is over. A message without a call of a tool counts as a call too.`;
}
