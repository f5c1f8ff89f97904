/** What a bandit keeps, and how it is written: it goes into the journal with each draw, and so is short. */
import {
  type Codec,
  isList,
  type Json,
  readList,
  readNumber,
  readNumbers,
  readObject,
  readOrNull,
  readText,
} from "../../json.ts";
import type { Tracks } from "./progress.ts";
import { windowFromText, windowToText } from "./rescale.ts";
import type { Columns } from "./rule.ts";

export interface BanditState {
  /** Its rule's. */
  readonly columns: Columns;
  /** Undefined: the signal is not learning progress. */
  readonly tracks: Tracks | undefined;
  /** Codes of the last signals, oldest first; undefined: signals are not rescaled. */
  readonly window: readonly number[] | undefined;
}

function readAverages(json: Json | undefined): readonly (number | null)[] {
  return readList(json).map((average) => readOrNull(average, readNumber));
}

/** One column and nothing else is a list of numbers: the values of EMA-softmax. */
export const banditStateCodec: Codec<BanditState> = {
  encode({ columns, tracks, window }) {
    const [only] = columns;
    if (only !== undefined && columns.length === 1 && tracks === undefined && window === undefined) return only;
    return {
      columns,
      ...(tracks && { fast: tracks.fast, slow: tracks.slow }),
      ...(window && { window: windowToText(window) }),
    };
  },
  decode(json) {
    if (isList(json)) return { columns: [readNumbers(json)], tracks: undefined, window: undefined };
    const { columns, fast, slow, window } = readObject(json);
    return {
      columns: readList(columns).map(readNumbers),
      tracks: fast === undefined ? undefined : { fast: readAverages(fast), slow: readAverages(slow) },
      window: window === undefined ? undefined : windowFromText(readText(window)),
    };
  },
};
