/**
 * Declares the named numeric parameters of generators and of reward schemes as data, fills in defaults, and checks
 * names and ranges.
 */
import type { Environment, GrowthAxis, Level, ParameterInfo, Parameters } from "./environment.ts";
import { didYouMean } from "./lib/text.ts";

/** Declaration of a parameter, without its name. */
export type ParameterSpec = Omit<ParameterInfo, "name">;
export type ParameterSpecs = Readonly<Record<string, ParameterSpec>>;
/** Values of declared parameters, by name: `ParametersOf<typeof parameters>`. */
export type ParametersOf<Specs extends ParameterSpecs> = { readonly [Name in keyof Specs]: number };

type LaterName<Specs extends ParameterSpecs> = {
  [Name in keyof Specs]: Specs[Name] extends { readonly later: true } ? Name : never;
}[keyof Specs];

/**
 * Parameter values as a level states them. Parameters marked `later`, i.e. added after tasks were issued, may be
 * omitted.
 */
export type LevelParametersOf<Specs extends ParameterSpecs> = {
  readonly [Name in Exclude<keyof Specs, LaterName<Specs>>]: number;
} & { readonly [Name in LaterName<Specs>]?: number };

/** Declares parameters. Throws if a default is out of its range, which is a mistake of the environment's author. */
export function defineParameters<const Specs extends ParameterSpecs>(specs: Specs): Specs {
  for (const info of parameterInfos(specs)) {
    const problem = problemOf(info, info.defaultValue);
    if (problem !== undefined) throw new Error(`the default is out of range: ${problem}`);
  }
  return specs;
}

/** Returns the parameters as a list, in the order of declaration. */
export function parameterInfos(specs: ParameterSpecs): readonly ParameterInfo[] {
  return Object.entries(specs).map(([name, spec]) => ({ name, ...spec }));
}

/** Range of numbers, both ends included. */
export type Range = readonly [min: number, max: number];

/** Declares an integer parameter. */
export function wholeNumber(description: string, defaultValue: number, [min, max]: Range): ParameterSpec {
  return { description, min, max, defaultValue, integer: true };
}

/** Declares a share or a probability, from 0 to 1. */
export function share(description: string, defaultValue: number): ParameterSpec {
  return { description, min: 0, max: 1, defaultValue, integer: false };
}

/**
 * Declares a switch, 0 (off, the default) or 1 (on), that was added after tasks of the environment's version had been
 * issued. If on, the other parameters have no effect, except those that set sizes.
 */
export function laterSwitch(description: string): ParameterSpec & { readonly later: true } {
  return { ...wholeNumber(description, 0, [0, 1]), later: true };
}

type Pair<Name extends string> = { readonly [Key in `${Name}_min` | `${Name}_max`]: ParameterSpec };

/**
 * Declares the two ends of a range, `name_min` and `name_max`. If a caller sets only one end, beyond the default of the
 * other end, that default moves along. For example, cities_min = 30 raises a default of 20 for cities_max to 30.
 */
export function minMax<Name extends string>(
  name: Name,
  [least, most]: readonly [least: string, most: string],
  [min, max]: Range,
  limits: Pick<ParameterSpec, "min" | "max" | "integer">,
): Pair<Name> {
  const ends = {
    [`${name}_min`]: {
      description: `${least} Given alone, it raises ${name}_max as needed.`,
      defaultValue: min,
      ...limits,
    },
    [`${name}_max`]: {
      description: `${most} Given alone, it lowers ${name}_min as needed.`,
      defaultValue: max,
      ...limits,
    },
  };
  // TypeScript does not infer the names of computed keys.
  return ends as Pair<Name>;
}

type Ends<Ranges> = {
  readonly [Key in keyof Ranges & string as `${Key}_min` | `${Key}_max`]: number;
};

/** Returns values of ranges declared with `minMax`: { cities: [10, 20] } becomes { cities_min: 10, cities_max: 20 }. */
export function ranges<const Ranges extends Readonly<Record<string, Range>>>(of: Ranges): Ends<Ranges> {
  const ends = Object.entries(of).flatMap(
    ([name, [min, max]]) =>
      [
        [`${name}_min`, min],
        [`${name}_max`, max],
      ] as const,
  );
  return Object.fromEntries(ends) as Ends<Ranges>;
}

/**
 * Returns a growth axis (a series of values from easy to hard) along which both ends of a range are equal and grow,
 * e.g. cities_min and cities_max for "cities". `more` returns the other parameters that a value sets.
 */
export function sizeAxis<const Name extends string, More extends Parameters = Record<never, number>>(
  name: Name,
  [first, last]: Range,
  more?: (value: number) => More,
): GrowthAxis<Ends<{ readonly [Key in Name]: Range }> & More> {
  const parametersAt = (value: number) => ({ ...ranges({ [name]: [value, value] }), ...more?.(value) });
  // TypeScript does not infer the names of computed keys.
  return { name, first, last, parametersAt: parametersAt as GrowthAxis<never>["parametersAt"] };
}

