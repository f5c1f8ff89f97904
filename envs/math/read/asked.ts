/**
 * Reads from a problem what a short answer to it leaves out: the unknowns and their order, and whether a pair is a
 * point or an interval.
 */
import { narrow } from "../../lib/text.ts";
import { numberOfWords } from "./letters.ts";
import { SYMBOLS } from "./names.ts";

export interface Asked {
  /**
   * Names of the unknowns in order, one list for each passage of the problem that names them. The likeliest list comes
   * first.
   */
  readonly unknowns: readonly (readonly string[])[];
  /** Meaning of a pair such as (4, 7). Undefined if the problem does not say. */
  readonly pair: "point" | "interval" | undefined;
  /** Whether the problem asks for an approximate value. */
  readonly isApproximate: boolean;
  /** Meaning of an answer such as 7:12. Undefined if the problem does not say. */
  readonly colon: "time" | "ratio" | undefined;
  /** Number bases that the problem mentions, e.g. 2 for "binary". */
  readonly bases: ReadonlySet<number>;
  /** Returns whether the problem uses a letter as a name, not only within a word. */
  readonly names: (name: string) => boolean;
}

const r = String.raw;
const SPACE = r`(?:[\s$~]|\\[,;:! ]){0,6}`;
const NAME = r`(?:\\[A-Za-z]{2,10}|[A-Za-zα-ω])(?:_(?:\w|\{\w{1,3}\}))?'?`;
const TUPLE = new RegExp(
  r`(?:\\left\s?)?(?:\(|\\langle(?![a-z]))(${SPACE}${NAME}(?:${SPACE}[,;]${SPACE}${NAME}){1,5})${SPACE}(?:\\right\s?)?(?:\)|\\rangle)`,
  "g",
);
/** Maximum distance, in characters, between a tuple in a problem and the words that ask for it, such as "find the". */
const BEFORE_MAX = 40;
/**
 * Maximum number of tuples such as (x, y), and of lists of names, that are read from a problem. A problem has only a
 * few.
 */
const PLACES_MAX = 30;
/** Matches names that an introduction lists: "Let x and y be …", "Find a, b and c". */
const LISTED = new RegExp(
  r`(?<![a-z])(?:let|find|determine|compute|solve for|solve|numbers?|integers?|reals|primes?|unknowns?|variables?|values? of)${SPACE}(?<names>${NAME}(?:${SPACE}(?:,|and|,${SPACE}and|&)${SPACE}${NAME}){1,5})(?![A-Za-z(=^])`,
  "gi",
);
/** Matches words before a tuple that say that the problem asks for the tuple. */
const ASKS = /pair|tripl|tupl|quadrupl|point|coordinate|solution|form|find|determine|solve|数对|坐标|解/i;
/**
 * Matches the text before brackets that are arguments or a factor, and not a tuple: the f of f(x, y). For a point such
 * as "point P(x, y)" see IS_POINT.
 */
const IS_CALL = /[A-Za-z}\d]\s?$/;
const IS_POINT = /(?:points?\s\$?[A-Z]|pairs?|triples?|tuples?|form)\s?$/;

function namesIn(text: string): readonly string[] {
  return [...text.replaceAll(/(?<![A-Za-z\\])and(?![A-Za-z])/g, ",").matchAll(new RegExp(NAME, "g"))].flatMap(
    ([name]) => {
      const [letter = "", ...rest] = name.replace(/[{}]/g, "").split("_");
      const meant = letter.startsWith("\\") ? SYMBOLS.get(letter.slice(1)) : letter;
      return meant === undefined ? [] : [[meant, ...rest].join("_")];
    },
  );
}

interface Tuple {
  readonly names: readonly string[];
  readonly isAsked: boolean;
}

function tuplesIn(text: string): readonly Tuple[] {
  return [...text.matchAll(TUPLE).take(PLACES_MAX)].flatMap(({ 1: names = "", index }) => {
    const before = text.slice(Math.max(0, index - BEFORE_MAX), index);
    const isOther = IS_CALL.test(before) && !IS_POINT.test(before);
    return isOther ? [] : [{ names: namesIn(names), isAsked: ASKS.test(before) }];
  });
}

/**
 * Returns the lists of unknowns that a problem names. Tuples that the problem asks for come first, then other tuples,
 * then lists such as "x and y".
 */
