/**
 * Finds the answer within the text that a completion marks as its answer. It is the contents of \boxed{}, else the text
 * after "Answer:", else the whole text.
 */
import { stripAnswer, textOfObject } from "../../answers/strip.ts";
import { introduces } from "../../answers/before-label.ts";
import { isDenied, isTakenBack } from "../../answers/denials.ts";
import { malformed, type Parsed } from "../../facts.ts";
import { isScale } from "./amount-words.ts";

/** Maximum length of an answer, in characters. A longer answer is refused. */
export const LENGTH_MAX = 8_192;
const BOXES_MAX = 32;

const r = String.raw;
const BOX = /\\f?boxed\s*\{/g;
const GAP = "(?:[\\s\\u200b-\\u200d\\u2060]|\\\\(?:[,;:! ]|q?quad)){0,4}";
const LABEL = new RegExp(
  `(?<![a-z])(?:final${GAP})?answers?[*_]{0,3}${GAP}(?:(?:is|are)(?![a-z])${GAP}[:：]?|[:：]|(?<=[*_]{2}\\s{0,4})\\n)`,
  "gi",
);

/** Returns the texts of the answer: one text, or one for each of several boxes. */
export function extract(given: string): Parsed<readonly string[]> {
  const text = textOfObject(given) ?? given;
  const boxes = boxesOf(text);
  if (typeof boxes === "string") return malformed(boxes);
  if (boxes.length > 0) return fitting(boxes);
  // The length is checked first, because it bounds the time of the search for labels.
  if (text.length > LENGTH_MAX) return malformed(`it has ${text.length} characters, and the limit is ${LENGTH_MAX}`);
  const labelled = afterLabel(stripped(text), [...text.matchAll(LABEL)].length);
  return labelled.kind === "malformed" ? labelled : fitting([labelled.answer]);
}

/**
 * Returns the text after a label such as "Answer:", or the whole text if there is no label. `given` is the number of
 * labels before the wrapping was stripped.
 */
function afterLabel(whole: string, given: number): Parsed<string> {
  const labels = [...whole.matchAll(LABEL)];
  const [label] = labels;
  if (label === undefined) return { kind: "answer", answer: whole };
  const before = whole.slice(0, label.index);
  if (labels.length > 1 || (before.trim() !== "" && given > 1)) return malformed("it gives an answer more than once");
  if (isDenied(before, "") || !introduces(before)) return malformed("the words before 'answer' may deny it");
  return { kind: "answer", answer: stripped(whole.slice(label.index + label[0].length)) };
}

/**
 * Matches a bold Markdown value in a sentence: "The total is **42** apples". A command such as "\quad" is not a word.
 */
const BOLD_IN_WORDS = /(?<=(?<!\\[A-Za-z]{0,16})[A-Za-z]{2}[,:]? )\*\*(?! )([^*\n]{1,200})(?<! )\*\*(?=$|[\s.,;:])/g;

/**
 * LaTeX commands that may surround the whole answer or only its first words. `stripAnswer` strips them. If unbalanced
 * braces remain, `stripped` repeats this on a copy in which they have names that `stripAnswer` does not know.
 */
const TEXT = /\\(?:text|textbf|textit|textrm|texttt|mbox)(?=\s*\{)/g;
const UPRIGHT = /\\(?:mathrm|mathit|mathsf|mathtt)(?=\s*\{)/g;
const BOLD = /\\mathbf(?=\s*\{)/g;

/**
 * Strips the wrapping of an answer. A text such as "\text{Area} = \frac{1}{2}" only looks wrapped and must keep its
 * braces.
 */
function stripped(written: string): string {
  const text = written.replace(BOLD_IN_WORDS, "$1");
  // No value starts or ends with a star, except "ℕ^*". Other stars are remains of bold text.
  const usual = stripAnswer(text).replace(/^[\s*]{1,64}|(?<![*^_]|(?:∈|\\in)\s?[NZRℕℤℝ])[\s*]{1,64}$/g, "");
  if (isBalanced(usual)) return usual;
  return stripAnswer(text.replace(TEXT, "\\textup").replace(UPRIGHT, "\\operatorname").replace(BOLD, "\\boldsymbol"));
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth < 0) return false;
  }
  return depth === 0;
}

function fitting(texts: readonly string[]): Parsed<readonly string[]> {
  const longest = Math.max(...texts.map((text) => text.length));
  if (longest > LENGTH_MAX) return malformed(`it has ${longest} characters, and the limit is ${LENGTH_MAX}`);
  if (texts.some(isTakenBack)) return malformed("it takes its answer back, or announces another one");
  return texts.some((text) => text.trim() === "") ? malformed("it is empty") : { kind: "answer", answer: texts };
}

/**
 * Returns the contents of the boxes without duplicates, or an error message. The time is linear in the text's length.
 */
function boxesOf(text: string): readonly string[] | string {
  if (!text.includes("boxed")) return [];
  const found: Box[] = [];
  let past = 0;
  BOX.lastIndex = 0;
  for (let count = 1; BOX.test(text); count++) {
    if (count > BOXES_MAX) return "it has too many \\boxed{} commands";
    const start = BOX.lastIndex;
    const end = closing(text, start);
    if (end < 0) return "a \\boxed{} is not closed";
    const before = text.slice(Math.max(past, start - BEFORE_MAX), start).replace(/\\f?boxed\s*\{$/, "");
    if (isDenied(before, text.slice(end + 1, end + BEFORE_MAX))) return "it takes its answer back";
    if (isPart(before, text.slice(end + 1, end + BEFORE_MAX)))
      return "the text next to its \\boxed{} is part of the value";
    const inside = text.slice(start, end);
    const inner = inside.length > LENGTH_MAX ? inside : stripped(inside);
    const labelled = inside.length > LENGTH_MAX ? undefined : afterLabel(inner, 1);
    if (labelled?.kind === "malformed") return labelled.reason;
    found.push({ inner: labelled?.answer ?? inner, before });
    past = end + 1;
    BOX.lastIndex = end;
  }
  return [...new Set(found.map((box) => named(box, found.length > 1)))];
}

/** Matches a minus sign before a box: "= - \boxed{5}" or "is - \boxed{5}". A dash or a bullet does not match. */
const MINUS = r`(?:[=(<>≤≥≈,]\s?[-−]|−|\$[-−]|(?<!\p{L})(?:is|are|equals|ist|es|est|é|è)\s[-−])(?:\s|\\[,;:! ]){0,3}`;
/** Matches words such as "more than", which turn the value after them into a bound. "no more than" does not match. */
const BEYOND = r`(?<!(?:no|not|n['’]t|never|without|nicht|nie|no es|nunca|não|pas|jamais|non|mai|не)\s(?:be\s)?)(?:${[
  r`(?:more|less|greater|fewer|higher|lower|larger|smaller|bigger)\sthan|exceed(?:s|ing)?`,
  ...[
    "más (?:de|que)",
    "menos (?:de|que)",
    "mayor que",
    "menor que",
    "mehr als",
    "weniger als",
    "(?:größer|kleiner) als",
  ],
  ...["plus de", "moins de", "supérieure? à", "inférieure? à", "mais (?:de|que)", "maior que", "più di", "meno di"],
  ...["maggiore di", "minore di", "больше", "более", "меньше", "менее"],
].join("|")})`;
/**
 * Matches a text before a box that makes the box only part of the value: "-\boxed{5}", "2\boxed{5}", "10^{\boxed{3}}",
 * "half of \boxed{4}" or "more than \boxed{5}".
 */
const PART_BEFORE = new RegExp(
  `(?:${[
    ...[r`[\d^/+−-]`, r`[\w)}\]]\s?\*`, r`\^\{`, r`\\(?:[dt]?frac|sqrt|cdot|times|pm)\s*(?:\[[^\]]{0,9}\])?\{?`],
    ...[r`[\d)}\]]\s?[*×÷·]\s?`, r`\d\s?(?:\\[,;:! ]\s?|\(\s?)`, r`\\[dt]?frac\s?\{[^{}]{0,20}\}\s?\{`],
    r`\\(?:log|ln|lg|exp|(?:arc)?(?:sin|cos|tan)|cot|sec|csc)(?:_\{?\w{1,4}\}?)?\s?\(?`,
    r`\d\$?\s{0,2}(?:or|oder|ou|или|或者?)\s{0,2}\$?`,
    r`(?<!\p{L})(?:negative|minus|half(?: of)?|twice|double|triple|${BEYOND})(?: |\$){1,4}`,
    r`(?:超过|超過|大于|大於|小于|小於|多于|多於|少于|少於)[\s$]{0,4}`,
    ...[MINUS, r`[\w)}\]]\s?\+\s?`],
  ].join("|")})$`,
  "iu",
);
/**
 * Matches a text after a box that makes the box only part of the value: "\boxed{1}/2", "\boxed{3}x", "\boxed{5}
 * million" or "\boxed{5} squared".
 */
