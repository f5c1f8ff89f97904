/** Instances of mounted environments: made for a split, made again, and carried in task ids. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { LRUCache } from "lru-cache";
import type { AskedPlace, AskedResult, AskedTasks, Baseline, Split } from "../../../envs/environment.ts";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import { deriveSeed, hashKey } from "../../../envs/lib/rng.ts";
import { onOneLine } from "../../../envs/lib/words.ts";
import type { ChatMessage } from "../../../envs/prompt.ts";
import type { ProvidedInstance } from "../../gen/gradus/v1/provider_pb.js";
import { roughBytes } from "../../scoring/scorer.ts";
import type { Described, DescribedLevel } from "./described.ts";
import type { Failure, Generated, Provider } from "./provider.ts";

/** All that a provider said of an instance. */
export interface WholeInstance {
  readonly bytes: Uint8Array;
  readonly prompt: readonly ChatMessage[];
  readonly canonical: string;
  readonly reference: string | undefined;
  readonly baseline: Baseline | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** An instance as it was made, or what stands for it: its bytes, which came with a task id, or where to ask for it. */
export interface MountedInstance {
  /** Undefined of one that was just made. */
  readonly place: AskedPlace | undefined;
  readonly bytes: Uint8Array | undefined;
  readonly whole: WholeInstance | undefined;
}

// Bytes in task ids.

/** As much as an id of 4,096 characters has room for beside all else that it says. */
const CARRIED_BYTES_MAX = 2600;
/** What deflates to fewer bytes is at most so large, or it was made to burst. */
const INFLATED_BYTES_MAX = 1024 ** 2;
/** Shorter ones are carried as they are: to deflate them takes longer than to send them. */
const PLAIN_BYTES_MAX = 256;
const [PLAIN, DEFLATED] = [0, 1];

/** Undefined: they are too many. */
export function carried(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length <= PLAIN_BYTES_MAX) return Buffer.concat([Buffer.from([PLAIN]), bytes]);
  const deflated = deflateRawSync(bytes);
  if (deflated.length >= CARRIED_BYTES_MAX) return undefined;
  return Buffer.concat([Buffer.from([DEFLATED]), deflated]);
}

/** What `carried` was given: the bytes are authenticated, so they are ours. */
export function uncarried(bytes: Uint8Array): Uint8Array {
  const rest = bytes.subarray(1);
  // Copied: what comes with an id is a view of a much larger buffer.
  if (bytes[0] === PLAIN) return Uint8Array.from(rest);
  return inflateRawSync(rest, { maxOutputLength: INFLATED_BYTES_MAX });
}

// What a provider sends, checked.

const INSTANCE_BYTES_MAX = 1024 ** 2;
const PROMPT_MESSAGES_MAX = 16;
const PROMPT_LENGTH_MAX = 1024 ** 2;
const CANONICAL_LENGTH_MAX = 1024 ** 2;
const METADATA_MAX = 32;
const METADATA_LENGTH_MAX = 1000;
const ROLES = ["system", "user", "assistant"] as const;

/** What is wrong with it, in words, or all of it. */
export function wholeOf({ goal }: Pick<Described, "goal">, wire: ProvidedInstance): WholeInstance | string {
  const { instance, prompt, reference, metadata } = wire;
  if (instance.length === 0) return "an instance has no bytes";
  if (instance.length > INSTANCE_BYTES_MAX)
    return `an instance has ${instance.length} bytes, and the limit is ${INSTANCE_BYTES_MAX}`;
  if (prompt.length === 0 || prompt.length > PROMPT_MESSAGES_MAX)
    return `a prompt must have 1 to ${PROMPT_MESSAGES_MAX} messages, and has ${prompt.length}`;
  const messages = prompt.flatMap(({ role: given, content }): ChatMessage[] => {
    const role = ROLES.find((known) => known === given);
    return role === undefined ? [] : [{ role, content }];
  });
  if (messages.length < prompt.length || messages.at(-1)?.role === "assistant")
    return "a prompt's messages are of system, user and assistant, and the last one is not the assistant's";
  if (prompt.reduce((sum, { content }) => sum + content.length, 0) > PROMPT_LENGTH_MAX)
    return `a prompt has more than ${PROMPT_LENGTH_MAX} characters`;
  if (wire.canonical.length > CANONICAL_LENGTH_MAX)
    return `a canonical text has ${wire.canonical.length} characters, and the limit is ${CANONICAL_LENGTH_MAX}`;
  const baseline = goal === "satisfy" ? undefined : baselineOf(wire);
  if (typeof baseline === "string") return baseline;
  // Views of what came over a connection would keep all of it.
  const bytes = Uint8Array.from(instance);
  const canonical = wire.canonical === "" ? Buffer.from(bytes).toString("latin1") : wire.canonical;
  return { bytes, prompt: messages, canonical, reference, baseline, metadata: metadataOf(metadata) };
}

