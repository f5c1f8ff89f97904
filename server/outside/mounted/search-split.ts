/**
 * Makes instances of the wanted split (train, eval or bench). A hash of an instance decides its split. So for each
 * seed, instances are made with attempt numbers 0, 1, 2 and so on until one is of the wanted split.
 */
import type { MountedResult, Split } from "../../../envs/environment.ts";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import { deriveSeed, hashKey } from "../../../envs/lib/rng.ts";
import { onOneLine } from "../../../envs/lib/escape.ts";
import type { Described, DescribedLevel } from "./read-description.ts";
import type { Finding } from "./examine-level.ts";
import { type MountedInstance, wholeOf, type WholeInstance } from "./mounted-instance.ts";
import { type AskOptions, type Failure, failure, type GenerateResult, NOTHING, type Provider } from "./provider.ts";

/**
 * Maximum attempts per seed. The smallest split holds about one instance in ten, so 256 attempts nearly always suffice.
 */
const ATTEMPTS_MAX = 256;
/** Number of failed attempts after which no further instance is made for a seed. */
const FAILED_MAX = 3;
/**
 * Attempts per seed in each request to the provider after the first. The first request makes one attempt per seed,
 * because most instances are of the train split.
 */
const ATTEMPTS_AT_ONCE = 8;
/** Maximum seeds in one request to a provider, which is also the limit of provider.proto. */
const SEEDS_AT_ONCE = 256;
export const RETRY_DELAY_MS = 1000;

/** Everything that is needed to make instances of one environment. */
export interface Making {
  readonly described: Described;
  readonly provider: Provider;
  readonly resource: string;
  readonly splitOf: (instance: MountedInstance) => Split;
  readonly hashOf: (instance: MountedInstance) => string;
  /**
   * Returns the result of a level's examination by the provider rules. If the level has not been examined yet, examines
   * it first. Called before each level's first task.
   */
  readonly lawful: (level: DescribedLevel) => Promise<Finding>;
  /** Called when a level gives another instance for a seed than before. */
  readonly onBroken: (level: string, why: string) => void;
}

export interface SearchPlace {
  readonly level: DescribedLevel;
  readonly seed: bigint;
  readonly attempt: number;
}

export type Result = MountedResult<MountedInstance>;

const LEFT: Failure = Object.freeze(failure("unavailable", "the caller stopped waiting"));

/** Progress of making an instance of the wanted split from one seed. */
interface Search {
  readonly seed: bigint;
  /** Number of the next attempt for this seed, from 0. */
  attempt: number;
  failures: number;
  /** Why the most recent attempt without an instance gave none, in words. Empty: every attempt gave an instance. */
  last: string;
  result: Result | undefined;
}

/** A level, a split, and a seed for each wanted instance. */
export interface WantedTasks {
  readonly level: DescribedLevel;
  readonly split: Split;
  readonly seeds: readonly bigint[];
}

/**
 * Searches instances of the wanted split. Returns one result per seed, in order. Calls `keep` for each instance that is
 * found.
 */
export async function search(
  making: Making,
  wanted: WantedTasks,
  keep: (place: SearchPlace, whole: WholeInstance) => void,
  options: AskOptions,
): Promise<readonly Result[]> {
  const searches = wanted.seeds.map((seed): Search => ({ seed, attempt: 0, failures: 0, last: "", result: undefined }));
  for (;;) {
    const open = searches.filter(({ result }) => result === undefined);
    if (open.length === 0) return searches.map(({ result }) => result as Result);
    await goOn(making, wanted, open, keep, options);
  }
}

