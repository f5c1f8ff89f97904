/**
 * Tests the levels of mounted environments against the provider rules. Mounting waits only a limited time for these
 * tests. The remaining levels are tested one at a time, or at once when a task of the level is requested.
 *
 * So a mount of hundreds of slow levels starts quickly, and no task is given before its level was tested.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Described, DescribedLevel } from "./read-description.ts";
import { type Finding, lawful, tryLevel } from "./examine-level.ts";
import type { Provider } from "./provider.ts";

export interface Trials {
  /**
   * Starts to examine the levels. Resolves when all have been examined, or after `waitMs` milliseconds. The examination
   * then goes on in the background.
   */
  begin(waitMs: number): Promise<void>;
  /** Returns the result of a level's examination. Undefined: the level has not been examined yet. */
  readonly found: (described: Described, level: DescribedLevel) => Finding | undefined;
  /**
   * Returns the result of a level's examination. If the level has not been examined yet, examines it first. Never
   * rejects.
   */
  readonly of: (described: Described, level: DescribedLevel) => Promise<Finding>;
  /** Returns how many levels have each result. "untried" counts levels that have not been examined yet. */
  readonly counts: () => ReadonlyMap<Finding["kind"] | "untried", number>;
  close(): void;
}

export interface TrialOptions {
  readonly provider: Provider;
  readonly environments: readonly Described[];
  /** Shared with other mounts. Defaults to one of its own. */
  readonly background?: Background;
  /** Levels that have passed under the same digest before. They are not examined again. */
  readonly known?: KnownLevels | undefined;
  /** Called after each examined level, with the number of levels examined so far and the number of all levels. */
  readonly onTried?: (done: number, total: number) => void;
  /** Called with each result that came after `begin` had resolved, i.e. while the mount already serves tasks. */
  readonly onLate: (described: Described, level: DescribedLevel, finding: Finding) => void;
}

/**
 * Maximum number of levels that are examined at the same time while mounting. Later it is one for all mounts together
 * (Background).
 */
const TRIED_AT_ONCE = 8;

/** Levels that have passed their examination, by a key that contains the digest of their environment. */
export interface KnownLevels {
  /** Returns the advice about a level that has passed. Undefined: it is not known to have passed. */
  get(key: string): readonly string[] | undefined;
  add(key: string, advice: readonly string[]): void;
}

/** Lets mounts that already serve tasks examine one level at a time, and only while no task is being made. */
export interface Background {
  /** Begins `work` when all earlier work has ended, and no task is being made. Resolves with its result. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Returns `tasks`, and lets no work begin until it is settled. */
  making<T>(tasks: Promise<T>): Promise<T>;
}

/** Time in milliseconds after which work that waits for tasks looks whether they are made. */
const LOOK_AGAIN_MS = 250;

export function createBackground(): Background {
  let last: Promise<unknown> = Promise.resolve();
  let going = 0;
  const quiet = async (): Promise<void> => {
    while (going > 0) await sleep(LOOK_AGAIN_MS, undefined, { ref: false });
  };
  return {
    run(work) {
      const result = last.then(quiet).then(work);
      last = result.catch(() => undefined);
      return result;
    },
    making(tasks) {
      going++;
      return tasks.finally(() => going--);
    },
  };
}

interface Subject {
  readonly key: string;
  readonly described: Described;
  readonly level: DescribedLevel;
}

const keyOf = ({ asked: { id, version, digest } }: Described, { name }: DescribedLevel): string =>
  `${id} ${version} ${digest} ${name}`;

export function createTrials(options: TrialOptions): Trials {
  const { provider, known, background = createBackground(), onTried, onLate } = options;
  const subjects = inTurn(options.environments);
  const findings = new Map<string, Finding>();
  const waiting = new Map<string, Subject>();
  for (const subject of subjects) {
    const advice = known?.get(subject.key);
    if (advice === undefined) waiting.set(subject.key, subject);
    else findings.set(subject.key, lawful(advice));
  }
  const going = new Map<string, Promise<Finding>>();
  const closing = new AbortController();
  let isMounting = true;

  const start = (subject: Subject): Promise<Finding> => {
    const { key, described, level } = subject;
    waiting.delete(key);
    const trial = tryLevel(provider, described, level, closing.signal).then((finding) => {
      going.delete(key);
      // An unreachable provider says nothing about the level. After mounting, the next request for a task of the level
      // tests the level again.
      if (finding.kind !== "unavailable" || isMounting) findings.set(key, finding);
      if (finding.kind === "lawful") known?.add(key, finding.advice ?? []);
      onTried?.(findings.size, subjects.length);
      if (!isMounting && !closing.signal.aborted) onLate(described, level, finding);
      return finding;
    });
    going.set(key, trial);
    return trial;
  };
  /** Examines the next level. Returns false if none is left, or if the trials are closed. */
  const examineNext = async (): Promise<boolean> => {
    const [next] = closing.signal.aborted ? [] : waiting.values();
    if (next !== undefined) await start(next);
    return next !== undefined;
  };
  const lane = async (isLast: boolean): Promise<void> => {
    for (let isLeft = true; isLeft && (isMounting || isLast);)
      isLeft = await (isMounting ? examineNext() : background.run(examineNext));
  };

  return {
    async begin(waitMs) {
      const lanes = Array.from({ length: TRIED_AT_ONCE }, (_, i) => lane(i === 0));
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, waitMs);
      await Promise.race([Promise.all(lanes), late]);
      clearTimeout(timer);
      isMounting = false;
    },
    found: (described, level) => findings.get(keyOf(described, level)),
    of: async (described, level) => {
      const key = keyOf(described, level);
      return findings.get(key) ?? going.get(key) ?? start({ key, described, level });
    },
    counts() {
      const counts = new Map<Finding["kind"] | "untried", number>([["untried", subjects.length - findings.size]]);
      for (const { kind } of findings.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return counts;
    },
    close: () => closing.abort(),
  };
}

/**
 * Orders the levels: first the easiest level of each environment, then the second of each, and so on. So each
 * environment can serve tasks soon.
 */
function inTurn(environments: readonly Described[]): readonly Subject[] {
  const all = environments.flatMap((described) =>
    described.levels.map((level): Subject => ({ key: keyOf(described, level), described, level })),
  );
  return all.toSorted((a, b) => a.level.number - b.level.number);
}
