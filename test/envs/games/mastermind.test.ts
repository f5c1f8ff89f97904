/** Mastermind: replies, and proofs of the worst case of the best strategy. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Code, marksOf } from "../../../envs/games/mastermind/code.ts";
import { mastermind } from "../../../envs/games/mastermind/index.ts";
import { worstCase, worstCaseOf } from "../../../envs/games/mastermind/solve.ts";

/** Marks by their definition: pegs are removed one by one. */
function slowMarks(secret: Code, guess: Code): string {
  const inPlace = secret.filter((colour, place) => guess[place] === colour).length;
  const left = secret.filter((colour, place) => guess[place] !== colour);
  let elsewhere = 0;
  for (const [place, colour] of guess.entries()) {
    if (secret[place] === colour) continue;
    const at = left.indexOf(colour);
    if (at < 0) continue;
    left.splice(at, 1);
    elsewhere++;
  }
  return `${inPlace} ${elsewhere}`;
}

test("marks are those of pegs that are removed one by one", () => {
  const code = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(code, code, (secret, guess) => {
      const { inPlace, elsewhere } = marksOf(secret, guess);
      expect(`${inPlace} ${elsewhere}`).toBe(slowMarks(secret, guess));
    }),
  );
});

const sizes = (mastermind.generator?.levels ?? []).map(
  ({ parameters }) => [parameters["places"] ?? 0, parameters["colours"] ?? 0] as const,
);
const others = [2, 3].flatMap((places) => [2, 3, 4, 5, 6].map((colours) => [places, colours] as const));
// The search of 4 places and 5 colours takes 40 seconds. The other means below take 2.
const four = (process.env["THOROUGH"] === "1" ? [2, 3, 5] : [2, 3]).map((colours) => [4, colours] as const);

test.each([...new Map([...sizes, ...others, ...four].map((size) => [size.join(), size])).values()])(
  "the worst case of %d places and %d colours is what the search finds",
  (places, colours) => expect(worstCase(places, colours)).toBe(worstCaseOf(places, colours)),
  120_000,
);

// The second proof uses nothing of solve.ts: it has marks and codes of its own, and plays its strategy against each code.

/** Codes of a size, and the marks of each pair of codes, which are found by removing pegs. */
interface Table {
  readonly codes: readonly Code[];
  readonly marks: readonly (readonly string[])[];
  /** Marks of the right guess. */
  readonly right: string;
  /** Number of marks that a wrong guess can have. */
  readonly wrongs: number;
}

function tableOf(places: number, colours: number): Table {
  const codes = Array.from({ length: colours ** places }, (_, index) =>
    Array.from({ length: places }, (__, place) => (Math.floor(index / colours ** place) % colours) + 1),
  );
  const marks = codes.map((guess) => codes.map((secret) => slowMarks(secret, guess)));
  const right = `${places} 0`;
  return { codes, marks, right, wrongs: new Set(marks.flat()).size - 1 };
}

/** Parts of the codes that a guess tells apart, without the guess itself. The largest part comes first. */
function partsOf({ marks, right }: Table, codes: readonly number[], guess: number): readonly (readonly number[])[] {
  const parts = Map.groupBy(codes, (code) => marks[guess]?.[code] ?? "");
  parts.delete(right);
  return [...parts.values()].sort((a, b) => b.length - a.length);
}

/** Plain strategies, by the cost of the parts that a guess leaves: the largest one, or how few there are. */
const COSTS = {
  largest: (parts: readonly (readonly number[])[]) => parts[0]?.length ?? 0,
  fewest: (parts: readonly (readonly number[])[]) => -parts.length,
};

/** The guess whose parts cost least. Of several, one that may be the secret. */
function plainGuess(table: Table, left: readonly number[], costOf: (typeof COSTS)["largest"]): number {
  if (left.length <= 2) return left[0] as number;
  let best = { cost: Infinity, guess: 0 };
  for (const guess of [...left, ...table.codes.keys()]) {
    const cost = costOf(partsOf(table, left, guess));
    if (cost < best.cost) best = { cost, guess };
  }
  return best.guess;
}

/** Plays a plain strategy against each code. Returns the greatest number of guesses. */
function playAll(table: Table, costOf: (typeof COSTS)["largest"]): number {
  const chosen = new Map<string, number>();
  const guessesFor = (secret: number): number => {
    let left: readonly number[] = [...table.codes.keys()];
    for (let guesses = 1; ; guesses++) {
      const key = left.join();
      const guess = chosen.get(key) ?? plainGuess(table, left, costOf);
      chosen.set(key, guess);
      if (guess === secret) return guesses;
      const marks = table.marks[guess]?.[secret];
      left = left.filter((code) => code !== guess && table.marks[guess]?.[code] === marks);
    }
  };
  return Math.max(...[...table.codes.keys()].map(guessesFor));
}

/**
 * Whether some strategy finds each of these codes with so many guesses. All guesses are tried, but for first guesses
 * that differ only in the names of colours and the order of places. `n` guesses tell at most 1 + wrongs + … +
 * wrongs^(n−1) codes apart, so more codes need no search.
 */
function canFind(table: Table, left: readonly number[], guesses: number, tried: readonly number[]): boolean {
  const atMost = Array.from({ length: guesses }, (_, n) => table.wrongs ** n).reduce((sum, count) => sum + count, 0);
  if (left.length > atMost) return false;
  if (left.length <= 1) return true;
  const all = [...table.codes.keys()];
  return tried.some((guess) => {
    const parts = partsOf(table, left, guess);
    const isSplit = (parts[0]?.length ?? 0) < left.length;
    return isSplit && parts.every((part) => canFind(table, part, guesses - 1, all));
  });
}

/** First guesses of different kinds: how often each colour is used is all that matters. */
function kindsOf({ codes }: Table): readonly number[] {
  const kinds = new Map<string, number>();
  for (const [index, code] of codes.entries()) {
    const counts = [...Map.groupBy(code, (colour) => colour).values()].map(({ length }) => length);
    kinds.set(counts.sort().join(), index);
  }
  return [...kinds.values()];
}

const everySize = [2, 3, 4].flatMap((places) => [2, 3, 4, 5, 6].map((colours) => [places, colours] as const));

test("every level has one of these sizes", () => {
  for (const size of sizes) expect(everySize).toContainEqual(size);
});

test.each(everySize)(
  "by other means: with %d places and %d colours, a strategy finds each code in W guesses, and none in fewer",
  (places, colours) => {
    const table = tableOf(places, colours);
    const worst = worstCaseOf(places, colours);
    const first = playAll(table, COSTS.largest);
    expect(first === worst ? first : playAll(table, COSTS.fewest)).toBe(worst);
    expect(canFind(table, [...table.codes.keys()], worst - 1, kindsOf(table))).toBe(false);
  },
  120_000,
);
