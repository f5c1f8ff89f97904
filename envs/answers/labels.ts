/**
 * Recognizes labels before an answer: "Answer:", "So, the final answer is", "**Final Answer**" on its own line, "答案：",
 * "La respuesta es" or "clique =". One grammar serves all languages, so a label may mix languages.
 */
import { HEAD, MARKS, SIGN, TEX, first, past } from "./label-grammar.ts";
import { earlyVerbEnds, nounEnds, pastSaying, pastSayingInTex, pastSome, tailOf } from "./label-grammar.ts";
import { ENDS, LEADS, NOUNS } from "./label-words.ts";
import { pastSpaces, Words } from "./words.ts";

const END_UNITS_MAX = 24;

/** Nouns that an environment uses for its answers, e.g. "clique". They may stand in labels instead of "answer". */
export type AnswerNames = readonly string[];

const NO_NAMES: AnswerNames = Object.freeze([]);
const known = new WeakMap<AnswerNames, Words>();

function nounsWith(names: AnswerNames): Words {
  const nouns = known.get(names) ?? new Words([...NOUNS, ...names]);
  known.set(names, nouns);
  return nouns;
}

/** Label, such as "The answer is", at the start of a text. */
export interface Label {
  /** Offset after the label. */
  readonly past: number;
  /** Marks of bold or italics that the label opens, such as "**". */
  readonly opened: string;
  /**
   * Marks of bold or italics that the label both opens and closes, such as "**". Empty if the label leaves them open.
   */
  readonly closed: string;
}

const BACKSLASH = "\\";
/** Maximum length of a label, in UTF-16 units. */
const LABEL_UNITS_MAX = 400;

/**
 * Returns the part of a text that can contain a label, in lower case. If lowercasing changes its length, as in a few
 * scripts, returns it unchanged, so that offsets stay valid.
 */
function headOf(text: string, start: number): string {
  const head = text.slice(start, start + LABEL_UNITS_MAX);
  const lower = head.toLowerCase();
  return lower.length === head.length ? lower : head;
}

/** Returns the label that starts at `start` and ends at `end` or before. Returns undefined if there is none. */
export function labelAt(text: string, start: number, end: number, names = NO_NAMES): Label | undefined {
  if (!mayStartLabel(text.charCodeAt(start))) return undefined;
  const nouns = nounsWith(names);
  const head = headOf(text, start);
  const { opening, lead } = leadOf(head);
  const led = lead > 0 ? labelIn(opening + head.slice(opening.length + lead), nouns) : undefined;
  const label = led ? { ...led, past: led.past + lead } : labelIn(head, nouns);
  return label && start + label.past <= end ? { ...label, past: start + label.past } : undefined;
}

const leads = new Words(LEADS);
const PAUSE = /[,，、:：]/y;

/**
 * Returns the marks, such as "**", before a label, and the length of the introductory words after them, such as "So,".
 */
function leadOf(head: string): { opening: string; lead: number } {
  const opened = past(TEX, head, 0) ?? pastMarks(head, past(HEAD, head, 0) ?? 0);
  const once = pastLead(head, opened);
  const twice = once === undefined ? undefined : pastLead(head, once);
  return { opening: head.slice(0, opened), lead: (twice ?? once ?? opened) - opened };
}

function pastMarks(head: string, at: number): number {
  return at + (MARKS.find((marks) => head.startsWith(marks, at)) ?? "").length;
}

function pastLead(head: string, at: number): number | undefined {
  const [word] = leads.endsAt(head, at);
  if (word === undefined) return undefined;
  const gap = pastSpaces(head, word);
  return pastSpaces(head, past(PAUSE, head, gap) ?? gap);
}

/** Returns the label at the start of a lowercase text that has no introductory words. */
function labelIn(head: string, nouns: Words): Label | undefined {
  if (head.startsWith(BACKSLASH)) return texLabel(head, nouns);
  const start = past(HEAD, head, 0) ?? 0;
  const openings = MARKS.filter((marks) => head.startsWith(marks, start));
  return (
    first(openings, (opened) => plainLabel(head, start + opened.length, opened, nouns)) ??
    first(openings, (opened) => earlyLabel(head, start + opened.length, opened, nouns)) ??
    bracketedLabel(head, nouns)
  );
}

