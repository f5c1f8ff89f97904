/** Registers all environments of Gradus. Several versions of an environment may be listed. */
import { code } from "./code/index.ts";
import { countdown } from "./countdown/index.ts";
import type { Environment } from "./environment.ts";
import { didYouMean } from "./lib/text.ts";
import { mastermind } from "./games/mastermind/index.ts";
import { maze } from "./games/maze/index.ts";
import { arithmetic } from "./math/arithmetic/index.ts";
import { math } from "./math/index.ts";
import { linear } from "./math/linear/index.ts";
import { bisection } from "./np/bisection/index.ts";
import { clique } from "./np/clique/index.ts";
import { coloring } from "./np/coloring/index.ts";
import { hamiltonian } from "./np/hamiltonian/index.ts";
import { independentSet } from "./np/independent-set/index.ts";
import { knapsack } from "./np/knapsack/index.ts";
import { meetings } from "./np/meetings/index.ts";
import { setCover } from "./np/set-cover/index.ts";
import { subsetSum } from "./np/subset-sum/index.ts";
import { tsp } from "./np/tsp/index.ts";
import { qa, qaLetter } from "./qa/index.ts";
import { sequences } from "./sequence/index.ts";
import { ledger } from "./tools/ledger/index.ts";
import { writing } from "./writing/index.ts";

export const environments: readonly Environment[] = [
  code,
  countdown,
  mastermind,
  maze,
  math,
  arithmetic,
  linear,
  bisection,
  clique,
  coloring,
  hamiltonian,
  independentSet,
  knapsack,
  meetings,
  setCover,
  subsetSum,
  tsp,
  qa,
  qaLetter,
  ...sequences,
  ledger,
  writing,
];

export type FoundEnvironment =
  | { readonly kind: "found"; readonly environment: Environment }
  | { readonly kind: "unknown"; readonly message: string }
  | { readonly kind: "unknown_version"; readonly message: string };

/** The environments of one process. Created once at startup and passed to the code that needs it. */
export interface Registry {
  readonly environments: readonly Environment[];
  /**
   * Finds an environment by id and version. If a newer version verifies the tasks of an earlier one, the earlier
   * version's number finds the newer version. Without a version, returns the newest.
   */
  readonly find: (id: string, version?: number) => FoundEnvironment;
  /** Returns whether the registry ever had an environment of this id. If omitted, environments are never removed. */
  readonly had?: ((id: string) => boolean) | undefined;
  /**
   * Returns the names of mounted files and providers that are still starting and will add environments. If omitted,
   * there are none.
   */
  readonly mounting?: () => readonly string[];
}

/** Registry whose environments can be replaced while it is in use. */
export interface ChangingRegistry extends Registry {
  replace(environments: readonly Environment[]): void;
}

export function createChangingRegistry(first: Registry): ChangingRegistry {
  let now = first;
  const ids = new Set(first.environments.map(({ id }) => id));
  return {
    get environments() {
      return now.environments;
    },
    find: (id, version) => now.find(id, version),
    had: (id) => ids.has(id),
    replace(environments) {
      now = createRegistry(environments);
      for (const { id } of environments) ids.add(id);
    },
  };
}

/** Creates a registry. Throws if two environments have the same id and version. */
export function createRegistry(environments: readonly Environment[]): Registry {
  /** Versions of each environment by id, the newest version first. */
  const versionsById: ReadonlyMap<string, readonly Environment[]> = new Map(
    [...Map.groupBy(environments, ({ id }) => id)].map(([id, all]) => [id, all.sort((a, b) => b.version - a.version)]),
  );
  for (const [id, all] of versionsById)
    if (new Set(all.map(({ version }) => version)).size < all.length)
      throw new Error(`two environments ${id} have the same version`);
  return { environments, find };

  function find(id: string, version?: number): FoundEnvironment {
    const versions = versionsById.get(id) ?? [];
    const [newest] = versions;
    if (newest === undefined) {
      const ids = [...versionsById.keys()];
      return { kind: "unknown", message: `unknown environment '${id.slice(0, 128)}'${didYouMean(id, ids)}` };
    }
    const wanted = version ?? newest.version;
    const environment =
      versions.find((candidate) => candidate.version === wanted) ??
      versions.find(({ earlier }) => earlier?.includes(wanted));
    if (environment !== undefined) return { kind: "found", environment };
    const numbers = versions.flatMap((candidate) => [candidate.version, ...(candidate.earlier ?? [])]).join(", ");
    return { kind: "unknown_version", message: `${id} has no version ${version}; it has: ${numbers}` };
  }
}
