/** Where the arms of a run stand, for a simulated student: which are of one kind, and which are harder. */
import type { Registry } from "../../../envs/registry.ts";
import type { RunConfig } from "../../curriculum/types.ts";
import type { Place } from "../../simulation/student.ts";
import type { TaskSpec } from "../../tasks/spec.ts";

/** An arm's level as the environment lists them, from the easiest; one with parameters of its own is where it stands among its arms. */
function levelOf(registry: Registry, { environment, version, level }: TaskSpec, before: number): number {
  const found = registry.find(environment, version);
  if (found.kind !== "found") return before;
  const index = found.environment.levels.findIndex(({ name }) => name === level);
  return index < 0 ? before : index;
}

/**
 * Levels are counted again from 0 by kind, without gaps, so that a student begins where the run does. `given`: levels by
 * arm id, in place of those of the environments.
 */
export function placesOf(
  { arms }: RunConfig<TaskSpec>,
  registry: Registry,
  given: ReadonlyMap<string, number> = new Map(),
): readonly Place[] {
  const seen = new Map<string, number>();
  const places = arms.map(({ id, spec }): Place => {
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
