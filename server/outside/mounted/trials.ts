/**
 * Levels are tried before they are served. At mounting this is waited for, for a while; what is left is tried while the mount
 * serves, one level at a time, and at once where somebody wants one. So a mount of hundreds of levels, of which some take a
 * minute to try, starts in a time that does not depend on them, and none of their tasks is given before they were tried.
 */
import type { Described, DescribedLevel } from "./described.ts";
import { type Finding, tryLevel } from "./examine.ts";
import type { Provider } from "./provider.ts";

export interface Trials {
  /** Resolves when all were tried, or after this long. */
  begin(waitMs: number): Promise<void>;
  /** What was found of a level; undefined: nothing yet. */
  found(described: Described, level: DescribedLevel): Finding | undefined;
  /** The same, tried now if it was not. Never rejects. */
  readonly of: (described: Described, level: DescribedLevel) => Promise<Finding>;
  /** Levels by what was found of them; "untried": nothing yet. */
  readonly counts: () => ReadonlyMap<Finding["kind"] | "untried", number>;
  close(): void;
}

export interface TrialOptions {
  readonly provider: Provider;
  readonly environments: readonly Described[];
  /** Told with each level that was tried. */
  readonly onTried?: (done: number, total: number) => void;
  /** Told of what was found after the time at mounting. */
  readonly onLate: (described: Described, level: DescribedLevel, finding: Finding) => void;
}

/** Levels that are tried at once at mounting; later one at a time, for workers are there to serve. */
const TRIED_AT_ONCE = 8;

interface Subject {
  readonly key: string;
  readonly described: Described;
  readonly level: DescribedLevel;
}

const keyOf = ({ asked: { id, version } }: Described, { name }: DescribedLevel): string => `${id} ${version} ${name}`;

export function createTrials(options: TrialOptions): Trials {
  const { provider, onTried, onLate } = options;
  const subjects = inTurn(options.environments);
  const waiting = new Map(subjects.map((subject) => [subject.key, subject]));
  const findings = new Map<string, Finding>();
  const going = new Map<string, Promise<Finding>>();
  const closing = new AbortController();
  let isMounting = true;

  const start = (subject: Subject): Promise<Finding> => {
    const { key, described, level } = subject;
    waiting.delete(key);
    const trial = tryLevel(provider, described, level, closing.signal).then((finding) => {
      going.delete(key);
      // Of a provider that could not be asked nothing was found: whoever wants the level asks again.
      if (finding.kind !== "unavailable" || isMounting) findings.set(key, finding);
      onTried?.(findings.size, subjects.length);
      if (!isMounting && !closing.signal.aborted) onLate(described, level, finding);
      return finding;
    });
    going.set(key, trial);
    return trial;
  };
  const lane = async (isLast: boolean): Promise<void> => {
    while (!closing.signal.aborted && (isMounting || isLast)) {
      const [next] = waiting.values();
      if (next === undefined) return;
      await start(next);
    }
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

/** The easiest level of each environment before the next of any: of all of them something is served soon. */
function inTurn(environments: readonly Described[]): readonly Subject[] {
  const all = environments.flatMap((described) =>
    described.levels.map((level): Subject => ({ key: keyOf(described, level), described, level })),
  );
  return all.toSorted((a, b) => a.level.number - b.level.number);
}
