/** Which graded completions are kept, by any component of their reward: "correctness>=1", "reward>0.1". Pure. */
import { readCondition } from "../conditions.ts";

/** What a filter looks at. */
interface Graded {
  readonly reward: number;
  readonly ratio?: number | undefined;
  readonly components: readonly { readonly name: string; readonly value?: number | undefined }[];
}

/** Of a score: whether it is kept. */
export type ScoreFilter = (score: Graded) => boolean;

const COMPONENT = /^[a-z][a-z0-9_]*$/;

/** Undefined: the text is no condition on a score. A score whose component has no value is not kept. */
export function readFilter(text: string): ScoreFilter | undefined {
  const condition = readCondition(text);
  if (condition === undefined || !COMPONENT.test(condition.name) || !/^(?:[<>]=?|=)$/.test(condition.comparison))
    return undefined;
  if (!Number.isFinite(Number(condition.bound)) || condition.bound === "") return undefined;
  return (score) => condition.holds(valueOf(score, condition.name));
}

function valueOf({ reward, ratio, components }: Graded, name: string): number | undefined {
  if (name === "reward") return reward;
  if (name === "ratio") return ratio;
  return components.find((component) => component.name === name)?.value;
}
