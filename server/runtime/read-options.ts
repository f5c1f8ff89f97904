/** Reads the values of options from flags and environment variables. Flags win. */
import { didYouMean } from "../../envs/lib/text.ts";
import { configOptions, variableOf } from "./options.ts";
import { ConfigProblem, type OptionSpec } from "./option-values.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Converts a flag's value, as commander gives it, into texts. The value is a text, several texts, or true for a switch.
 */
export function asTexts(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "string" || typeof value === "boolean" ? [String(value)] : [];
}

/** Returns an option's value. Throws ConfigProblem with the flag, the accepted values and the given value. */
export function valueOf(spec: OptionSpec<unknown>, flag: unknown, env: Variables): unknown {
  const name = variableOf(spec);
  const variable = ofService(env[name]) ? "" : (env[name] ?? "");
  if (flag === undefined && variable === "") return spec.defaultValue;
  const texts = flag === undefined ? textsIn(spec, variable) : asTexts(flag);
  const parsed = spec.parse(texts);
  if (parsed.kind === "value") return parsed.value;
  const came = spec.secret ? "" : `; got '${texts.join(",").slice(0, 200)}'`;
  const isCut = spec.repeatable && texts.length > 1 && !variable.includes("\n");
  const cut = isCut ? ", cut at its commas: a value with commas goes on a line of its own" : "";
  const source = flag === undefined ? ` (from ${name}${cut})` : "";
  throw new ConfigProblem(`--${spec.flag} must be ${parsed.expected}${came}${source}`);
}

/**
 * Splits the environment variable of a repeatable option: one value on each line, or one line with commas between
 * values.
 */
function textsIn({ repeatable }: OptionSpec<unknown>, variable: string): readonly string[] {
  if (!repeatable) return [variable];
  if (!variable.includes("\n")) return variable.split(",");
  const lines = variable.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "");
}

/**
 * Returns whether Kubernetes set a variable. For a Service named gradus, it sets GRADUS_PORT in other pods to an
 * address like tcp://10.0.0.1:50051. No option takes such a value.
 */
function ofService(value: string | undefined): boolean {
  return /^(?:tcp|udp|sctp):\/\//.test(value ?? "");
}

/** Matches the names of other variables that Kubernetes sets for a Service. */
const OF_SERVICE = /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/;

/** Variables of other programs: the command line, the clients, the compose file. They cause no warning. */
const OTHERS: readonly string[] = ["GRADUS_SERVER", "GRADUS_TLS_CA", "GRADUS_IMAGE"];

/** Returns a warning for each variable that begins with GRADUS_ but is no option, because it may be misspelled. */
export function unknownVariables(env: Variables): readonly string[] {
  const known = [...Object.values(configOptions).map(variableOf), ...OTHERS];
  return Object.entries(env).flatMap(([name, value = ""]) => {
    const isOurs = name.startsWith("GRADUS_") && value !== "" && !ofService(value) && !OF_SERVICE.test(name);
    return isOurs && !known.includes(name)
      ? [`the environment variable ${name} is unknown, and is ignored${didYouMean(name, known)}`]
      : [];
  });
}

/**
 * Removes both token variables if a flag gives the token. The variables are often set for the clients of another
 * server.
 */
export function withoutToken(flags: Readonly<Record<string, unknown>>, env: Variables): Variables {
  if (flags["token"] === undefined && flags["tokenFile"] === undefined) return env;
  return { ...env, GRADUS_TOKEN: undefined, GRADUS_TOKEN_FILE: undefined };
}
