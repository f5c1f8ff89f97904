/** Which graded completions are kept, by any component of their reward: "correctness>=1", "reward>0.1". Pure. */

/** What a filter looks at. */
interface Graded {
  readonly reward: number;
  readonly ratio?: number | undefined;
  readonly components: readonly { readonly name: string; readonly value?: number | undefined }[];
}

/** Of a score: whether it is kept. */
export type ScoreFilter = (score: Graded) => boolean;

const CONDITION = /^([a-z][a-z0-9_]*)(>=|<=|>|<|=)(-?\d+(?:\.\d+)?)$/;

const COMPARISONS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  ">=": (value, bound) => value >= bound,
  "<=": (value, bound) => value <= bound,
  ">": (value, bound) => value > bound,
  "<": (value, bound) => value < bound,
  "=": (value, bound) => value === bound,
};

/** Undefined: the text is no condition. A score whose component has no value is not kept. */
export function readFilter(text: string): ScoreFilter | undefined {
  const [, name = "", comparison = "", bound = ""] = CONDITION.exec(text.replaceAll(" ", "")) ?? [];
  const holds = COMPARISONS[comparison];
  if (holds === undefined) return undefined;
  return (score) => {
    const value = valueOf(score, name);
    return value !== undefined && holds(value, Number(bound));
  };
}

function valueOf({ reward, ratio, components }: Graded, name: string): number | undefined {
  if (name === "reward") return reward;
  if (name === "ratio") return ratio;
  return components.find((component) => component.name === name)?.value;
}