const PART_BEHIND = new RegExp(
  `^(?:${[
    ...[r`[\d^xyz]|_[\d{]`, r`\s*[+*/]\s*[\d\\]`, r`\s*\\(?:pi|sqrt|cdot|times|[dt]?frac|div)(?![A-Za-z])`],
    ...[r`[.:]\d`, r` ?[×÷·−-] ?\d`, r`[aeiknpq](?!\p{L})`, r`\s*(?:squared|cubed|halves|factorial)(?!\p{L})`],
    ...[
      r`\s*(?:plus|minus|times|divided by|multiplied by)\s+\$?[\d\\]`,
      r`[\s$]{0,4}(?:or|oder|ou|или|或者?)\s{0,2}(?:(?:more|less|fewer|greater)(?!\p{L})|\$?[-−]?\d)`,
    ],
  ].join("|")})`,
  "u",
);
/** Matches the word after a box, e.g. "million". */
const WORD_BEHIND = /^[\s$}]{0,4}(?:\\(?:text|textbf|textrm|mathrm)\s?\{\s?)?(\p{L}{1,24})/u;

function isPart(before: string, behind: string): boolean {
  const [, word = ""] = WORD_BEHIND.exec(behind) ?? [];
  // In "(\boxed{5}, 6)" the box is only part of a pair.
  const isOfSeveral = /[([{]\s?$/.test(before) && /^\s?[,;]\s?(?!\\f?boxed)\S/.test(behind);
  return isOfSeveral || PART_BEFORE.test(before) || PART_BEHIND.test(behind) || isScale(word);
}

interface Box {
  readonly inner: string;
  /** Text before the box, of at most BEFORE_MAX characters. It may name the box's value, as in "x = \boxed{5}". */
  readonly before: string;
}

const BEFORE_MAX = 60;
const NAME =
  /(?<!<\/?[A-Za-z]{0,9})([A-Za-z](?:_(?:\w|\{\w{1,3}\}))?)\s?(=|[<>≤≥]=?|\\(?:lt|gt|leq?|geq?|leqslant|geqslant|ne|neq|in)(?![a-z]))[\s$]{0,3}$/;
const HAS_RELATION = /[=<>≤≥∈]|\\(?:lt|gt|leq?|geq?|leqslant|geqslant|ne|neq|in)(?![a-z])/;

/**
 * Adds the name before a \boxed command to its content: "x > \boxed{3}" means x > 3. Several boxes may each have a
 * name: "y = \boxed{3}, x = \boxed{-1}".
 */
function named({ inner, before }: Box, isOfSeveral: boolean): string {
  const [, name = "", sign = ""] = NAME.exec(before) ?? [];
  const counts = name !== "" && (isOfSeveral || sign !== "=") && !HAS_RELATION.test(inner);
  return counts ? `${name} ${sign} ${inner}` : inner;
}

/** Returns the index of the brace that closes a group whose content begins at `start`, or −1. */
function closing(text: string, start: number): number {
  let depth = 1;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (character === "\\") i++;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return i;
  }
  return -1;
}
