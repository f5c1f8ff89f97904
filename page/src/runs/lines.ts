/** Computes the lines (curves) of a run's charts: one for each arm, or one for each kind of arm if there are many. */
import { familiesOf, type ReadRun } from "./state.ts";

/** Maximum number of arms with a curve each in charts. With more, the arms of an environment share a curve. */
export const ARMS_APART = 30;

export interface Line {
  /** Id of the line's arm, or a name for the arms that share the line. */
  readonly name: string;
  readonly family: string;
  /** Indices of the line's arms in the run's configuration. */
  readonly arms: readonly number[];
  /** Growth axis of the line's arm, e.g. "vertices". Unset: the arm does not grow, or the line has several arms. */
  readonly axis?: string;
}

export function linesOf(run: Pick<ReadRun, "config" | "state">, only: (armId: string) => boolean): readonly Line[] {
  const families = familiesOf(run);
  const arms = run.state.arms
    .map(({ armId, growth }, at): Line => {
      return { name: armId, family: families[at] ?? armId, arms: [at], ...(growth && { axis: growth.axis }) };
    })
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

/** Returns the index of each arm's line. Arms without a line get the index after the last line. */
export function groupsOf(lines: readonly Line[], armCount: number): readonly number[] {
  const groups = Array.from({ length: armCount }, () => lines.length);
  for (const [at, { arms }] of lines.entries()) for (const arm of arms) groups[arm] = at;
  return groups;
}