function plainLabel(head: string, start: number, opened: string, nouns: Words): Label | undefined {
  const tail = first(nounEnds(head, start, nouns), (end) => tailOf(head, end, opened));
  return tail && { ...tail, opened };
}

/** Reads a German label whose verb comes first, as in "Also ist die Antwort 12". */
function earlyLabel(head: string, start: number, opened: string, nouns: Words): Label | undefined {
  const end = first(earlyVerbEnds(head, start), (verb) =>
    first(nounEnds(head, verb, nouns), (noun) => past(SIGN, head, noun) ?? pastSome(head, noun)),
  );
  return end === undefined ? undefined : { past: end, opened, closed: "" };
}

const BRACKET = /[【（]/y;
const BRACKET_END = /[】）]/y;
const COLON = /[ \t\u00a0\u202f\u3000]{0,4}[:：]/y;

/** Reads a label in brackets or quotes, such as "【答案】" or "'answer':". */
function bracketedLabel(head: string, nouns: Words): Label | undefined {
  const opened = past(BRACKET, head, 0);
  const quote = /^["']/.exec(head)?.[0];
  let end: number | undefined;
  if (opened !== undefined)
    end = first(nounEnds(head, pastSpaces(head, opened), nouns), (noun) => {
      const closed = past(BRACKET_END, head, pastSpaces(head, noun));
      return closed === undefined ? undefined : (past(SIGN, head, closed) ?? pastSpaces(head, closed));
    });
  else if (quote !== undefined)
    end = first(nounEnds(head, 1, nouns), (noun) =>
      head.startsWith(quote, noun) ? past(COLON, head, noun + 1) : undefined,
    );
  return end === undefined ? undefined : { past: end, opened: "", closed: "" };
}

/** Reads a label in a TeX command, such as "\text{Answer: }" or "\textbf{Answer}:". */
function texLabel(head: string, nouns: Words): Label | undefined {
  const start = past(TEX, head, 0);
  if (start === undefined) return undefined;
  const end = first(nounEnds(head, start, nouns), (noun) => {
    const brace = pastSpaces(head, noun);
    return pastSayingInTex(head, noun) ?? (head.startsWith("}", brace) ? pastSaying(head, brace + 1) : undefined);
  });
  return end === undefined ? undefined : { past: end, opened: "", closed: "" };
}

/**
 * Returns whether a label may start with this UTF-16 unit. A fast check: most answers start with a digit, a bracket or
 * a dollar sign, and so have no label.
 */
function mayStartLabel(unit: number): boolean {
  return unit > 0x7f || (unit >= 65 && unit <= 122) || `"#'*->`.includes(String.fromCharCode(unit));
}

const KEY = /\{\s{0,64}["'“]?/y;
const KEY_END = /["'”]?\s{0,8}[:：]/y;

/**
 * Returns the offset after the brace and the key at the start of an object such as {"answer": 12}. Undefined: the text
 * has no such start.
 */
export function keyAt(text: string, start: number, end: number, names = NO_NAMES): number | undefined {
  const head = headOf(text, start);
  const key = past(KEY, head, 0);
  if (key === undefined) return undefined;
  const value = first(nounEnds(head, key, nounsWith(names)), (noun) => past(KEY_END, head, noun));
  return value !== undefined && start + value < end ? start + value : undefined;
}

const endings = new Words(ENDS);

/**
 * Returns the length of the words before `end` that close a sentence begun by a label, such as "です". Returns 0 if there
 * are none.
 */
export function closingWords(text: string, start: number, end: number): number {
  const first = Math.max(start, end - END_UNITS_MAX);
  const before = headOf(text.slice(0, end), first);
  for (let at = 0; at < before.length; at++)
    if (endings.endsAt(before, at).includes(before.length)) return before.length - at;
  return 0;
}
