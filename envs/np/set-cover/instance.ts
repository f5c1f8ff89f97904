/** What a set cover task is. */
import type { BitMatrix } from "../../lib/bit-matrix.ts";

export interface SetCoverInstance {
  /** A row for each subset, a column for each element of the universe, which is in at least one of them. */
  readonly subsets: BitMatrix;
}
