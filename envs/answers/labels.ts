/**
 * What introduces an answer: "Answer:", "So, the final answer is", "**Final Answer**" on a line of its own, "答案：",
 * "La respuesta es", "clique =". One grammar for all languages: a label that mixes them says the same.
 */
import { HEAD, MARKS, SIGN, TEX, first, past } from "./label-grammar.ts";
import { earlyVerbEnds, nounEnds, pastSaying, pastSayingInTex, pastSome, tailOf } from "./label-grammar.ts";
import { ENDS, LEADS, NOUNS } from "./label-words.ts";
import { pastSpaces, Words } from "./words.ts";

const END_UNITS_MAX = 24;

/** Words that an environment has for its answers, such as "clique". */
export type AnswerNames = readonly string[];

const NO_NAMES: AnswerNames = Object.freeze([]);
const known = new WeakMap<AnswerNames, Words>();

function nounsWith(names: AnswerNames): Words {
  const nouns = known.get(names) ?? new Words([...NOUNS, ...names]);
  known.set(names, nouns);
  return nouns;
}

/** A label, found at its start. */
export interface Label {
  /** Past it. */
  readonly past: number;
  /** The marks of bold or italics that open it, and those of them that are closed. */
  readonly opened: string;
  readonly closed: string;
}

const BACKSLASH = "\\";
/** Longer than any label. */
const LABEL_UNITS_MAX = 400;

/** Where a label may start, in small letters, as far as it may reach; those of few languages are longer or shorter. */
function headOf(text: string, start: number): string {
  const head = text.slice(start, start + LABEL_UNITS_MAX);
  const lower = head.toLowerCase();
  return lower.length === head.length ? lower : head;
}

/** The label that starts at an offset and ends before another; undefined: none does. */
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

/** What opens a label and stands before the words that lead to it, and how many units these take. */
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

/** A label at the start of a text in small letters that no other words lead. */
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

/** "Also ist die Antwort 12" */
function earlyLabel(head: string, start: number, opened: string, nouns: Words): Label | undefined {
  const end = first(earlyVerbEnds(head, start), (verb) =>
    first(nounEnds(head, verb, nouns), (noun) => past(SIGN, head, noun) ?? pastSome(head, noun)),
  );
  return end === undefined ? undefined : { past: end, opened, closed: "" };
}

const BRACKET = /[【（]/y;
const BRACKET_END = /[】）]/y;
const COLON = /[ \t\u00a0\u202f\u3000]{0,4}[:：]/y;

/** "【答案】" and "'answer':" */
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

/** "\text{Answer: }" and "\textbf{Answer}:" */
function texLabel(head: string, nouns: Words): Label | undefined {
  const start = past(TEX, head, 0);
  if (start === undefined) return undefined;
  const end = first(nounEnds(head, start, nouns), (noun) => {
    const brace = pastSpaces(head, noun);
    return pastSayingInTex(head, noun) ?? (head.startsWith("}", brace) ? pastSaying(head, brace + 1) : undefined);
  });
  return end === undefined ? undefined : { past: end, opened: "", closed: "" };
}

/** Most answers start with a digit, a bracket or a formula's dollar. */
function mayStartLabel(unit: number): boolean {
  return unit > 0x7f || (unit >= 65 && unit <= 122) || `"#'*->`.includes(String.fromCharCode(unit));
}

const KEY = /\{\s{0,64}["'“]?/y;
const KEY_END = /["'”]?\s{0,8}[:：]/y;

/** Past the brace and key of an object that holds one answer, such as {"answer": 12}; undefined: it is none. */
export function keyAt(text: string, start: number, end: number, names = NO_NAMES): number | undefined {
  const head = headOf(text, start);
  const key = past(KEY, head, 0);
  if (key === undefined) return undefined;
  const value = first(nounEnds(head, key, nounsWith(names)), (noun) => past(KEY_END, head, noun));
  return value !== undefined && start + value < end ? start + value : undefined;
}

const endings = new Words(ENDS);

/** How many units of the words before an end close the sentence that a label began. */
export function closingWords(text: string, start: number, end: number): number {
  const first = Math.max(start, end - END_UNITS_MAX);
  const before = headOf(text.slice(0, end), first);
  for (let at = 0; at < before.length; at++)
    if (endings.endsAt(before, at).includes(before.length)) return before.length - at;
  return 0;
}
