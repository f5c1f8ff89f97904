/**
 * Plays completions of a task with several turns (an episode): reads the calls in them, carries out each call, and
 * scores the episode when it ends.
 *
 * A completion with several calls has the same effect as several completions with one call each.
 */
import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { type Facts, type Failed, type Findings, malformed } from "../facts.ts";
import { hashKey, type Rng, rngFor } from "../lib/rng.ts";
import { type AnyScoreTask, gradeOf, isSolved, ratioOf } from "../score.ts";
import { actionOf, type AnyCall, callsOf, type PolicyMessage, readCall, replyTo } from "./read-action.ts";
import { scoreEpisode, type EpisodeEnd } from "./score-episode.ts";
import {
  type Advanced,
  type AnyTurns,
  type Episode,
  logBytes,
  type LoggedCall,
  type Question,
  type Reply,
  type ReplyDetail,
  type Standing,
} from "./turns.ts";

/** A task with several turns, and the settings for playing one of its samples. */
export interface EpisodeTask extends AnyScoreTask {
  /** Maximum number of calls in the episode. */
  readonly calls: number;
  /** Names of the tools that the policy may call. */
  readonly tools: readonly string[];
  /** How much a reply to an answer tells about the answer. Defaults to "distance". */
  readonly detail?: ReplyDetail;
  /** Values that identify the task and the sample. The random numbers of the episode are derived from them. */
  readonly seed: readonly (string | number)[];
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
 * Plays a completion of a task whose calls need no external resource. `begun` is the episode as earlier
 * completions left it. Undefined: this completion is the first.
 */
export function play(task: EpisodeTask, begun: Episode | undefined, message: PolicyMessage): Played {
  const played = playing(task, begun, message).next();
  if (played.done !== true)
    throw new Error(`bug: a call of ${task.environment.id} asks a resource, but the environment has none`);
  return played.value;
}

/**
 * Plays a completion of a task whose calls may ask a resource (an external service). `ask` asks one question at a time.
 * If it fails, the failure is returned, and the same completion may be played again.
 */
export async function playAsking(
  task: EpisodeTask,
  begun: Episode | undefined,
  message: PolicyMessage,
  ask: (question: Question<Message>) => Promise<Advanced<Message> | Failed>,
): Promise<Played | Failed> {
  const going = playing(task, begun, message);
  let step = going.next();
  while (step.done !== true) {
    const advanced = await ask(step.value);
    if ("kind" in advanced) return advanced;
    step = going.next(advanced);
  }
  return step.value;
}

/**
 * Generator that plays a completion. It yields each question to a resource, and receives the result before it
 * continues.
 */
type Going<Result> = Generator<Question<Message>, Result, Advanced<Message>>;

function* playing(task: EpisodeTask, begun: Episode | undefined, message: PolicyMessage): Going<Played> {
  const turns = turnsOf(task);
  let episode = begun ?? FIRST;
  const end = (stop: EpisodeEnd["stop"], last?: Called): Played => {
    // Hash the text of a truncated completion, because none of its calls is made. Otherwise the calls, which are hashed
    // already, suffice: the same calls have the same effect whatever text surrounds them.
    const unmade = stop === "truncated" ? [message.text] : [];
    const digest = last === undefined ? chained(episode, stop, ...unmade) : episode.digest;
    return { kind: "over", ...scoreEpisode(task, episode, stop, last?.findings), digest };
  };
  if (message.isCut) return end("truncated");
  let state = presentState(task, turns, episode);
  const messages: Reply[] = [];
  let reward: number | undefined;
  for (const written of callsOf(message, task, episode.calls)) {
    const called = yield* makeCall(task, turns, episode, state, written);
    ({ episode, state } = called);
    messages.push(called.message);
    if (called.message.reward !== undefined) reward = (reward ?? 0) + called.message.reward;
    if (called.isOver) return end("goal", called);
    if (episode.calls >= task.calls) return end("budget", called);
  }
  return message.ends ? end("ended") : { kind: "turn", episode, messages, reward };
}

export function turnsOf({ environment }: Pick<AnyScoreTask, "environment">): AnyTurns {
  if (environment.turns === undefined) throw new Error(`bug: tasks of ${environment.id} have no turns`);
  return environment.turns;
}

/** Result of carrying out one call. */
interface Called {
  readonly episode: Episode;
  readonly state: Message;
  readonly message: Reply;
  readonly isOver: boolean;
  /** Facts that the call established, or why it could not be read. Undefined: the call gets no reward of its own. */
  readonly findings: Findings | undefined;
}

function* makeCall(task: EpisodeTask, turns: AnyTurns, before: Episode, state: Message, call: AnyCall): Going<Called> {
  const number = before.calls;
  const digest = chained(before, ...partsOf(call, turns));
  const read = readCall(task, turns, call, number);
  if (read.kind === "bad") {
    const episode = { ...before, calls: number + 1, digest };
    const message = replyTo(call, read.reason);
    return { episode, state, message, isOver: false, findings: malformed(read.reason) };
  }
  const rng = lazyRng("turn", task.environment.id, task.environment.version, ...task.seed, number);
  const result = turns.advance(task.instance, state, read.action, rng, task.baseline, task.detail);
  const { reply, state: next, over = false, facts } = "ask" in result ? yield result : result;
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

function partsOf(call: AnyCall, { actionBytesMax: max }: AnyTurns): readonly string[] {
  // A text that was too long was not read, so it differs from an empty one only by this mark.
  if (call.kind === "answer") return [call.kind, call.text, ...(call.bytesMax === undefined ? [] : ["too long"])];
  if (call.kind === "bad") return [call.kind, call.text];
  const { name, argumentsJson: text } = call;
  // Arguments that are too long are refused unread, so their beginning and length suffice: hashing takes 2 ms a megabyte.
  return [call.kind, name, ...(text.length > max ? [text.slice(0, max), `${text.length}`] : [text])];
}

/** Returns the current state of the episode: the stored state after the logged calls are repeated on it. */
function presentState(task: EpisodeTask, turns: AnyTurns, { state: stored, log }: Episode): Message {
  const { environment, instance, seed, baseline, detail } = task;
  let state = stored === undefined ? turns.start(instance) : fromBinary(turns.schema, stored);
  for (const logged of log) {
    const rng = lazyRng("turn", environment.id, environment.version, ...seed, logged.number);
    const result = turns.advance(instance, state, actionOf(turns, logged), rng, baseline, detail);
    if ("ask" in result)
      throw new Error(`bug: the calls of ${environment.id} ask a resource, and must not be replayed from a log`);
    state = result.state;
  }
  return state;
}

/**
 * Chooses the shorter way to store the state after a call: the new state itself, or the state stored before with a log
 * of the calls since. Calls that may ask a resource are never logged.
 */
function shorter(
  { schema, resource }: AnyTurns,
  { state: stored, log }: Episode,
  next: Message,
  logged: LoggedCall,
): Pick<Episode, "state" | "log"> {
  const state = toBinary(schema, next);
  if (resource !== undefined) return { state, log: [] };
  const longer = [...log, logged];
  return state.length <= (stored?.length ?? 0) + logBytes(longer) ? { state, log: [] } : { state: stored, log: longer };
}

/** Returns the reward of a call, and the result that decides the episode's return after the call. */
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

/**
 * Returns the sentences of a prompt that say how many calls the task allows, what counts as a call, and how many calls
 * may be answers.
 */
export function callsInstruction(calls: number, tools: readonly string[], answersMax = calls): string {
  const budget = `You have up to ${calls} ${calls === 1 ? "call" : "calls"}.`;
  const answers = "Each message with an answer is one, and gets a reply until the task is over.";
  if (tools.length === 0) return `${budget} ${answers}`;
  const limit = answersMax < calls ? ` The answer number ${answersMax} is the last one.` : "";
  return `${budget} Each call of a tool (${tools.join(", ")}) is one, and gets a reply until the task is over. A message without a call of a tool counts as a call too.${limit}`;
}
