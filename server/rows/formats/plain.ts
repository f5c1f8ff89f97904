/** Converts values of Arrow and Parquet tables into JSON values, so that a row is the same each time it is read. */
import { exactNumber, isRawNumber } from "../../../envs/lib/exact-json.ts";

/** Converts a value into a JSON value. A 64-bit integer (bigint) becomes an exact number. */
export function plain(value: unknown): unknown {
  if (typeof value === "bigint") return exactNumber(`${value}`);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(plain);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return Array.from(value as unknown as ArrayLike<unknown>, plain);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value === undefined) return null;
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

/** Returns a 32-bit float with its shortest decimals, e.g. 0.1 instead of 0.10000000149011612. */
export function floatOf(value: unknown): unknown {
  if (typeof value !== "number" || !Number.isFinite(value) || Math.fround(value) !== value) return value;
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/**
 * Returns a decimal number from its stored integer and its number of decimals (`scale`). A long integer is given as
 * big-endian bytes.
 */
export function decimalOf(value: unknown, scale: number): unknown {
  if (value instanceof Uint8Array) return decimalOf(bigEndian(value), scale);
  if (typeof value !== "bigint" && typeof value !== "number") return value;
  const digits = `${value}`.replace("-", "").padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const sign = `${value}`.startsWith("-") ? "-" : "";
  return exactNumber(scale === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-scale)}`);
}

function bigEndian(bytes: Uint8Array): bigint {
  const whole = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return BigInt.asIntN(8 * bytes.length, whole);
}
