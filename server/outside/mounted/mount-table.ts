/**
 * Table of what `--mount` can mount, for `gradus envs --mounts`, the guide and the page. `scripts/mounts.ts` writes its
 * data.
 */
import catalogue from "./catalogue.json" with { type: "json" };

/** Something that can be mounted, such as a library of environments. */
export interface MountEntry {
  /** Value of `--mount`. Words in capitals are placeholders, e.g. for a host or names of environments. */
  readonly mount: string;
  /** Name of the Python package. Null: a server is mounted. */
  readonly package: string | null;
  /** Command that installs the package, or a description of the server that is mounted. */
  readonly install: string;
  readonly license: string;
  readonly difficulty: string;
  readonly rewards: string;
  readonly determinism: string;
  /** Counts of the mounted environments. Null: the counts depend on the user's choice, or were not measured. */
  readonly figures: MountFound | null;
}

/** Counts of the environments that one version of a package gave when it was mounted. */
export interface MountFound {
  readonly version: string;
  readonly environments: number;
  /** Number of environments whose tasks have several calls. */
  readonly withTurns: number;
  readonly levels: number;
  /** Number of growth axes. */
  readonly axes: number;
  /** Comparison with the package's own scorer. Undefined: not measured. */
  readonly answers?: MountAnswers;
}

/** Comparison of the server's scores with those of the package's own scorer, for 20 answers to a task of each level. */
export interface MountAnswers {
  readonly levels: number;
  /** Number of levels at which both scores are equal for all answers. */
  readonly equal: number;
  /** Numbers of levels at which some scores differ, by environment, with the reason. */
  readonly exceptions: readonly { readonly environment: string; readonly levels: number; readonly reason: string }[];
}

export const mountEntries: readonly MountEntry[] = catalogue;

export const mountHead = [
  "mount",
  "environments",
  "levels",
  "several turns",
  "growth axes",
  "equal scores",
  "licence",
  "difficulty",
  "rewards",
  "determinism",
  "tested",
  "install",
] as const;

export function mountRow(entry: MountEntry): readonly string[] {
  const { mount, package: name, install, license, difficulty, rewards, determinism, figures } = entry;
  const { environments, levels, withTurns, axes } = figures ?? {};
  const unknown = mount.includes(":") ? "any" : "not measured";
  const counts = [environments, levels, withTurns, axes].map((count) =>
    count === undefined ? unknown : String(count),
  );
  const { answers } = figures ?? {};
  const equal = answers === undefined ? unknown : `${answers.equal} of ${answers.levels} levels`;
  const version = figures === null ? "–" : `${name ?? mount} ${figures.version}`;
  return [mount, ...counts, equal, license, difficulty, rewards, determinism, version, install];
}

/** Returns the levels of all mounts at which scores differ, each with the reason, in one line for each environment. */
export function mountExceptions(entries: readonly MountEntry[]): readonly string[] {
  return entries.flatMap(({ figures }) =>
    (figures?.answers?.exceptions ?? []).map(
      ({ environment, levels, reason }) => `${environment}, ${levels} level${levels === 1 ? "" : "s"}: ${reason}`,
    ),
  );
}