/** Refusal of a request: the faulty field, and why. */
export interface Invalid {
  readonly kind: "invalid";
  /** Path of the field, e.g. "name" or "parameters.cities_min". */
  readonly field: string;
  readonly message: string;
}

type Given = Readonly<Record<string, number>>;
type FilledParameters = { readonly kind: "ok"; readonly parameters: Parameters } | Invalid;

/**
 * Fills in defaults for missing values, in the order of `infos`. Omits a parameter marked `later`, i.e. added after
 * tasks were issued, if it has its default. The result is invalid, with a reason, if a name is unknown or a value is
 * out of range.
 */
export function fillParameters(infos: readonly ParameterInfo[], values: Given): FilledParameters {
  const names = infos.map((info) => info.name);
  for (const name of Object.keys(values)) {
    if (names.includes(name)) continue;
    const message = `unknown parameter '${name.slice(0, 64)}'${didYouMean(name, names)}`;
    return { kind: "invalid", field: "parameters", message };
  }
  const isGiven = ({ name }: ParameterInfo): boolean => Object.hasOwn(values, name);
  const value = (info: ParameterInfo): number =>
    (isGiven(info) ? values[info.name] : undefined) ?? defaultOf(info, values);
  // The caller's own values are checked before defaults. Otherwise an error could name the other end of a range, which
  // the caller did not set.
  for (const info of [...infos.filter(isGiven), ...infos]) {
    const message = problemOf(info, value(info));
    if (message !== undefined) return { kind: "invalid", field: `parameters.${info.name}`, message };
  }
  const kept = infos.filter((info) => info.later !== true || value(info) !== info.defaultValue);
  const filled = Object.fromEntries(kept.map((info) => [info.name, value(info)]));
  const message = minAboveMax(filled);
  if (message !== undefined) return { kind: "invalid", field: "parameters", message };
  return { kind: "ok", parameters: Object.freeze(filled) };
}

/**
 * Returns the default of a parameter that is not given. If only one end of a range is given, the default of the other
 * end yields to it.
 */
function defaultOf({ name, defaultValue }: ParameterInfo, values: Given): number {
  const other = values[otherEnd(name)];
  if (other === undefined) return defaultValue;
  return name.endsWith("_min") ? Math.min(defaultValue, other) : Math.max(defaultValue, other);
}

/**
 * Returns "cities_max" for "cities_min" and vice versa, or an empty string for a parameter that is not an end of a
 * range.
 */
function otherEnd(name: string): string {
  if (name.endsWith("_min")) return name.replace(/_min$/, "_max");
  return name.endsWith("_max") ? name.replace(/_max$/, "_min") : "";
}

function problemOf(info: ParameterInfo, value: number): string | undefined {
  const { name, min, max } = info;
  // Written so that NaN counts as out of range.
  if (!(value >= min && value <= max)) return `${name} must be from ${min} to ${max}; got ${value}`;
  if (info.integer && !Number.isInteger(value)) return `${name} must be a whole number; got ${value}`;
  return undefined;
}

/** Returns an error text if a parameter …_min is above its …_max. */
function minAboveMax(parameters: Parameters): string | undefined {
  for (const [name, min] of Object.entries(parameters)) {
    const other = otherEnd(name);
    const max = name.endsWith("_min") ? parameters[other] : undefined;
    if (max !== undefined && min > max) return `${name} must not be above ${other}: ${min} > ${max}`;
  }
  return undefined;
}

// Functions that find the level that a request names, or check the parameters that it sets in place of a level.

export type FoundLevel =
  { readonly kind: "found"; readonly level: Level } | { readonly kind: "unknown"; readonly message: string };

export function findLevel(environment: Environment, name: string): FoundLevel {
  const level = environment.levels.find((candidate) => candidate.name === name);
  if (level !== undefined) return { kind: "found", level };
  const names = environment.levels.map((candidate) => candidate.name);
  const message = `${environment.id} has no level '${name.slice(0, 64)}'${didYouMean(name, names)}`;
  return { kind: "unknown", message: `${message}; it has: ${names.join(", ")}` };
}

/**
 * Completes and checks a generator's parameters: fills in defaults, checks each range, and checks that no parameters
 * contradict each other.
 */
export function resolveParameters({ id, generator: own, asked }: Environment, values: Given): FilledParameters {
  const generator = own ?? asked;
  if (generator === undefined) {
    return { kind: "invalid", field: "parameters", message: `${id} has no generator, and so takes no parameters` };
  }
  const filled = fillParameters(generator.parameters, values);
  if (filled.kind === "invalid") return filled;
  const message = generator.conflict?.(filled.parameters);
  return message === undefined ? filled : { kind: "invalid", field: "parameters", message };
}
