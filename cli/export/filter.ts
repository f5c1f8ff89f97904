/** Which graded completions are kept, by any component of their reward: "correctness>=1", "reward>0.1". Pure. */
import { readCondition } from "../conditions.ts";

/** What a filter looks at. */
interface Graded {
  readonly reward: number;
  readonly ratio?: number | undefined;
  readonly components: readonly { readonly name: string; readonly value?: number | undefined }[];
}

export interface ScoreFilter {
  /** As it was given. */
  readonly text: string;
  /** Whether a score has the figure that is asked about. One without is not kept. */
  has(score: Graded): boolean;
  keeps(score: Graded): boolean;
}

const COMPONENT = /^[a-z][a-z0-9_]*$/;

/** Undefined: the text is no condition on a score. */
export function readFilter(text: string): ScoreFilter | undefined {
  const condition = readCondition(text);
  if (condition === undefined || !COMPONENT.test(condition.name) || !/^(?:[<>]=?|=)$/.test(condition.comparison))
    return undefined;
  if (!Number.isFinite(Number(condition.bound)) || condition.bound === "") return undefined;
  const figure = (score: Graded): number | undefined => valueOf(score, condition.name);
  return {
    text,
    has: (score) => figure(score) !== undefined,
    keeps: (score) => condition.holds(figure(score)),
  };
}

function valueOf({ reward, ratio, components }: Graded, name: string): number | undefined {
  if (name === "reward") return reward;
  if (name === "ratio") return ratio;
  return components.find((component) => component.name === name)?.value;
}
