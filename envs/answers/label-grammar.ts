/**
 * Grammar of labels such as "The final answer is:". Each rule gets a lowercase text and an offset.
 *
 * A rule named `past…` returns the offset after its match, or undefined. A rule named `…Ends` yields several possible
 * offsets, the best one first.
 */
import { AFTER, BEFORE, CLINGING_VERBS, EARLY_VERBS, VERBS } from "./label-words.ts";
import { pastSpaces, Words } from "./words.ts";

/** Matches the space between parts of a label. Its maximum length keeps texts with many spaces fast. */
const GAP = "[ \\t\\u00a0\\u202f\\u3000]{0,4}";
const GAPS = "[ \\t\\u00a0\\u202f\\u3000]{1,4}";
/**
 * Matches the space between two words of a label, and nothing or "_" in keys such as "finalAnswer" and "final_answer".
 */
const BETWEEN = /[ \t\u00a0_]{0,4}/y;
/** Matches spaces as TeX writes them. */
const TEX_GAP = "[ \\t\\u00a0\\\\~]{0,4}";
const SIGNS = "(?:[:：]=?|=(?![=>])|＝|—|→|⇒|⟶|⟹|➜|➔|➡\\ufe0f?|=>|->)";
export const SIGN = new RegExp(GAP + SIGNS, "y");
const TEX_SIGN = new RegExp(TEX_GAP + SIGNS, "y");
const TEX_END = new RegExp(`${TEX_GAP}\\}`, "y");
/**
 * Matches the end of a line. If the next line is an underline (=== or ---), which makes the line a heading, matches the
 * underline too.
 */
const LINE = new RegExp(`${GAP}\\r?[\\n\\r\\u0085\\u2028\\u2029](?:(?:={3,64}|-{3,64})${GAP}\\r?\\n)?`, "y");
/** Matches what may precede a label: the mark of a heading, a quotation or a list item, and an emoji. */
export const HEAD = new RegExp(
  `(?:#{1,6}${GAP})?(?:[>•\\-]${GAPS})?(?:\\p{Extended_Pictographic}\\ufe0f?${GAP})?`,
  "yu",
);
export const TEX = new RegExp(`\\\\(?:text|textbf|textrm|mathrm|mathbf)${GAP}\\{${GAP}`, "y");