function baselineOf({ baseline: value, baselineBound: bound = value }: ProvidedInstance): Baseline | string {
  if (value === undefined || bound === undefined)
    return "an instance has no baseline, and there is something to optimise";
  if (!Number.isFinite(value) || !Number.isFinite(bound)) return `a baseline is ${value}, and its bound ${bound}`;
  return { value, bound, proven: value === bound };
}

function metadataOf(wire: ProvidedInstance["metadata"]): Readonly<Record<string, string>> {
  const entries = Object.entries(wire).slice(0, METADATA_MAX);
  return Object.fromEntries(
    entries.map(([name, text]) => [name.slice(0, 64), text.slice(0, METADATA_LENGTH_MAX)]),
  );
}

// Making.

/** Attempts for one seed: an instance lies in the smallest split one time in ten. */
const ATTEMPTS_MAX = 256;
/** Of these, those that fail: a generator that fails at so many fails at all. */
const FAILED_MAX = 3;
/** Attempts that are asked for at once after the first: most instances are of the train split. */
const ATTEMPTS_AT_ONCE = 8;
/** Of one request: the contract's. */
const SEEDS_AT_ONCE = 256;
/** Instances that are kept whole, of all levels of an environment: for what is asked again for a prompt or a canary. */
const KEPT_BYTES_MAX = 8 * 1024 ** 2;
const RETRY_DELAY_MS = 1000;

/** What of an environment making its instances needs. */
export interface Making {
  readonly described: Described;
  readonly provider: Provider;
  readonly resource: string;
  readonly splitOf: (instance: MountedInstance) => Split;
  readonly hashOf: (instance: MountedInstance) => string;
  /** Told once of each level that is not what it was, and why. */
  readonly onBroken: (level: string, why: string) => void;
}

interface Place {
  readonly level: DescribedLevel;
  readonly seed: bigint;
  readonly attempt: number;
}

type Result = AskedResult<MountedInstance>;

/** How far the search for the instance of a seed has come. */
interface Search {
  readonly seed: bigint;
  /** The next one. */
  attempt: number;
  failures: number;
  /** Why the last attempt that gave none gave none. */
  last: string;
  result: Result | undefined;
}

export interface Instances {
  make(tasks: AskedTasks, signal: AbortSignal): Promise<readonly Result[]>;
  /** One that was made before: whole, and the same. It is made whoever waits, and kept for who comes next. */
  again(place: AskedPlace): Promise<Result>;
}

