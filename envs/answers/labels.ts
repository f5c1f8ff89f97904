/**
 * What introduces an answer: "Answer:", "So, the final answer is", "**Final Answer**" on a line of its own, "答案：",
 * "La respuesta es", "clique =". One table for all languages: a label that mixes them says the same.
 */
import { AFTER, BEFORE, CLINGING_VERBS, EARLY_VERBS, ENDS, LEADS, NOUNS, VERBS } from "./label-words.ts";

const END_UNITS_MAX = 24;

const SPACE = "[ \\t\\u00a0\\u202f\\u3000]";
/** Bounded, so that a label that does not end costs nothing. */
const GAP = `${SPACE}{0,4}`;
const GAPS = `${SPACE}{1,4}`;
/** Between words, also of keys: "final_answer", "finalAnswer". */
const BETWEEN = "[ \\t\\u00a0_]{0,4}";
/** What TeX writes for spaces. */
const TEX_GAP = "[ \\t\\u00a0\\\\~]{0,4}";
const SIGN = "(?:[:：]=?|=(?![=>])|＝|—|→|⇒|⟶|⟹|➜|➔|➡\\ufe0f?|=>|->)";
/** The end of one, and the signs below it that make a heading of it. */
const LINE = `${GAP}\\r?[\\n\\r\\u0085\\u2028\\u2029](?:(?:={3,64}|-{3,64})${GAP}\\r?\\n)?`;
/** Before a label: the sign of a heading, a quotation or an item, a pictogram. */
const HEAD = `(?:#{1,6}${GAP})?(?:[>•\\-]${GAPS})?(?:\\p{Extended_Pictographic}\\ufe0f?${GAP})?`;

const MARKS = "\\*{1,3}|_{1,2}|";
const TEX = `\\\\(?:text|textbf|textrm|mathrm|mathbf)${GAP}\\{${GAP}`;

/** One of several words in small letters, the longest first; with accents composed, decomposed or, but for "é", left out. */
function anyOf(words: readonly string[]): string {
  const sorted = [...new Set(words.map((word) => word.toLowerCase()))].sort((a, b) => b.length - a.length);
  return `(?:${sorted.map(spelled).join("|")})`;
}

function spelled(word: string): string {
  const letters = Array.from(word, (letter) => {
    const [base = "", mark = ""] = letter.normalize("NFD");
    // A bare "e" may be an option's letter.
    const optional = word.length > 1 ? "?" : "";
    return /\p{M}/u.test(mark) ? `(?:${letter}|${base}${mark}${optional})` : letter;
  });
  return letters.join("").replaceAll(" ", GAPS);
}

/**
 * Expressions for the start of a text in small letters: each is compiled when it is first tried, which takes milliseconds
 * for each time that it holds the words, and several times as many where it has to pass over capitals itself. All of an
 * environment's together take 50 to 175 ms once in a process, in which nobody else is served.
 */
interface Labels {
  /** What every label holds. */
  readonly word: RegExp;
  /** Groups: the marks of bold or italics that open it, those of the word, and those that close it, in one of two places. */
  readonly plain: RegExp;
  /** The same groups, as far as it has them. */
  readonly early: RegExp;
  readonly bracketed: RegExp;
  readonly latex: RegExp;
  /** The key of an object of one answer, with its brace. */
  readonly key: RegExp;
}

