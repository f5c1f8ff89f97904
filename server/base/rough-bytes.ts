/** Estimates how many bytes of heap a value takes. */

/**
 * Returns about how many bytes of heap a value takes. It measures only some items of a list, so that the call is cheap.
 */
export function roughBytes(value: unknown): number {
  if (ArrayBuffer.isView(value)) return 100 + value.byteLength;
  if (typeof value === "string") return 16 + value.length;
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return 32 + value.length * (8 + meanBytes(value));
  return Object.values(value).reduce((sum: number, part) => sum + 8 + roughBytes(part), 24);
}

function meanBytes(list: readonly unknown[]): number {
  const step = Math.max(1, Math.floor(list.length / SAMPLE));
  let sum = 0;
  let count = 0;
  for (let i = 0; i < list.length; i += step) {
    sum += roughBytes(list[i]);
    count++;
  }
  return count === 0 ? 0 : sum / count;
}

/** Number of items, of each list, that are measured. */
const SAMPLE = 8;
