/** Sizes of plain data, for caches that are bounded by memory. */

/** About how many bytes a value takes. Items of a list are taken to be like its first, so that this costs nothing. */
export function roughBytes(value: unknown): number {
  if (ArrayBuffer.isView(value)) return 100 + value.byteLength;
  if (typeof value === "string") return 16 + value.length;
  if (Array.isArray(value)) return 32 + value.length * (8 + roughBytes(value[0]));
  if (typeof value !== "object" || value === null) return 8;
  return Object.values(value).reduce((sum: number, part) => sum + 8 + roughBytes(part), 24);
}