function labelsWith(names: readonly string[]): Labels {
  const word = anyOf([...NOUNS, ...names]);
  // The word alone may be bold: "The **answer** is 12".
  const noun = `(?:${anyOf(BEFORE)}${BETWEEN}){0,4}(?<bold>\\*\\*|)${word}\\k<bold>(?:${BETWEEN}${anyOf(AFTER)})?`;
  const verb = `(?:${GAPS}${anyOf(VERBS)}(?![\\p{L}\\p{M}'’])|${GAP}${anyOf(CLINGING_VERBS)}[,，、]?)`;
  const says = `(?:${verb}?${GAP}${SIGN}|${verb}|${LINE})`;
  const tails = [
    `${GAP}(\\k<marks>)${says}`,
    // "**Final answer** 12"
    `${GAP}(\\k<marks>)(?<=[*_])${GAPS}`,
    `${verb}(\\k<marks>)(?<=[*_])(?:${GAP}${SIGN}|${LINE})?`,
    says,
  ];
  const head = `${HEAD}(?<marks>${MARKS})`;
  const within = `(?:${verb}?${TEX_GAP}${SIGN}|${verb})${TEX_GAP}\\}`;
  const sources = {
    plain: `${head}${noun}(?:${tails.join("|")})`,
    early: `${head}${anyOf(EARLY_VERBS)}${GAPS}${noun}(?:${GAP}${SIGN}|${GAPS})`,
    bracketed: `(?:[【（]${GAP}${noun}${GAP}[】）]${GAP}${SIGN}?|(?<quote>["'])${noun}\\k<quote>${GAP}[:：])`,
    latex: `${TEX}${noun}(?:${within}|${GAP}\\}${says})`,
    key: `\\{\\s{0,64}(["'“]?)${noun}["'”]?\\s{0,8}[:：]`,
  };
  const { plain, early, bracketed, latex, key } = sources;
  return {
    word: new RegExp(word, "u"),
    plain: new RegExp(plain, "yu"),
    early: new RegExp(early, "yu"),
    bracketed: new RegExp(bracketed, "yu"),
    latex: new RegExp(latex, "yu"),
    key: new RegExp(key, "yu"),
  };
}

/** What leads to a label, behind what opens that; apart, for it is the same for all names. */
const LEAD = new RegExp(`(?<head>${TEX}|${HEAD}(?:${MARKS}))(?:${anyOf(LEADS)}${GAP}[,，、:：]?${GAP}){1,2}`, "yu");

/** Words that an environment has for its answers, such as "clique". */
export type AnswerNames = readonly string[];

const NO_NAMES: AnswerNames = Object.freeze([]);
const known = new WeakMap<AnswerNames, Labels>();

function labelsFor(names: AnswerNames): Labels {
  const labels = known.get(names) ?? labelsWith(names);
  known.set(names, labels);
  return labels;
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
  const labels = labelsFor(names);
  const head = headOf(text, start);
  if (!labels.word.test(head)) return undefined;
  LEAD.lastIndex = 0;
  const [lead = "", opening = ""] = LEAD.exec(head) ?? [];
  const units = lead.length - opening.length;
  const led = units > 0 ? labelIn(opening + head.slice(lead.length), labels) : undefined;
  const label = led ? { ...led, past: led.past + units } : labelIn(head, labels);
  return label && start + label.past <= end ? { ...label, past: start + label.past } : undefined;
}

/** The same at the start of a text in small letters that no other words lead. */
function labelIn(head: string, { plain, early, bracketed, latex }: Labels): Label | undefined {
  for (const label of head.startsWith(BACKSLASH) ? [latex] : [plain, early, bracketed]) {
    label.lastIndex = 0;
    const found = label.exec(head);
    if (found === null) continue;
    const [, , , one, other, another] = found;
    return { past: label.lastIndex, opened: found.groups?.["marks"] ?? "", closed: one ?? other ?? another ?? "" };
  }
  return undefined;
}

/** Most answers start with a digit, a bracket or a formula's dollar. */
function mayStartLabel(unit: number): boolean {
  return unit > 0x7f || (unit >= 65 && unit <= 122) || `"#'*->`.includes(String.fromCharCode(unit));
}

/** Past the brace and key of an object that holds one answer, such as {"answer": 12}; undefined: it is none. */
export function keyAt(text: string, start: number, end: number, names = NO_NAMES): number | undefined {
  const { word, key } = labelsFor(names);
  const head = headOf(text, start);
  key.lastIndex = 0;
  return word.test(head) && key.test(head) && start + key.lastIndex < end ? start + key.lastIndex : undefined;
}

const END = new RegExp(`${anyOf(ENDS)}$`, "iu");

/** How many units of the words before an end close the sentence that a label began. */
export function closingWords(text: string, start: number, end: number): number {
  return END.exec(text.slice(Math.max(start, end - END_UNITS_MAX), end))?.[0].length ?? 0;
}
