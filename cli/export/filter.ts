/** Filters graded completions by a component of their reward, e.g. "correctness>=1" or "reward>0.1". */
import { readCondition } from "../conditions.ts";

/** Fields of a score that a filter reads. */
interface Graded {
  readonly reward: number;
  readonly ratio?: number | undefined;
  readonly components: readonly { readonly name: string; readonly value?: number | undefined }[];
}

export interface ScoreFilter {
  /** The condition as the user wrote it. */
  readonly text: string;
  /**
   * Returns whether a score has the component that the condition names. For a score without the component, `keeps`
   * returns false.
   */
  has(score: Graded): boolean;
  keeps(score: Graded): boolean;
}

const COMPONENT = /^[a-z][a-z0-9_]*$/;

/** Parses a filter. Returns undefined if the text is no condition on a score. */
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
