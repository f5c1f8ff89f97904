/** The one module that prices facts: verifiers find them, reward schemes say what they are worth. */
import type { Environment, Parameters } from "./environment.ts";
import { didYouMean } from "./lib/did-you-mean.ts";
import { fillParameters } from "./parameters.ts";
import type { Invalid } from "./parameters.ts";
import { graded } from "./reward/graded.ts";
import { optimizationSchemes } from "./reward/optimization.ts";
import type { RewardScheme } from "./reward/scheme.ts";

export type { Findings, Price, RewardComponent, RewardScheme } from "./reward/scheme.ts";

/** A scheme with its parameters filled in. */
export interface ResolvedScheme {
  readonly name: string;
  readonly parameters: Parameters;
  readonly scheme: RewardScheme;
}

export const rewardSchemes: Readonly<Record<string, RewardScheme>> = Object.freeze(
  Object.fromEntries([...optimizationSchemes, graded].map((scheme) => [scheme.name, scheme])),
);

/** A scheme of an environment by its name; "" is the environment's default. Invalid fields are "name", "parameters.…". */
export function resolveScheme(
  environment: Environment,
  name: string,
  values: Readonly<Record<string, number>>,
): { readonly kind: "ok"; readonly scheme: ResolvedScheme } | Invalid {
  const names = environment.rewardSchemes;
  const wanted = name === "" ? names[0] : names.find((candidate) => candidate === name);
  const scheme = wanted === undefined ? undefined : rewardSchemes[wanted];
  if (scheme === undefined) {
    const message = `${environment.id} has no reward scheme '${name.slice(0, 64)}'${didYouMean(name, names)}`;
    return { kind: "invalid", field: "name", message };
  }
  const filled = fillParameters(scheme.parameters, values);
  if (filled.kind === "invalid") return filled;
  return { kind: "ok", scheme: { name: scheme.name, parameters: filled.parameters, scheme } };
}
