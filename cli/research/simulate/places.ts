/** Where the arms of a run stand, for a student: which are of one kind, and which are harder. */
import type { Registry } from "../../../envs/registry.ts";
import type { RunConfig } from "../../../server/curriculum/core/types.ts";
import type { Place } from "../../../server/curriculum/simulation/student.ts";
import type { TaskSpec } from "../../../server/tasks/spec.ts";
import { CliProblem } from "../../problem.ts";

/** An arm's level as the environment lists them, from the easiest; one with parameters of its own is where it stands among its arms. */
function levelOf(registry: Registry, { environment, version, level }: TaskSpec, before: number): number {
  const found = registry.find(environment, version);
  if (found.kind !== "found") return before;
  const index = found.environment.levels.findIndex(({ name }) => name === level);
  return index < 0 ? before : index;
}

/** "a=2" of --difficulty, by arm. */
function given(levels: readonly string[], ids: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    levels.map((text) => {
      const [, id = "", level = ""] = /^(.+)=(\d{1,3})$/.exec(text) ?? [];
      if (level === "") throw new CliProblem("usage", `--difficulty must be <arm>=<whole number>; got '${text}'`);
      if (!ids.includes(id)) throw new CliProblem("usage", `--difficulty: "${id}" is not an arm of the run`);
      return [id, Number(level)] as const;
    }),
  );
}

/** Levels are counted again from 0 by kind, without gaps, so that a student begins where the run does. */
export function placesOf(
  { arms }: RunConfig<TaskSpec>,
  registry: Registry,
  levels: readonly string[] = [],
): readonly Place[] {
  const asked = given(
    levels,
    arms.map(({ id }) => id),
  );
  const seen = new Map<string, number>();
  const places = arms.map(({ id, spec }): Place => {
    const before = seen.get(spec.environment) ?? 0;
    seen.set(spec.environment, before + 1);
    return { id, family: spec.environment, level: asked.get(id) ?? levelOf(registry, spec, before) };
  });
  return places.map((place) => {
    const all = places.filter(({ family }) => family === place.family).map(({ level }) => level);
    const distinct = [...new Set(all)].sort((a, b) => a - b);
    return { ...place, level: distinct.indexOf(place.level) };
  });
}
