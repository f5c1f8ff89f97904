/** What to generate: an environment's levels, and parameters in place of one. */
import type { Environment, Level } from "./environment.ts";
import { didYouMean } from "./lib/did-you-mean.ts";
import { fillParameters } from "./parameters.ts";
import type { FilledParameters } from "./parameters.ts";

export type FoundLevel =
  { readonly kind: "found"; readonly level: Level } | { readonly kind: "unknown"; readonly message: string };

/** A level by its name. */
export function findLevel(environment: Environment, name: string): FoundLevel {
  const level = environment.levels.find((candidate) => candidate.name === name);
  if (level !== undefined) return { kind: "found", level };
  const names = environment.levels.map((candidate) => candidate.name);
  const message = `${environment.id} has no level '${name.slice(0, 64)}'${didYouMean(name, names)}`;
  return { kind: "unknown", message: `${message}; it has: ${names.join(", ")}` };
}

/** A generator's parameters, complete: defaults filled in, each in its range, and none at odds with another. */
export function resolveParameters(
  environment: Environment,
  values: Readonly<Record<string, number>>,
): FilledParameters {
  const filled = fillParameters(environment.parameters, values);
  if (filled.kind === "invalid") return filled;
  const message = environment.checkParameters?.(filled.parameters);
  return message === undefined ? filled : { kind: "invalid", field: "parameters", message };
}
