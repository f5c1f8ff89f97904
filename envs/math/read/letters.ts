/** Splits runs of letters into words, function names and products of variables. */
import {
  DECORATIONS,
  FUNCTIONS,
  INFIXES,
  OPERATORS,
  PLAIN_LOOKS,
  SKIPPED,
  SYMBOLS,
  TEXTS,
  UPRIGHTS,
  wordSet,
} from "./names.ts";
import { SCALES } from "./amount-words.ts";
import { readNumber, TOO_LONG } from "./numeral.ts";
import { push, put, type Sink, type Style } from "./tokens.ts";

/** Words of mostly two or three letters that are never a product of variables. */
const SHORT_WORDS: ReadonlySet<string> = new Set([
  ...wordSet(
    "and or no yes not the is are for all any but if of to as at by we so it on one two six ten has was may can odd",
  ),
  ...wordSet("per usd hrs yrs yr wk gal cm mm km kg mg ft in hr min sec mph kph lb lbs oz ml mL deg rad day days year"),
  ...wordSet(
    "pm am PM AM Hz dm inch pct ppm bpm rpm mpg kJ kN kW MHz kHz GHz kPa GB MB KB TB mol atm cal kcal EUR GBP",
  ),
  ...wordSet(
    "sq cu her his she he him who man men boy pen cat dog red son mon tue wed thu fri sat sun jan feb mar apr",
  ),
  ...wordSet("jun jul aug sep oct nov dec dne DNE por"),
]);

/**
 * Returns whether a run of letters is the ending of an ordinal number, as "st" in "21st". In "2st" it is a product.
 * `last` and `before` are the codes of the last and second to last character before the run.
 */
export function isOrdinalOf(run: string, last: number, before: number): boolean {
  if (!ORDINALS.has(run) || last < 48 || last > 57) return false;
  const isTeen = before === 49;
  return run === (isTeen ? "th" : (["th", "st", "nd", "rd"][last - 48] ?? "th"));
}

/** Endings of ordinal numbers, as th in 10th. They do not change a number's value. */
export const ORDINALS: ReadonlySet<string> = new Set(["st", "nd", "rd", "th"]);

/** Words that may also be a product of two variables. */
export const PRODUCT_WORDS: ReadonlySet<string> = wordSet("as at by is it no of on so to we");

/** Words in capitals that are never a product of variables. */
const CAPITAL_WORDS = wordSet(
  "YES NO TRUE FALSE NONE ODD EVEN NEITHER BOTH ALWAYS NEVER EQUAL ZERO ONE TWO USD EUR GBP RMB CNY INR",
);

// Functions that read numbers in words, e.g. "twenty-one".

const SMALL: readonly string[] =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS: readonly string[] = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

/**
 * Returns the value of a number in lowercase words: "twenty-one" or "three hundred and five thousand". Returns
 * undefined if the text is not a number.
 */
export function numberOfWords(text: string): bigint | undefined {
  const words = text.split(/[\s-]+/).filter((word) => word !== "and");
  let [total, part] = [0n, 0n];
  let before: "start" | "scale" | "ten" | "one" = "start";
  for (const word of words) {
    const [one, ten] = [SMALL.indexOf(word), TENS.indexOf(word)];
    const scale = Object.hasOwn(SCALES, word) ? SCALES[word] : undefined;
    if (one >= 0 && (before === "start" || before === "scale" || (before === "ten" && one > 0 && one < 10))) {
      part += BigInt(one);
      before = "one";
    } else if (ten >= 0 && (before === "start" || before === "scale")) {
      part += BigInt(20 + 10 * ten);
      before = "ten";
    } else if (scale !== undefined && (before !== "start" || words.length === 1)) {
      const size = part === 0n ? 1n : part;
      if (scale > 100n) [total, part] = [total + size * scale, 0n];
      else part = size * scale;
      before = "scale";
    } else return undefined;
  }
  return words.length === 0 ? undefined : total + part;
}

const COUNTED =
  /^(?:twen|thir|for|fif|six|seven|eigh|nine)ty-(?:one|two|three|four|five|six|seven|eight|nine)(?!\p{L})/iu;
const COUNTED_MAX = 16;

/** Returns the number word with a hyphen at the cursor, e.g. "twenty-five", or undefined. */
export function countedWord(text: string, at: number): string | undefined {
  return COUNTED.exec(text.slice(at, at + COUNTED_MAX))?.[0];
}

/** Maximum number of variables in a run of letters. A longer run is a word. */
const PRODUCT_LETTERS_MAX = 3;

export function letterTokens(run: string, sink: Sink): void {
  if (run.length === 1) return put(sink, "name", run);
  if (/^(?:and|or|AND|OR|mod|choose)$/.test(run)) return put(sink, "op", run.toLowerCase());
  if (run === "modulo") return put(sink, "op", "mod");
  const fn = FUNCTIONS.get(run) ?? FUNCTIONS.get(run.toLowerCase());
  if (fn !== undefined) return put(sink, "function", fn);
  const name = run === "oo" ? "∞" : (SYMBOLS.get(run) ?? (run.length > 2 ? SYMBOLS.get(run.toLowerCase()) : undefined));
  if (name !== undefined) return put(sink, "name", name);
  if (
    SHORT_WORDS.has(run) ||
    CAPITAL_WORDS.has(run) ||
    (/^[A-Z][a-z]+$/.test(run) && SHORT_WORDS.has(run.toLowerCase()))
  )
    return put(sink, "word", run);
  const parts = split(run);
  if (parts === undefined) return put(sink, "word", run);
  for (const part of parts) {
    const inner = FUNCTIONS.get(part);
    if (inner !== undefined) put(sink, "function", inner);
    else push(sink, { kind: "name", text: part === "pi" ? "π" : part, run });
  }
}