/** Makes the next attempts for the seeds that have no result yet, as many as fit into one request. */
async function goOn(
  making: Making,
  { level, split }: WantedTasks,
  open: readonly Search[],
  keep: (place: SearchPlace, whole: WholeInstance) => void,
  options: AskOptions,
): Promise<void> {
  const each = open.some(({ attempt }) => attempt > 0) ? ATTEMPTS_AT_ONCE : 1;
  const turn = open.slice(0, Math.floor(SEEDS_AT_ONCE / each));
  const places = turn.flatMap(({ seed, attempt }) =>
    Array.from({ length: each }, (_, i): SearchPlace => ({ level, seed, attempt: attempt + i })),
  );
  const asked = await askFor(making, places, options);
  // If the caller has left, failures say nothing about the seeds, so the failure LEFT replaces each of them.
  const generated = options.signal.aborted ? asked.map((each) => (each.kind === "failure" ? LEFT : each)) : asked;
  for (const [i, one] of turn.entries()) {
    one.attempt += each;
    for (let at = i * each; at < (i + 1) * each && one.result === undefined; at++)
      takeIn(making, one, places[at] as SearchPlace, generated[at] ?? NOTHING, split);
    if (one.result?.kind === "made" && one.result.instance.whole !== undefined)
      keep({ level, seed: one.seed, attempt: one.result.attempt }, one.result.instance.whole);
    if (one.attempt >= ATTEMPTS_MAX) one.result ??= exhausted(making, level, one, split);
  }
}

/**
 * Evaluates one attempt. Ends the seed's search if the instance is of the wanted split, too many attempts failed, or
 * the provider could not be reached.
 */
function takeIn(making: Making, one: Search, place: SearchPlace, generated: GenerateResult, split: Split): void {
  const { described, resource, splitOf } = making;
  if (generated.kind === "failure" && isOurs(generated)) {
    one.result = failedToMake(resource, generated);
    return;
  }
  const whole = generated.kind === "made" ? wholeOf(described, generated.instance) : undefined;
  if (whole === undefined || typeof whole === "string") {
    one.last = whole ?? whyNone(generated);
    if (generated.kind !== "exhausted") one.failures++;
    if (one.failures >= FAILED_MAX) one.result = exhausted(making, place.level, one, split);
    return;
  }
  const instance = { place: undefined, bytes: whole.bytes, whole };
  if (splitOf(instance) !== split) return;
  const { baseline } = whole;
  one.result = { kind: "made", instance, attempt: place.attempt, ...(baseline && { baseline }) };
}

function exhausted({ described }: Making, { name }: DescribedLevel, { last }: Search, split: Split): Result {
  const why = last === "" ? `none of ${ATTEMPTS_MAX} attempts gave an instance of split ${split}` : last;
  return { kind: "exhausted", message: `${described.asked.id}, level '${name}': ${onOneLine(why)}` };
}

/** Requests the instances of several seeds and attempts of one level. */
export function askFor(
  { described: { asked }, provider }: Pick<Making, "described" | "provider">,
  places: readonly SearchPlace[],
  options: AskOptions,
): Promise<readonly GenerateResult[]> {
  const [{ level }] = places as readonly [SearchPlace];
  const seeds = places.map((place) => providersSeed(asked.id, place));
  return provider.generate(asked, { level: level.name, parametersJson: level.parametersJson, seeds }, options);
}

/**
 * Returns whether the provider could not be reached, so that a retry may succeed. After an error in the environment's
 * own code, a retry would fail again.
 */
function isOurs({ failure }: Failure): boolean {
  return failure === "unavailable";
}

function whyNone(generated: GenerateResult): string {
  if (generated.kind === "failure") return `making an instance failed (${generated.failure}): ${generated.detail}`;
  return generated.kind === "exhausted" ? generated.message : "";
}

export function failedToMake(resource: string, { failure, detail }: Failure): Failed {
  return unavailable(resource, `making an instance failed (${failure}): ${onOneLine(detail)}`, {
    retryDelayMs: RETRY_DELAY_MS,
  });
}

/**
 * Returns the seed that is sent to the provider: a hash of environment, level, seed and attempt, so that levels and
 * attempts get unrelated random numbers. For a level with data rows, returns the index of a row.
 */
function providersSeed(id: string, { level, seed, attempt }: SearchPlace): bigint {
  if (level.rows === 0) return deriveSeed("mounted", id, level.name, seed, attempt);
  const hash = BigInt(`0x${hashKey("mounted row", id, level.name, seed, attempt).slice(0, 16)}`);
  return hash % BigInt(level.rows);
}
