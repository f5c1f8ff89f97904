/** The lines of a run's charts: its arms, or of many arms kinds of them. */
import { familiesOf, type ReadRun } from "./state.ts";

/** Arms that are told apart as lines; of more those of one environment are one. */
export const ARMS_APART = 30;

export interface Line {
  /** An arm's id, or what arms have in common. */
  readonly name: string;
  readonly family: string;
  /** Places of its arms in the run's configuration. */
  readonly arms: readonly number[];
}

export function linesOf(run: Pick<ReadRun, "config" | "state">, only: (armId: string) => boolean): readonly Line[] {
  const families = familiesOf(run);
  const arms = run.state.arms
    .map(({ armId }, at) => ({ name: armId, family: families[at] ?? armId, arms: [at] }))
    .filter(({ name }) => only(name));
  if (arms.length <= ARMS_APART) return arms;
  const names = [...new Set(arms.map(({ family }) => family))];
  const joined = names.map((family) => {
    const members = arms.filter((line) => line.family === family);
    return { name: `${family} (${members.length} arms)`, family, arms: members.flatMap((line) => line.arms) };
  });
  if (joined.length <= ARMS_APART) return joined;
  const rest = joined.slice(ARMS_APART - 1).flatMap((line) => line.arms);
  return [...joined.slice(0, ARMS_APART - 1), { name: `others (${rest.length} arms)`, family: "others", arms: rest }];
}

/** Of each arm, the place of its line; arms that are on none are together behind the last. */
export function groupsOf(lines: readonly Line[], armCount: number): readonly number[] {
  const groups = Array.from({ length: armCount }, () => lines.length);
  for (const [at, { arms }] of lines.entries()) for (const arm of arms) groups[arm] = at;
  return groups;
}
