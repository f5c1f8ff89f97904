/** Converts single values of a run file to ProtoJSON. An error says which value is expected and which was given. */
import { type DescEnum, ScalarType } from "@bufbuild/protobuf";
import { didYouMean } from "../../envs/lib/text.ts";

/** Value in ProtoJSON, or an error message. */
export type Read =
  | { readonly kind: "value"; readonly value: string | number | boolean }
  | { readonly kind: "wrong"; readonly message: string };

const value = (read: string | number | boolean): Read => ({ kind: "value", value: read });
const wrong = (message: string): Read => ({ kind: "wrong", message });

/** Returns a value in short form for an error message. */
export function shown(given: unknown): string {
  if (typeof given === "string") return `'${given.length > 40 ? `${given.slice(0, 40)}…` : given}'`;
  return String(given);
}

const INTEGERS: Readonly<Partial<Record<ScalarType, readonly [bigint, bigint]>>> = {
  [ScalarType.INT32]: [-(2n ** 31n), 2n ** 31n - 1n],
  [ScalarType.UINT32]: [0n, 2n ** 32n - 1n],
  [ScalarType.INT64]: [-(2n ** 63n), 2n ** 63n - 1n],
  [ScalarType.UINT64]: [0n, 2n ** 64n - 1n],
  [ScalarType.FIXED64]: [0n, 2n ** 64n - 1n],
};

/**
 * Returns an integer, which may be written in quotes, or undefined. ProtoJSON quotes 64-bit integers, because
 * JavaScript would round them.
 */
function wholeOf(given: unknown): bigint | undefined {
  if (typeof given === "bigint") return given;
  if (typeof given === "number") return Number.isSafeInteger(given) ? BigInt(given) : undefined;
  return typeof given === "string" && /^-?\d{1,20}$/.test(given) ? BigInt(given) : undefined;
}

function readWhole(given: unknown, [min, max]: readonly [bigint, bigint]): Read {
  const whole = wholeOf(given);
  if (whole === undefined) return wrong(`wants a whole number, e.g. 10000; got ${shown(given)}`);
  if (whole < min || whole > max) return wrong(`must be from ${min} to ${max}, not ${whole}`);
  return value(String(whole));
}

function readNumber(given: unknown): Read {
  const number = typeof given === "bigint" ? Number(given) : given;
  if (typeof number !== "number") return wrong(`wants a number, e.g. 0.5; got ${shown(given)}`);
  return Number.isFinite(number) ? value(number) : wrong(`wants a finite number; got ${shown(given)}`);
}

/** Reads any number, boolean or text. */
export function readAny(given: unknown): Read {
  if (typeof given === "number" || typeof given === "bigint") return readNumber(given);
  return readScalar(typeof given === "boolean" ? ScalarType.BOOL : ScalarType.STRING, given);
}

export function readScalar(scalar: ScalarType, given: unknown): Read {
  const range = INTEGERS[scalar];
  if (range !== undefined) return readWhole(given, range);
  switch (scalar) {
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return readNumber(given);
    case ScalarType.BOOL:
      return typeof given === "boolean" ? value(given) : wrong(`wants true or false; got ${shown(given)}`);
    case ScalarType.STRING:
      if (typeof given !== "string") return wrong(`wants text; got ${shown(given)}: put it in quotes`);
      return given.isWellFormed() ? value(given) : wrong("wants text; got half of a character");
    default:
      throw new Error(`no field of a run file is of protobuf type ${ScalarType[scalar]}`);
  }
}

/**
 * Returns an enum's values by name, in lower case and without the common prefix. The value 0, which means unset, is
 * left out.
 */
function namesOf({ values, sharedPrefix = "" }: DescEnum): ReadonlyMap<string, number> {
  const said = values.filter(({ number }) => number !== 0);
  return new Map(said.map(({ name, number }) => [name.toLowerCase().slice(sharedPrefix.length), number]));
}

/** Reads the name of an enum's value, in any case, with or without the common prefix. */
export function readEnum(desc: DescEnum, given: unknown): Read {
  const names = namesOf(desc);
  const list = [...names.keys()].join(", ");
  if (typeof given !== "string") return wrong(`wants one of ${list}; got ${shown(given)}`);
  const lower = given.toLowerCase();
  const prefix = desc.sharedPrefix ?? "";
  const number = names.get(lower.startsWith(prefix) ? lower.slice(prefix.length) : lower);
  if (number !== undefined) return value(number);
  return wrong(`wants one of ${list}; got ${shown(given)}${didYouMean(lower, [...names.keys()])}`);
}

const UNIT_SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** Reads a time such as "10m", "1h30m" or "90s". Returns it in seconds, as ProtoJSON writes a Duration. */
export function readDuration(given: unknown): Read {
  const wanted = `wants a time with its unit, e.g. 10m, 1h30m or 90s (ms, s, m, h, d, w); got ${shown(given)}`;
  if (typeof given !== "string" || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/.test(given)) return wrong(wanted);
  let seconds = 0;
  for (const [, amount, unit] of given.matchAll(/([\d.]+)(ms|s|m|h|d|w)/g))
    seconds += Number(amount) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS];
  // Maximum of a protobuf Duration: ten thousand years.
  if (seconds > 315_576_000_000) return wrong(`must be at most 3652500 days; got ${shown(given)}`);
  return value(`${seconds.toFixed(9)}s`);
}
