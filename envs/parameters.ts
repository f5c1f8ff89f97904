/** Named numbers, of generators and of reward schemes: defaults filled in, names and ranges checked. */
import type { Environment, Level, ParameterInfo, Parameters } from "./environment.ts";
import { didYouMean } from "./lib/text.ts";

/** A request that cannot be met: which field of it, and why, in words. */
export interface Invalid {
  readonly kind: "invalid";
  /** E.g. "name", "parameters.cities_min". */
  readonly field: string;
  readonly message: string;
}

type FilledParameters = { readonly kind: "ok"; readonly parameters: Parameters } | Invalid;

/** The values with defaults where they leave something out, in the order of infos; invalid names what is wrong. */
export function fillParameters(
  infos: readonly ParameterInfo[],
  values: Readonly<Record<string, number>>,
): FilledParameters {
  const names = infos.map((info) => info.name);
  for (const name of Object.keys(values)) {
    if (names.includes(name)) continue;
    return {
      kind: "invalid",
      field: "parameters",
      message: `unknown parameter '${name.slice(0, 64)}'${didYouMean(name, names)}`,
    };
  }
  const filled: [string, number][] = [];
  for (const info of infos) {
    const value = Object.hasOwn(values, info.name) ? (values[info.name] as number) : info.defaultValue;
    const message = problemOf(info, value);
    if (message !== undefined) return { kind: "invalid", field: `parameters.${info.name}`, message };
    filled.push([info.name, value]);
  }
  return { kind: "ok", parameters: Object.freeze(Object.fromEntries(filled)) };
}

function problemOf(info: ParameterInfo, value: number): string | undefined {
  const { name, min, max } = info;
  // Written so that NaN is out of range.
  if (!(value >= min && value <= max)) return `${name} must be from ${min} to ${max}, and is ${value}`;
  if (info.integer && !Number.isInteger(value)) return `${name} must be a whole number, and is ${value}`;
  return undefined;
}

/** What is wrong where a parameter named …_min is above its …_max; for an environment's checkParameters. */
export function minAboveMax(parameters: Readonly<Record<string, number>>): string | undefined {
  for (const [name, min] of Object.entries(parameters)) {
    const other = name.replace(/_min$/, "_max");
    const max = parameters[other];
    if (max !== undefined && min > max) return `${name} must not be above ${other}: ${min} > ${max}`;
  }
  return undefined;
}

// What to generate: an environment's levels, and parameters in place of one.

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
