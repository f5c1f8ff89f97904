/**
 * Parses JSON without losing digits. A number that JavaScript cannot hold exactly is kept as its source text
 * (`JSON.rawJSON`), is written again unchanged, and is never mistaken for a string. Used for data rows and for the
 * arguments of tool calls.
 */

/** Number kept as its source text. */
export interface RawNumber {
  readonly rawJSON: string;
}

interface ExactJson {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
  parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
}

// JSON.parse source text access (ECMAScript 2026), which TypeScript does not declare yet.
const json = JSON as unknown as ExactJson;

/** Matches a long run of digits or an exponent, where a number may lose digits. A match inside a string is harmless. */
const RISKY = /[\d.]{16}|\d[eE][+-]?\d/;

/**
 * Parses JSON like JSON.parse, but keeps numbers that would lose digits as RawNumber. `exact` makes a number or a
 * RawNumber of a number's source text. Throws as JSON.parse does.
 */
export function parseExact(text: string, exact: (source: string) => number | RawNumber = exactNumber): unknown {
  if (!RISKY.test(text)) return JSON.parse(text) as unknown;
  return json.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined ? exact(source) : value,
  );
}

/** Returns how deeply a JSON text is nested, e.g. 2 for "[[1]]". */
export function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = textEnd(text, at);
    else if (character === "[" || character === "{") deepest = Math.max(deepest, ++depth);
    else if (character === "]" || character === "}") depth--;
  }
  return deepest;
}

const COLON = /\s*:/y;

/**
 * Returns a key that some object in the JSON text has twice, or undefined. JSON.parse would silently use the last
 * value.
 */
export function repeatedKey(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{") open.push(new Set());
    else if (character === "}") open.pop();
    if (character !== '"') continue;
    const end = textEnd(text, at);
    COLON.lastIndex = end + 1;
    const keys = open.at(-1);
    if (keys !== undefined && COLON.test(text)) {
      const written = text.slice(at + 1, end);
      const key = written.includes("\\") ? (JSON.parse(`"${written}"`) as string) : written;
      if (keys.has(key)) return key;
      keys.add(key);
    }
    at = end;
  }
  return undefined;
}

/** Returns the index of the quote that closes the string opened at `start`. */
function textEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** Returns a number for its JSON text, or a RawNumber if JavaScript would change it. */
export function exactNumber(source: string): number | RawNumber {
  const value = Number(source);
  return Number.isFinite(value) && digitsOf(source) === digitsOf(`${value}`) ? value : json.rawJSON(source);
}

/** Returns a number's sign, digits and exponent in a form that is equal for all spellings of the number. */
function digitsOf(text: string): string {
  const [, sign = "", whole = "", part = "", exponent = "0"] =
    /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  return `${sign}${short}e${Number(exponent) - part.length + digits.length - short.length}`;
}

/**
 * Returns a number as its source text even if JavaScript could hold its value, because some callers distinguish 2.0
 * from 2.
 */
export function rawNumber(source: string): RawNumber {
  return json.rawJSON(source);
}

export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}

/** Maximum number of zeros that writing out an exponent may add. */
const ZEROS_MAX = 1000;

/**
 * Returns a number without an exponent, e.g. "0.0000001" for 1e-7. Returns undefined if the value is not a number or
 * would be too long.
 */
export function numberText(value: unknown): string | undefined {
  const source = isRawNumber(value) ? value.rawJSON : typeof value === "number" ? `${value}` : undefined;
  const [, sign = "", whole = "", part = "", exponent] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source ?? "") ?? [];
  if (exponent === undefined) return source;
  const shift = Number(exponent);
  if (Math.abs(shift) > ZEROS_MAX) return undefined;
  const before = Math.max(0, -shift);
  const digits = `${"0".repeat(before)}${whole}${part}${"0".repeat(Math.max(0, shift))}`;
  // Move the point by the exponent. The added zeros leave digits on both sides of it.
  const point = before + whole.length + shift;
  const fraction = digits.slice(point).replace(/0+$/, "");
  return `${sign}${digits.slice(0, point).replace(/^0+(?=\d)/, "") || "0"}${fraction === "" ? "" : `.${fraction}`}`;
}
