/** Tells a simulated student which of a run's arms belong to one environment, and how hard each is. */
import type { Registry } from "../../../envs/registry.ts";
import type { RunConfig } from "../../curriculum/types.ts";
import type { ArmPosition } from "../../simulation/student.ts";
import type { TaskSpec } from "../../tasks/spec.ts";

/**
 * Returns the index of the arm's level in its environment's list, where the easiest is 0. For an arm without a named
 * level, returns `before`, the number of earlier arms of that environment.
 */
function levelOf(registry: Registry, { environment, version, level }: TaskSpec, before: number): number {
  const found = registry.find(environment, version);
  if (found.kind !== "found") return before;
  const index = found.environment.levels.findIndex(({ name }) => name === level);
  return index < 0 ? before : index;
}

/**
 * Returns each arm's environment and level. The levels of an environment are renumbered from 0 without gaps, because a
 * simulated student begins at level 0. `given` maps arm ids to levels that replace those of the environment.
 */
export function simulatedPlaces(
  { arms }: RunConfig<TaskSpec>,
  registry: Registry,
  given: ReadonlyMap<string, number> = new Map(),
): readonly ArmPosition[] {
  const seen = new Map<string, number>();
  const places = arms.map(({ id, spec }): ArmPosition => {
    const before = seen.get(spec.environment) ?? 0;
    seen.set(spec.environment, before + 1);
    return { id, family: spec.environment, level: given.get(id) ?? levelOf(registry, spec, before) };
  });
  return places.map((place) => {
    const all = places.filter(({ family }) => family === place.family).map(({ level }) => level);
    const distinct = [...new Set(all)].sort((a, b) => a - b);
    return { ...place, level: distinct.indexOf(place.level) };
  });
}
