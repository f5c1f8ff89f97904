/**
 * Makes instances of a mounted environment's tasks. Makes instances again when scoring needs one that is no longer
 * cached, and checks that each equals the first one.
 */
import { LRUCache } from "lru-cache";
import type { MountedPlace, MountedTasks } from "../../../envs/environment.ts";
import { unavailable } from "../../../envs/facts.ts";
import { roughBytes } from "../../base/rough-bytes.ts";
import type { DescribedLevel } from "./read-description.ts";
import { type AskOptions, NOTHING } from "./provider.ts";
import { wholeOf, type WholeInstance } from "./mounted-instance.ts";
import {
  askFor,
  failedToMake,
  type Making,
  type SearchPlace,
  type Result,
  RETRY_DELAY_MS,
  search,
} from "./search-split.ts";

/**
 * Maximum bytes of an environment's cache of instances. Prompts and reference answers are read from cached instances.
 */
const KEPT_BYTES_MAX = 8 * 1024 ** 2;
/** Bytes that a cached instance counts in addition to its contents. */
const INSTANCE_BYTES = 512;
const NEVER = new AbortController().signal;

export interface Instances {
  make(tasks: MountedTasks, options: AskOptions): Promise<readonly Result[]>;
  /**
   * Returns why the level cannot give tasks. If the level has not been examined yet, examines it first. Undefined: it
   * can give tasks, or the provider did not answer.
   */
  whyNone(parameters: MountedTasks["parameters"]): Promise<string | undefined>;
  /**
   * Returns an instance that was made before: from the cache, or made again by the provider. The provider continues if
   * the caller disconnects, because the cached result serves the next caller.
   */
  again(place: MountedPlace): Promise<Result>;
}

export function createInstances(making: Making): Instances {
  const { asked, levels } = making.described;
  const kept = new LRUCache<string, WholeInstance>({
    maxSize: KEPT_BYTES_MAX,
    sizeCalculation: (whole) => INSTANCE_BYTES + roughBytes(whole),
  });
  const going = new Map<string, Promise<Result>>();
  /** Names of levels that no longer make equal instances, each with the difference. They give no more tasks. */
  const broken = new Map<string, string>();

  const levelAt = ({ parameters }: Pick<MountedTasks, "parameters">): DescribedLevel => {
    const level = levels.find(({ number }) => number === parameters["level"]);
    if (level === undefined) throw new Error(`${asked.id} has no level number ${parameters["level"]}`);
    return level;
  };
  const askAgain = async (place: MountedPlace, at: SearchPlace): Promise<Result> => {
    const again = await sameAgain(making, place, at);
    if (typeof again === "string") {
      const { name } = at.level;
      broken.set(name, again);
      making.onBroken(name, again);
      return { kind: "exhausted", message: again };
    }
    if ("kind" in again) return again;
    kept.set(nameOf(at), again);
    return madeAgain(place, again);
  };

  return {
    make: async (tasks, options) => {
      const level = levelAt(tasks);
      const without = await whyNone(making, level, broken.get(level.name));
      if (without !== undefined) return tasks.seeds.map(() => without);
      const { seeds, split } = tasks;
      return search(making, { level, seeds, split }, (place, whole) => kept.set(nameOf(place), whole), options);
    },
    whyNone: async (parameters) => {
      const level = levelAt({ parameters });
      const without = await whyNone(making, level, broken.get(level.name));
      return without?.kind === "exhausted" ? without.message : undefined;
    },
    again: async (place) => {
      const { seed, attempt } = place;
      const at = { level: levelAt(place), seed, attempt };
      const name = nameOf(at);
      const known = kept.get(name);
      if (known !== undefined) return madeAgain(place, known);
      // The answers of a group arrive together and need the same instance, so they wait for one request instead of
      // sending several.
      const asking = going.get(name) ?? askAgain(place, at).finally(() => going.delete(name));
      going.set(name, asking);
      return asking;
    },
  };
}

/** Returns the result that all tasks of a level get if the level cannot give tasks. Undefined: it can. */
async function whyNone(making: Making, level: DescribedLevel, broken: string | undefined): Promise<Result | undefined> {
  if (broken !== undefined) return { kind: "exhausted", message: broken };
  const finding = await making.lawful(level);
  if (finding.kind === "lawful") return undefined;
  const message = `${making.described.asked.id}, level '${level.name}': ${finding.why}`;
  if (finding.kind === "unlawful") return { kind: "exhausted", message };
  return unavailable(making.resource, message, { retryDelayMs: RETRY_DELAY_MS });
}

/**
 * Makes an instance again. Returns a text if the result differs from the first instance, and a failure if the provider
 * did not answer.
 */
async function sameAgain(making: Making, place: MountedPlace, at: SearchPlace) {
  const { described, hashOf, resource } = making;
  const [generated = NOTHING] = await askFor(making, [at], { signal: NEVER, again: true });
  if (generated.kind === "failure") return failedToMake(resource, generated);
  const whole = generated.kind === "made" ? wholeOf(described, generated.instance) : generated.message;
  if (typeof whole !== "string" && hashOf({ place, bytes: whole.bytes, whole }) === place.hash) return whole;
  const found = typeof whole === "string" ? whole : "another instance";
  return `${described.asked.id}, level '${at.level.name}', makes another instance for a seed than before (${found}): its generator depends on more than the seed, or its code or data changed`;
}

function madeAgain(place: MountedPlace, whole: WholeInstance): Result {
  const { attempt } = place;
  const { baseline, bytes } = whole;
  return { kind: "made", instance: { place, bytes, whole }, attempt, ...(baseline && { baseline }) };
}

function nameOf({ level, seed, attempt }: SearchPlace): string {
  return `${seed}/${attempt}/${level.name}`;
}
