/** Matrices of zeros and ones, 32 to a word: a graph's adjacency, or which subset holds which element. */

export interface BitMatrix {
  readonly rows: number;
  readonly columns: number;
  /** Words in a row. */
  readonly words: number;
  /** Row by row; column c of a row is bit c mod 32 of its word ⌊c / 32⌋. Bits past the last column are 0. */
  readonly bits: Uint32Array;
}

/** All zeros. */
export function bitMatrix(rows: number, columns: number): BitMatrix {
  const words = (columns + 31) >>> 5;
  return { rows, columns, words, bits: new Uint32Array(rows * words) };
}

/** The matrix with ones in these columns, a list for each row. */
export function bitMatrixOf(columns: number, lists: readonly (readonly number[])[]): BitMatrix {
  const matrix = bitMatrix(lists.length, columns);
  for (const [row, list] of lists.entries()) for (const column of list) setBit(matrix, row, column);
  return matrix;
}

/** Writes a one. For those who make a matrix; once handed on, it is not written again. */
export function setBit({ bits, words }: BitMatrix, row: number, column: number): void {
  const at = row * words + (column >>> 5);
  bits[at] = (bits[at] as number) | (1 << (column & 31));
}

export function hasBit({ bits, words }: BitMatrix, row: number, column: number): boolean {
  return (((bits[row * words + (column >>> 5)] as number) >>> (column & 31)) & 1) === 1;
}

/** The columns of a row's ones, ascending. */
export function onesOf({ bits, words }: BitMatrix, row: number): readonly number[] {
  const ones: number[] = [];
  for (let w = 0; w < words; w++) {
    for (let word = bits[row * words + w] as number; word !== 0; word &= word - 1) ones.push(w * 32 + lowestBit(word));
  }
  return ones;
}

/** How many ones a row has. */
export function countOnes({ bits, words }: BitMatrix, row: number): number {
  let count = 0;
  for (let w = 0; w < words; w++) count += bitCount(bits[row * words + w] as number);
  return count;
}

/** The same for two matrices exactly if they are equal. */
export function canonicalBits({ rows, columns, bits }: BitMatrix): string {
  return `${rows} ${columns} ${bits.join(" ")}`;
}

/** A line for each row: its number and, after a colon, the columns of its ones: "0: 1 3", or "2: none". */
export function rowsText(matrix: BitMatrix): string {
  const lines: string[] = [];
  for (let row = 0; row < matrix.rows; row++) lines.push(`${row}: ${onesOf(matrix, row).join(" ") || "none"}`);
  return lines.join("\n");
}

/** The position of the lowest one of a word that is not 0. */
export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}

/** How many ones a 32-bit word has: sums of neighbours, in ever wider fields (Warren, Hacker's Delight, 5-1). */
export function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