/** Splits a run of letters into single letters and function names. Returns undefined if the run is a word. */
function split(run: string): readonly string[] | undefined {
  const parts: string[] = [];
  let letters = 0;
  for (let at = 0; at < run.length;) {
    const fn = INFIXES.find((name) => run.startsWith(name, at));
    if (fn === undefined) letters++;
    parts.push(fn ?? run.charAt(at));
    at += fn?.length ?? 1;
  }
  return letters <= PRODUCT_LETTERS_MAX || /^[A-Z]{4,6}$/.test(run) ? parts : undefined;
}

/** Adds a run of Chinese characters as a word, or as "and" or "or". */
function hanTokens(run: string, sink: Sink): void {
  const joiner = /^或者?$/.test(run) ? "or" : /^(?:并?且|和|与)$/.test(run) ? "and" : undefined;
  put(sink, joiner === undefined ? "word" : "op", joiner ?? run);
}

/**
 * Matches Chinese characters before Latin letters, as in "x=3或x=-2". The Latin letters belong to a formula, not to the
 * word.
 */
const HAN_BEFORE_LETTERS = /^\p{Script=Han}+(?=[A-Za-z])/u;

/** Adds a word in another alphabet. Returns the index after it. */
export function foreignWord(text: string, at: number, sink: Sink): number {
  let end = at;
  while (end < text.length && /\p{L}/u.test(text.charAt(end))) end++;
  const run = text.slice(at, end);
  const [word] = HAN_BEFORE_LETTERS.exec(run) ?? [run];
  hanTokens(word, sink);
  return at + word.length;
}

const PIECE = /[A-Za-z\u00c0-\u024f]+(?:['’-][A-Za-z]+)*|\d|[\p{Script=Han}]+|[^\s]/uy;

/** Splits the content of \text{} into words, numbers and signs. */
export function textTokens(inner: string, style: Style, sink: Sink): void {
  sink.space = true;
  for (let at = 0; at < inner.length;) {
    PIECE.lastIndex = at;
    const piece = PIECE.exec(inner)?.[0];
    if (piece === undefined) {
      sink.space = true;
      at++;
      continue;
    }
    if (/^\d/.test(piece)) {
      const read = readNumber(inner, at, style);
      if (read === undefined) {
        sink.problem ??= TOO_LONG;
        return;
      }
      const { end, ...number } = read;
      push(sink, { kind: "number", ...number });
      at = end;
      continue;
    }
    const lower = piece.toLowerCase();
    if (lower === "and" || lower === "or") put(sink, "op", lower);
    else if (lower === "mod" || lower === "modulo") put(sink, "op", "mod");
    else if (/^\p{Script=Han}/u.test(piece)) hanTokens(piece, sink);
    else if (/^[A-Za-z\u00c0-\u024f]/.test(piece)) put(sink, "word", piece);
    else if (piece === "\\" || piece === "$" || piece === "{" || piece === "}") sink.space = true;
    else put(sink, "op", piece);
    at += piece.length;
  }
  sink.space = true;
}

/**
 * Accents that change the meaning of a name, by LaTeX command; a hat, for example, marks a unit vector or an estimate.
 * Arrows and bars are missing, because they are only notations for a vector, a segment or a mean.
 */
const MARKS: ReadonlyMap<string, string> = new Map(
  ["ˆ hat widehat", "˜ tilde widetilde", "˙ dot", "¨ ddot", "↔ overleftrightarrow", "⌢ wideparen overparen overarc"]
    .map((row) => row.split(" "))
    .flatMap(([mark = "", ...commands]) => commands.map((command) => [command, mark] as const)),
);

/** Matches the dotless i and j of unit vectors. */
const DOTLESS = /\\([ij])math(?![A-Za-z])/g;

/** Returns the name for a decorated text such as \vec{v} or \overline{\alpha+\beta}. */
export function decoratedName(command: string, inner: string): string {
  const written = inner.replace(DOTLESS, "$1");
  const letters = written.replace(/\\([A-Za-z]+)|[\s{}]/g, (_, of?: string) => (of === undefined ? "" : meantBy(of)));
  // The unit vectors i, j and k have the same name with a hat as with an arrow.
  const mark = /^[ijk]$/.test(letters) ? undefined : MARKS.get(command);
  return `${mark ?? "⃗"}${letters === "" ? inner.trim() : letters}`;
}

/**
 * Returns the text that replaces a LaTeX command within a decorated name: "" for a command that only changes the look,
 * and the accent's sign for a second decoration.
 */
function meantBy(command: string): string {
  const isLook = [SKIPPED, UPRIGHTS, TEXTS, PLAIN_LOOKS].some((names) => names.has(command));
  if (DECORATIONS.has(command) && !isLook) return MARKS.get(command) ?? "⃗";
  return isLook ? "" : (SYMBOLS.get(command) ?? OPERATORS.get(command) ?? command);
}