export function createInstances(making: Making): Instances {
  const { described, provider, resource, splitOf, hashOf, onBroken } = making;
  const { asked, levels } = described;
  const kept = new LRUCache<string, WholeInstance>({
    maxSize: KEPT_BYTES_MAX,
    sizeCalculation: (whole) => 512 + roughBytes(whole),
  });
  /** Why nothing of a level is made any more. */
  const broken = new Map<string, string>();
  const going = new Map<string, Promise<Result>>();

  const levelAt = ({ parameters }: Pick<AskedTasks, "parameters">): DescribedLevel => {
    const level = levels.find(({ number }) => number === parameters["level"]);
    if (level === undefined) throw new Error(`${asked.id} has no level number ${parameters["level"]}`);
    return level;
  };
  const ask = async (places: readonly Place[], signal: AbortSignal): Promise<readonly Generated[]> => {
    const [{ level }] = places as [Place];
    const seeds = places.map((place) => providersSeed(asked.id, place));
    return provider.generate(asked, { level: level.name, parametersJson: level.parametersJson, seeds }, { signal });
  };
  const keep = (place: Place, whole: WholeInstance): WholeInstance => {
    kept.set(nameOf(place), whole);
    return whole;
  };

  /** One round: the next attempts of as many of the searches as one request takes. */
  const goOn = async (searches: readonly Search[], level: DescribedLevel, split: Split, signal: AbortSignal) => {
    const each = searches.some(({ attempt }) => attempt > 0) ? ATTEMPTS_AT_ONCE : 1;
    const turn = searches.slice(0, Math.floor(SEEDS_AT_ONCE / each));
    const places = turn.flatMap(({ seed, attempt }) =>
      Array.from({ length: each }, (_, i): Place => ({ level, seed, attempt: attempt + i })),
    );
    const generated = await ask(places, signal);
    for (const [i, search] of turn.entries()) {
      search.attempt += each;
      for (let at = i * each; at < (i + 1) * each && search.result === undefined; at++)
        search.result = takeIn(search, places[at] as Place, generated[at] ?? NOTHING, split);
      if (search.attempt >= ATTEMPTS_MAX) search.result ??= exhausted(level, search, split);
    }
  };
  /** What an attempt comes to; undefined: the next one is asked for. */
  const takeIn = (search: Search, place: Place, generated: Generated, split: Split): Result | undefined => {
    if (generated.kind === "failure" && isOurs(generated)) return failedToMake(resource, generated);
    const whole = generated.kind === "made" ? wholeOf(described, generated.instance) : undefined;
    if (whole === undefined || typeof whole === "string") {
      search.last = whole ?? whyNone(generated);
      if (generated.kind !== "exhausted") search.failures++;
      return search.failures >= FAILED_MAX ? exhausted(place.level, search, split) : undefined;
    }
    const instance = { place: undefined, bytes: whole.bytes, whole };
    if (splitOf(instance) !== split) return undefined;
    const { baseline } = keep(place, whole);
    return { kind: "made", instance, attempt: place.attempt, ...(baseline && { baseline }) };
  };
  const exhausted = (level: DescribedLevel, { last }: Search, split: Split): Result => {
    const why = last === "" ? `none of ${ATTEMPTS_MAX} attempts gave an instance of split ${split}` : last;
    return { kind: "exhausted", message: `${asked.id}, level '${level.name}': ${onOneLine(why)}` };
  };

  const askAgain = async (place: AskedPlace, at: Place): Promise<Result> => {
    const [generated = NOTHING] = await ask([at], NEVER);
    if (generated.kind === "failure") return failedToMake(resource, generated);
    const whole = generated.kind === "made" ? wholeOf(described, generated.instance) : generated.message;
    if (typeof whole !== "string" && hashOf({ place, bytes: whole.bytes, whole }) === place.hash)
      return madeAgain(place, keep(at, whole));
    const { name } = at.level;
    const found = typeof whole === "string" ? whole : "another instance";
    const message = `${asked.id}, level '${name}', no longer makes for a seed what it made before (${found}): it is no function of the seed, or what it depends on changed`;
    broken.set(name, message);
    onBroken(name, message);
    return { kind: "exhausted", message };
  };

  return {
    make: async (tasks, signal) => {
      const level = levelAt(tasks);
      const why = broken.get(level.name);
      if (why !== undefined) return tasks.seeds.map(() => ({ kind: "exhausted", message: why }));
      const searches = tasks.seeds.map((seed): Search => ({ seed, attempt: 0, failures: 0, last: "", result: undefined }));
      for (;;) {
        const open = searches.filter(({ result }) => result === undefined);
        if (open.length === 0) return searches.map(({ result }) => result as Result);
        await goOn(open, level, tasks.split, signal);
      }
    },
    again: async (place) => {
      const { seed, attempt } = place;
      const at = { level: levelAt(place), seed, attempt };
      const name = nameOf(at);
      const known = kept.get(name);
      if (known !== undefined) return madeAgain(place, known);
      // A group's answers come together, and all want the same.
      const asking = going.get(name) ?? askAgain(place, at).finally(() => going.delete(name));
      going.set(name, asking);
      return asking;
    },
  };
}

const NEVER = new AbortController().signal;
const NOTHING: Failure = { kind: "failure", failure: "unavailable", detail: "no answer" };

function madeAgain(place: AskedPlace, whole: WholeInstance): AskedResult<MountedInstance> {
  const { attempt } = place;
  const { baseline, bytes } = whole;
  return { kind: "made", instance: { place, bytes, whole }, attempt, ...(baseline && { baseline }) };
}

/** Whether it may be otherwise next time: what the environment's own code does to a seed it does again. */
function isOurs({ failure }: Failure): boolean {
  return failure === "unavailable";
}

function whyNone(generated: Generated): string {
  if (generated.kind === "failure") return `making an instance failed (${generated.failure}): ${generated.detail}`;
  return generated.kind === "exhausted" ? generated.message : "";
}

function failedToMake(resource: string, { failure, detail }: Failure): Failed {
  return unavailable(resource, `making an instance failed (${failure}): ${onOneLine(detail)}`, {
    retryDelayMs: RETRY_DELAY_MS,
  });
}

function nameOf({ level, seed, attempt }: Place): string {
  return `${seed}/${attempt}/${level.name}`;
}

/**
 * The seed that a provider is given: a function of all that tells the attempt apart, so that levels and attempts share no
 * streams. Of a level with rows, a row.
 */
function providersSeed(id: string, { level, seed, attempt }: Place): bigint {
  if (level.rows === 0) return deriveSeed("mounted", id, level.name, seed, attempt);
  const hash = BigInt(`0x${hashKey("mounted row", id, level.name, seed, attempt).slice(0, 16)}`);
  return hash % BigInt(level.rows);
}
