/** Whole numbers from 0 to 2^31 − 1 as bytes, for instances that travel in task ids. */
import { INLINE_BYTES_MAX } from "./inline-bits.ts";

const MORE = 128;

/** Seven bits a byte, the lowest first, with the eighth where more follow; undefined: too many bytes. */
export function encodeNumbers(numbers: Iterable<number>): Uint8Array | undefined {
  const bytes: number[] = [];
  for (const number of numbers) {
    let rest = number;
    for (; rest >= MORE; rest >>>= 7) bytes.push((rest & (MORE - 1)) | MORE);
    bytes.push(rest);
    if (bytes.length > INLINE_BYTES_MAX) return undefined;
  }
  return Uint8Array.from(bytes);
}

/** The numbers that were encoded. */
export function decodeNumbers(bytes: Uint8Array): readonly number[] {
  const numbers: number[] = [];
  let number = 0;
  let shift = 0;
  for (const byte of bytes) {
    number |= (byte & (MORE - 1)) << shift;
    shift += 7;
    if (byte >= MORE) continue;
    numbers.push(number);
    number = 0;
    shift = 0;
  }
  return numbers;
}
