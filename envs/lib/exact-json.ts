/**
 * JSON of somebody's rows, without losing a digit: a number that JavaScript cannot hold as it is written stays what is
 * written (`JSON.rawJSON`), which is written again unchanged, and which nobody takes for a text.
 */

/** A number as it was written. */
export interface RawNumber {
  readonly rawJSON: string;
}

interface ExactJson {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
  parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
}

// ECMAScript 2026, JSON.parse source text access, which TypeScript does not know yet.
const json = JSON as unknown as ExactJson;

/** A run of digits that a number may lose some of, or an exponent; in a text it may stand for nothing. */
const RISKY = /[\d.]{16}|\d[eE][+-]?\d/;

/** What JSON.parse gives, but for numbers that are not exact. Throws as it does. */
export function parseExact(text: string): unknown {
  if (!RISKY.test(text)) return JSON.parse(text) as unknown;
  return json.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined ? exactNumber(source) : value,
  );
}

const COLON = /\s*:/y;

/** A key that an object of a JSON text has twice, of which JSON.parse would take the last; undefined: none has. */
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

/** Where a text that begins at a quote has its other one. */
function textEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** A number of its text, in JSON's form: raw where JavaScript would change it. */
export function exactNumber(source: string): number | RawNumber {
  const value = Number(source);
  return Number.isFinite(value) && digitsOf(source) === digitsOf(`${value}`) ? value : json.rawJSON(source);
}

/** A number's sign, digits and exponent, the same for all ways to write it. */
function digitsOf(text: string): string {
  const [, sign = "", whole = "", part = "", exponent = "0"] =
    /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  return `${sign}${short}e${Number(exponent) - part.length + digits.length - short.length}`;
}

/** A number that stays as it is written, though JavaScript could hold its value: 2.0 is not 2 everywhere. */
export function rawNumber(source: string): RawNumber {
  return json.rawJSON(source);
}

export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}

/** Zeros that a number in full may have beside its digits. */
const ZEROS_MAX = 1000;

/** A number in full, as people write it, "0.0000001" for 1e-7; undefined: it is none, or too long to be written so. */
export function numberText(value: unknown): string | undefined {
  const source = isRawNumber(value) ? value.rawJSON : typeof value === "number" ? `${value}` : undefined;
  const [, sign = "", whole = "", part = "", exponent] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source ?? "") ?? [];
  if (exponent === undefined) return source;
  const shift = Number(exponent);
  if (Math.abs(shift) > ZEROS_MAX) return undefined;
  const before = Math.max(0, -shift);
  const digits = `${"0".repeat(before)}${whole}${part}${"0".repeat(Math.max(0, shift))}`;
  // The point moves by the exponent, and there are digits on both sides of it.
  const point = before + whole.length + shift;
  const fraction = digits.slice(point).replace(/0+$/, "");
  return `${sign}${digits.slice(0, point).replace(/^0+(?=\d)/, "") || "0"}${fraction === "" ? "" : `.${fraction}`}`;
}
