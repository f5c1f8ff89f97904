/** Computes the reward of graded facts: the weighted sum of the components that have a value (Omni-Thinker A.1). */
import type { ComponentInfo, Grading, ParameterInfo } from "../environment.ts";
import type { Findings, GradedComponent } from "../facts.ts";
import type { Price, RewardComponent, RewardScheme, Tidiness } from "./scheme.ts";

export const WEIGHTED = "weighted";

/**
 * Components that measure how well a completion keeps to its format. They have a value for every completion. Their
 * default weight is 0.
 */
const TIDY: readonly ComponentInfo[] = [
  { name: "format", description: "1 if the completion keeps to its answer format, else 0.", weight: 0 },
  {
    name: "format_strict",
    description:
      "1 if the completion keeps to its answer format, with each tag exactly once and exactly one answer, else 0.",
    weight: 0,
  },
  {
    name: "tags",
    description:
      "Share of the tags <think>, </think>, <answer> and </answer> that the completion contains. Tags that the chat template adds or removes do not count.",
    weight: 0,
  },
];

function weightInfo({ name, description, weight }: ComponentInfo): ParameterInfo {
  return { name, description: `Weight: ${description}`, min: 0, max: 1, defaultValue: weight, integer: false };
}

/**
 * Checks the component names that an environment declares. Returns an error text if two names are equal, or if no
 * component has the primary one's name. Returns undefined otherwise.
 */
export function gradingProblem({ primary, components }: Grading): string | undefined {
  const names = [...components, ...TIDY].map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) return `two components have the name '${twice}'`;
  return components.some(({ name }) => name === primary) ? undefined : `there is no component '${primary}'`;
}

/** Cache of the scheme `weighted` of each environment, by the environment's grading. */
const schemes = new WeakMap<Grading, RewardScheme>();

/**
 * Returns the scheme of an environment with graded facts. Its parameters are the weights of the components, by name.
 */
export function weighted(grading: Grading): RewardScheme {
  const known = schemes.get(grading);
  if (known !== undefined) return known;
  const { components } = grading;
  const all = [...components, ...TIDY];
  const scheme: RewardScheme = {
    name: WEIGHTED,
    description: "The weighted sum of the components that have a value. 0 if none has.",
    parameters: all.map(weightInfo),
    usesTrivial: false,
    usesTidiness: true,
    range: (parameters) => ({ min: 0, max: all.reduce((sum, { name }) => sum + (parameters[name] as number), 0) }),
    price({ findings, tidiness, parameters }) {
      const weightOf = (name: string): number => parameters[name] as number;
      const graded = components.map(({ name }) => priced(name, weightOf(name), findings));
      return sumOf([...graded, ...tidy(tidiness as Tidiness, weightOf)]);
    },
  };
  schemes.set(grading, scheme);
  return scheme;
}

function tidy(
  { formatValid, formatStrict, tags }: Tidiness,
  weightOf: (name: string) => number,
): readonly RewardComponent[] {
  return [
    { name: "format", value: Number(formatValid), weight: weightOf("format") },
    { name: "format_strict", value: Number(formatStrict), weight: weightOf("format_strict") },
    { name: "tags", value: tags, weight: weightOf("tags") },
  ];
}

/**
 * Returns the reward component of this name. If the answer could not be read, the component's value is undefined rather
 * than 0.
 */
function priced(name: string, weight: number, findings: Findings): RewardComponent {
  switch (findings.kind) {
    case "malformed":
      return { name, value: undefined, weight, reason: "the answer could not be read" };
    case "graded":
      return componentOf(name, weight, findings.components);
    case "feasible":
    case "infeasible":
      throw new Error(
        `bug of the environment: its verifier returned '${findings.kind}', but scheme '${WEIGHTED}' needs 'graded'`,
      );
  }
}

function componentOf(name: string, weight: number, components: readonly GradedComponent[]): RewardComponent {
  const found = components.find((component) => component.name === name);
  if (found === undefined) return { name, value: undefined, weight, reason: "the verifier returned no such component" };
  if (found.value === undefined) return { name, value: undefined, weight, reason: found.reason };
  if (!(found.value >= 0 && found.value <= 1))
    throw new Error(`component '${name}' must be from 0 to 1; got ${found.value}`);
  return { name, value: found.value, weight };
}

function sumOf(components: readonly RewardComponent[]): Price {
  const reward = components.reduce((sum, { value, weight }) => sum + (value === undefined ? 0 : weight * value), 0);
  return { reward, components };
}