function unknownsIn(text: string, tuples: readonly Tuple[]): readonly (readonly string[])[] {
  const listed = [...text.matchAll(LISTED).take(PLACES_MAX)].map(({ groups }) => namesIn(groups?.["names"] ?? ""));
  const inOrder = [true, false].flatMap((first) => tuples.filter(({ isAsked }) => isAsked === first));
  return [...inOrder.map(({ names }) => names), ...listed].filter((names) => new Set(names).size === names.length);
}

const INTERVAL =
  /interval|\bdomain|\brange\b|inequalit|(?:in|de)creas|monoton|concav|converge|series|solution set|for (?:which|what) (?:real|values)|values? of (?:(?:the|real|parameter|variable|constant|positive) ){0,2}\$?\\?[a-zα-ω]\w{0,9}\$?(?![\w$])(?! ?(?:,|and\b))|区间|范围|定义域|值域|不等式|解集|单调/i;
const POINT =
  /ordered|\bpairs?\b|(?<!decimal )\bpoints?\b|coordinate|vert(?:ex|ices)|foc(?:us|i)\b|cent(?:er|re|roid)|orthocent|midpoint|interse|intercept|vector|gradient|tuple|triple|systems?\b(?! of (?:\w+ )?inequal)|simultaneous|坐标|点|向量|有序|数对|方程组/i;
const ASKING =
  /(?:find|determine|what|which|solve|express|write|state|give|compute|convert|calculate|求|则)[^.?!。？\n]{0,400}/gi;
const IS_INEQUALITY = /[<>≤≥]|\\(?:lt|gt|leq?|geq?|leqslant|geqslant)(?![a-z])/;

/**
 * Decides whether pairs such as (4, 7) are points or intervals. The clauses that state the question decide first, then
 * the words of the whole problem, then tuples and inequality signs.
 */
function pairOf(text: string, tuples: readonly Tuple[]): Asked["pair"] {
  const asking = (text.match(ASKING) ?? []).join("\n");
  for (const part of [asking, text]) {
    const [isInterval, isPoint] = [INTERVAL.test(part), POINT.test(part)];
    if (isInterval !== isPoint) return isInterval ? "interval" : "point";
  }
  if (tuples.some(({ isAsked }) => isAsked)) return "point";
  return IS_INEQUALITY.test(asking) ? "interval" : undefined;
}

const APPROXIMATE =
  /approx|estimat|\bround|nearest|decimal place|significant|about how|roughly|closest to|近似|大约|估计|精确到|保留/i;

const RATIO = /\bratio|proportion|\bodds\b|\bscale\b|probabilit|之比|比例|比值|比为/i;
const TIME =
  /what time|\bwhen (?:will|does|did|do|is|was|should)\b|o['’]clock|\b\d{1,2}(?::\d\d)?\s?[ap]\.?m\b|\b[ap]\.m\.|\bnoon\b|midnight|time of day|几点|几时|时刻/i;

const BASES: Readonly<Record<string, number>> = { binary: 2, ternary: 3, octal: 8, hexadecimal: 16 };
const BASE =
  /\b(?:base|radix)[\s$~-]{0,4}\{?(\d{1,2}|[a-z]{3,9})|\d_\{?(\d{1,2})(?!\d)|\b(binary|ternary|octal|hexadecimal)\b/gi;

function basesIn(text: string): ReadonlySet<number> {
  const found = [...text.matchAll(BASE)].map(([, base, script, word = ""]) => {
    const said = base ?? script ?? "";
    return BASES[word.toLowerCase()] ?? (/^\d/.test(said) ? Number(said) : Number(numberOfWords(said.toLowerCase())));
  });
  return new Set(found);
}

/** Reads a problem. The time is linear in its length. */
export function askedIn(problem: string): Asked {
  const text = problem.replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(narrow(wide.charCodeAt(0))));
  const letters = new Set(namesIn(text.replaceAll(/(?<!\\)[A-Za-z]{3,}/g, " ")));
  const tuples = tuplesIn(text);
  return {
    unknowns: unknownsIn(text, tuples),
    pair: pairOf(text, tuples),
    isApproximate: APPROXIMATE.test(text),
    colon: RATIO.test(text) ? "ratio" : TIME.test(text) ? "time" : undefined,
    bases: basesIn(text),
    names: (name) => letters.has(name),
  };
}
