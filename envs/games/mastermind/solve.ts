/** The best strategy's worst case, proven by an exhaustive search of strategies. */
import { type Code, marksOf } from "./code.ts";

/**
 * Guesses that the best strategy needs in its worst case, including the right one: a list for 2, 3 and 4 places, with an
 * entry for 2 to 6 colours. Tests compute the entries of
 * all levels, and of 2 and 3 places, by `worstCase`. Another method confirms the small ones and 4 places with 6 colours.
 */
const WORST: readonly (readonly number[])[] = [
  [3, 3, 4, 4, 5],
  [3, 4, 4, 5, 5],
  [4, 4, 4, 5, 5],
];

export function worstCaseOf(places: number, colours: number): number {
  const worst = WORST[places - 2]?.[colours - 2];
  if (worst === undefined) throw new Error(`bug: no worst case is known of ${places} places and ${colours} colours`);
  return worst;
}

/** A code as its index among all codes. */
type Index = number;

/** Marks of all pairs of codes, each as one number. */
interface Game {
  readonly size: number;
  /** Number of the marks of a guess on a secret. */
  readonly marks: Uint8Array;
  readonly right: number;
  /** Maximum number of codes that some guesses can tell apart, by their number. */
  readonly countMax: readonly number[];
  /** First guesses, one of each kind: others differ only in the names of colours and the order of places. */
  readonly firsts: readonly Index[];
}

const DEPTH_MAX = 10;

export function allCodes(places: number, colours: number): readonly Code[] {
  let codes: readonly Code[] = [[]];
  for (let place = 0; place < places; place++)
    codes = codes.flatMap((code) => Array.from({ length: colours }, (_, colour) => [...code, colour + 1]));
  return codes;
}

function gameOf(places: number, colours: number): Game {
  const codes = allCodes(places, colours);
  const size = codes.length;
  const marks = new Uint8Array(size * size);
  for (const [g, guess] of codes.entries())
    for (const [s, secret] of codes.entries()) {
      const { inPlace, elsewhere } = marksOf(secret, guess);
      marks[g * size + s] = inPlace * (places + 1) + elsewhere;
    }
  const kinds = ((places + 1) * (places + 2)) / 2 - 1;
  const countMax = [0];
  for (let guesses = 1; guesses <= DEPTH_MAX; guesses++)
    countMax.push(1 + (kinds - 1) * (countMax[guesses - 1] as number));
  const isFirst = (code: Code): boolean => {
    const counts = Array.from({ length: colours }, (_, i) => code.filter((colour) => colour === i + 1).length);
    const isSorted = code.every((colour, i) => i === 0 || (code[i - 1] as number) <= colour);
    return isSorted && counts.every((count, i) => i === 0 || (counts[i - 1] as number) >= count);
  };
  const firsts = codes.flatMap((code, index) => (isFirst(code) ? [index] : []));
  return { size, marks, right: places * (places + 1), countMax, firsts };
}

/** Returns the number of guesses that the best strategy needs in its worst case. */
export function worstCase(places: number, colours: number): number {
  const game = gameOf(places, colours);
  const all = Array.from({ length: game.size }, (_, index) => index);
  for (let guesses = 1; ; guesses++) if (isSolvable(game, all, guesses, game.firsts)) return guesses;
}

/** Returns whether some strategy finds each of the codes with at most so many guesses. */
function isSolvable(game: Game, codes: readonly Index[], guesses: number, tried?: readonly Index[]): boolean {
  if (codes.length <= 1) return codes.length === 0 || guesses >= 1;
  if (codes.length > (game.countMax[guesses] as number) || guesses < 2) return false;
  const seen = new Set<string>();
  const count = tried?.length ?? game.size;
  for (let i = 0; i < count + codes.length; i++) {
    // Codes that may be the secret come first, because they split the others best.
    const guess =
      i < codes.length ? (codes[i] as Index) : tried === undefined ? i - codes.length : tried[i - codes.length];
    if (guess === undefined || (tried !== undefined && i < codes.length)) continue;
    if (!tellsApart(game, codes, guess, game.countMax[guesses - 1] as number)) continue;
    // With one guess left, every class has one code, so nothing remains to be checked.
    if (guesses === 2) return true;
    const classes = classesOf(game, codes, guess);
    // Two guesses that split the codes in the same way are equally good.
    const key = classes
      .map((each) => each.join())
      .sort()
      .join("|");
    if (seen.has(key)) continue;
    seen.add(key);
    if (classes.every((each) => isSolvable(game, each, guesses - 1))) return true;
  }
  return false;
}

/**
 * Returns whether a guess leaves at most `countMax` codes for each of its marks, and fewer than there are. The loop runs
 * for each guess at each node of the search, so it allocates one array.
 */
function tellsApart({ size, marks, right }: Game, codes: readonly Index[], guess: Index, countMax: number): boolean {
  const counts = new Uint16Array(right + 1);
  const max = Math.min(countMax, codes.length - 1);
  for (let i = 0; i < codes.length; i++) {
    const mark = marks[guess * size + (codes[i] as Index)] as number;
    if (mark === right) continue;
    const count = (counts[mark] as number) + 1;
    if (count > max) return false;
    counts[mark] = count;
  }
  return true;
}

/** Returns the codes that are left after a guess, by its marks, the largest class first. */
function classesOf({ size, marks, right }: Game, codes: readonly Index[], guess: Index): readonly (readonly Index[])[] {
  const classes = Map.groupBy(codes, (code) => marks[guess * size + code] as number);
  classes.delete(right);
  return [...classes.values()].sort((a, b) => b.length - a.length);
}