/** Marks of bold and italics. Longer marks come before their prefixes. */
export const MARKS = ["***", "**", "*", "__", "_", ""] as const;
const BOLD = ["**", ""] as const;
const OF_WORD = /[\p{L}\p{M}'’]/uy;
const COMMA = /[,，、]?/y;

const before = new Words(BEFORE);
const after = new Words(AFTER);
const verbs = new Words(VERBS);
const clinging = new Words(CLINGING_VERBS);
const early = new Words(EARLY_VERBS);

/** Returns the offset after a match of the expression that starts at `at`. Undefined: it does not match there. */
export function past(expression: RegExp, text: string, at: number): number | undefined {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : undefined;
}

/** Applies `rule` to each item until a result is not undefined, and returns that result. */
export function first<T, R>(items: Iterable<T>, rule: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = rule(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Yields the possible end offsets of a phrase such as "the final answer to the question". The phrase's noun may be
 * bold: "The **answer** is 12".
 */
export function* nounEnds(text: string, at: number, nouns: Words, adjectives = 4): Generator<number, void> {
  for (const end of adjectives > 0 ? before.endsAt(text, at) : [])
    yield* nounEnds(text, past(BETWEEN, text, end) ?? end, nouns, adjectives - 1);
  for (const bold of BOLD) {
    if (!text.startsWith(bold, at)) continue;
    for (const bare of nouns.endsAt(text, at + bold.length)) {
      if (!text.startsWith(bold, bare)) continue;
      const end = bare + bold.length;
      yield* after.endsAt(text, past(BETWEEN, text, end) ?? end);
      yield end;
    }
  }
}

/** Yields the possible end offsets of a verb such as " is" or "是" at an offset. */
function* verbEnds(text: string, at: number): Generator<number, void> {
  const start = pastSpaces(text, at);
  for (const end of start > at ? verbs.endsAt(text, start) : []) if (past(OF_WORD, text, end) === undefined) yield end;
  for (const end of clinging.endsAt(text, start)) yield past(COMMA, text, end) ?? end;
}

/**
 * Yields the possible offsets after a German verb such as "ist" and the space after it. The verb may come before the
 * noun.
 */
export function* earlyVerbEnds(text: string, at: number): Generator<number, void> {
  for (const end of early.endsAt(text, at)) {
    const noun = pastSome(text, end);
    if (noun !== undefined) yield noun;
  }
}

/** Returns the offset after a sign such as ":" that ends a label. A verb may precede the sign, as in "is:". */
function pastSign(text: string, at: number, sign: RegExp): number | undefined {
  return first(verbEnds(text, at), (end) => past(sign, text, end)) ?? past(sign, text, at);
}

/** Returns the offset after the end of a label: a sign such as ":", a verb such as "is", or a line break. */
export function pastSaying(text: string, at: number): number | undefined {
  return pastSign(text, at, SIGN) ?? first(verbEnds(text, at), (end) => end) ?? past(LINE, text, at);
}

/** Returns the offset after the end of a label in a TeX command: a sign or a verb, and the closing brace. */
export function pastSayingInTex(text: string, at: number): number | undefined {
  const sign = pastSign(text, at, TEX_SIGN);
  const closed = sign === undefined ? undefined : past(TEX_END, text, sign);
  return closed ?? first(verbEnds(text, at), (end) => past(TEX_END, text, end));
}

/**
 * Reads the rest of a label after the noun "answer". `opened` are the bold or italic marks before the noun. Returns the
 * offset after the label, and as `closed` those of the marks that the label itself closes.
 */
export function tailOf(text: string, at: number, opened: string): { past: number; closed: string } | undefined {
  return opened === "" ? unmarkedTail(text, at) : (closedTail(text, at, opened) ?? openTail(text, at));
}

function unmarkedTail(text: string, at: number): { past: number; closed: string } | undefined {
  const said = pastSaying(text, at) ?? pastSaying(text, pastSpaces(text, at));
  // After a noun with its own marks, a space suffices: "The **answer** 12".
  const end = said ?? (/[*_]/.test(text.charAt(at - 1)) ? pastSome(text, at) : undefined);
  return end === undefined ? undefined : { past: end, closed: "" };
}

/** Returns the offset after one or more spaces. Undefined: there is no space. */
export function pastSome(text: string, at: number): number | undefined {
  const end = pastSpaces(text, at);
  return end > at ? end : undefined;
}

/**
 * Reads the end of a label whose bold marks close before the answer, e.g. "**Final answer**: 12" or "**The answer is**
 * 12".
 */
function closedTail(text: string, at: number, opened: string): { past: number; closed: string } | undefined {
  const noun = pastMarks(text, pastSpaces(text, at), opened);
  const value = noun === undefined ? undefined : (pastSaying(text, noun) ?? pastSome(text, noun));
  if (value !== undefined) return { past: value, closed: opened };
  const said = first(verbEnds(text, at), (end) => pastMarks(text, end, opened));
  if (said === undefined) return undefined;
  return { past: past(SIGN, text, said) ?? past(LINE, text, said) ?? said, closed: opened };
}

/** Reads the end of a label whose bold marks close after the answer, e.g. "**Final answer: 12**". */
function openTail(text: string, at: number): { past: number; closed: string } | undefined {
  const end = pastSaying(text, at);
  return end === undefined ? undefined : { past: end, closed: "" };
}

function pastMarks(text: string, at: number, marks: string): number | undefined {
  return text.startsWith(marks, at) ? at + marks.length : undefined;
}
