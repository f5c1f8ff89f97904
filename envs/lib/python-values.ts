/**
 * Reads values that a process in the sandbox wrote (python/runner.py). The untrusted program controls the process,
 * which may write anything. Everything is checked, and an invalid value is refused as a whole.
 */
import { type PyValue, ROOM } from "../ports.ts";

/** Budget for reading all values that one sandbox job returned. Each part that is read reduces it. */
export interface ValueBudget {
  partsLeft: number;
}

/**
 * Maximum number of list items and other parts in all values of a job. It limits the memory that the server takes for
 * nested lists.
 */
export const PARTS_MAX = ROOM.jobPartsMax;
/** Maximum nesting depth. The runner never writes a deeper value. */
const DEPTH_MAX = ROOM.depthMax + 1;
const NAME_LENGTH_MAX = 100;
/** Matches a hexadecimal int of up to 332,196 bits, which suffices for 100,000 decimal digits. */
const HEX_INT = /^-?0x[0-9a-f]{1,83049}$/;
const FLOAT = /^(?:nan|-?inf|-?\d{1,25}(?:\.\d{1,25})?(?:e[+-]\d{1,3})?)$/;
const BYTES = /^[\u0000-\u00ff]*$/;

/** Reads a value from its JSON form. Returns undefined if it is invalid or too large. */
export function readValue(json: unknown, budget: ValueBudget, depth = 0): PyValue | undefined {
  if (--budget.partsLeft < 0 || depth > DEPTH_MAX) return undefined;
  if (json === null || typeof json === "boolean" || typeof json === "string") return json;
  if (typeof json === "number") return Number.isSafeInteger(json) ? { int: String(json) } : undefined;
  if (Array.isArray(json)) return readAll(json, budget, depth);
  if (typeof json !== "object") return undefined;
  const [entry, ...others] = Object.entries(json);
  return entry === undefined || others.length > 0 ? undefined : readTagged(entry[0], entry[1], budget, depth);
}

function readTagged(tag: string, inside: unknown, budget: ValueBudget, depth: number): PyValue | undefined {
  if (typeof inside === "string") return readText(tag, inside);
  if (!Array.isArray(inside)) return undefined;
  if (tag === "d") return readDict(inside, budget, depth);
  const items = readAll(inside, budget, depth);
  if (items === undefined) return undefined;
  if (tag === "t") return { tuple: items };
  if (tag === "s") return { set: items };
  return tag === "z" ? { frozenset: items } : undefined;
}

function readText(tag: string, text: string): PyValue | undefined {
  if (tag === "i") return HEX_INT.test(text) ? { int: decimal(text) } : undefined;
  if (tag === "f") return FLOAT.test(text) ? { float: text } : undefined;
  if (tag === "b") return BYTES.test(text) ? { bytes: text } : undefined;
  return tag === "o" ? { other: text.slice(0, NAME_LENGTH_MAX) } : undefined;
}

function decimal(hex: string): string {
  return hex.startsWith("-") ? String(-BigInt(hex.slice(1))) : String(BigInt(hex));
}

function readAll(items: readonly unknown[], budget: ValueBudget, depth: number): PyValue[] | undefined {
  const values: PyValue[] = [];
  for (const item of items) {
    const value = readValue(item, budget, depth + 1);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

function readDict(entries: readonly unknown[], budget: ValueBudget, depth: number): PyValue | undefined {
  const pairs: [PyValue, PyValue][] = [];
  for (const entry of entries) {
    const pair = Array.isArray(entry) && entry.length === 2 ? readAll(entry, budget, depth) : undefined;
    const [key, value] = pair ?? [];
    if (key === undefined || value === undefined) return undefined;
    pairs.push([key, value]);
  }
  return { dict: pairs };
}
