/**
 * Stores matrices of zeros and ones, with 32 entries in a 32-bit word. A graph stores its edges in such a matrix. The
 * set cover environment stores which elements each set has.
 */

export interface BitMatrix {
  readonly rows: number;
  readonly columns: number;
  /** Number of 32-bit words in a row. */
  readonly words: number;
  /**
   * The rows, one after the other. Column c of a row is bit c mod 32 of its word ⌊c / 32⌋. Bits after the last column
   * are 0.
   */
  readonly bits: Uint32Array;
}

/** Creates a matrix of zeros. */
export function bitMatrix(rows: number, columns: number): BitMatrix {
  const words = (columns + 31) >>> 5;
  return { rows, columns, words, bits: new Uint32Array(rows * words) };
}

/** Creates a matrix from one list for each row: the columns in which the row has ones. */
export function bitMatrixOf(columns: number, lists: readonly (readonly number[])[]): BitMatrix {
  const matrix = bitMatrix(lists.length, columns);
  for (const [row, list] of lists.entries()) for (const column of list) setBit(matrix, row, column);
  return matrix;
}

/** Sets an entry to one. Only for building a matrix: finished matrices are never changed. */
export function setBit({ bits, words }: BitMatrix, row: number, column: number): void {
  const at = row * words + (column >>> 5);
  bits[at] = (bits[at] as number) | (1 << (column & 31));
}

export function hasBit({ bits, words }: BitMatrix, row: number, column: number): boolean {
  return (((bits[row * words + (column >>> 5)] as number) >>> (column & 31)) & 1) === 1;
}

/** Returns the columns of a row's ones, ascending. */
export function onesOf({ bits, words }: BitMatrix, row: number): readonly number[] {
  const ones: number[] = [];
  for (let w = 0; w < words; w++) {
    for (let word = bits[row * words + w] as number; word !== 0; word &= word - 1) ones.push(w * 32 + lowestBit(word));
  }
  return ones;
}

/** Returns the number of ones in a row. */
export function countOnes({ bits, words }: BitMatrix, row: number): number {
  let count = 0;
  for (let w = 0; w < words; w++) count += bitCount(bits[row * words + w] as number);
  return count;
}

/** Returns a text that is equal for two matrices exactly if they are equal. */
export function canonicalBits({ rows, columns, bits }: BitMatrix): string {
  return `${rows} ${columns} ${bits.join(" ")}`;
}

/** Returns a line for each row with its number and the columns of its ones, such as "0: 1 3" or "2: none". */
export function rowsText(matrix: BitMatrix): string {
  const lines: string[] = [];
  for (let row = 0; row < matrix.rows; row++) lines.push(`${row}: ${onesOf(matrix, row).join(" ") || "none"}`);
  return lines.join("\n");
}

/** Returns the position of the lowest bit that is 1 in a 32-bit word. The word must not be 0. */
export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}

/**
 * Returns the number of ones in a 32-bit word, by sums of neighbouring fields of growing width (Warren, Hacker's
 * Delight, 5-1).
 */
export function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
