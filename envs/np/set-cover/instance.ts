/** What a set cover task is. */
import type { InlineCodec } from "../../environment.ts";
import type { BitMatrix } from "../../lib/bit-matrix.ts";
import { inlineBits } from "../../lib/inline-bits.ts";

export interface SetCoverInstance {
  /** A row for each subset, a column for each element of the universe, which is in at least one of them. */
  readonly subsets: BitMatrix;
}

export const inline: InlineCodec<SetCoverInstance> = {
  encode: ({ subsets }) => inlineBits.encode(subsets),
  decode: (bytes) => ({ subsets: inlineBits.decode(bytes) }),
};
