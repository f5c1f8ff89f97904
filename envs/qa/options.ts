/** Reads the options of a row in all the forms that public data sets use. */
import { malformed, type Parsed } from "../facts.ts";
import {
  firstWithValue,
  isPrintedByPython,
  isRow,
  hasValue,
  OPTION_FAMILIES,
  OPTION_LISTS,
  type Row,
  shown,
  textIn,
  unpacked,
  WRONG_FAMILIES,
  WRONG_LISTS,
} from "../row-columns.ts";
import { numberText } from "../lib/exact-json.ts";
import { collapsed, normalized, OPTION_UNITS_MAX } from "./match.ts";

/** Maximum number of options, because each gets a letter. */
export const OPTIONS_MAX = 26;

export interface Options {
  readonly texts: readonly string[];
  /**
   * Labels of the options in the row, e.g. "A". Unset if there are none; the options are then labelled by their
   * letters.
   */
  readonly labels?: readonly string[];
  /**
   * Index of the right option, if the columns of the options also say which one is right, as TruthfulQA's do. Otherwise
   * unset.
   */
  readonly right?: number;
  /** Whether the row's options are numbers. An answer that is a number may then equal one of them. */
  readonly areNumbers: boolean;
  /** Names of the columns that the options come from, for messages. */
  readonly from: string;
}

export const RIGHT_TEXTS = ["correct_answer", "best_answer", "answer"] as const;

export function optionsOf(row: Row): Parsed<Options> {
  const list = firstWithValue(row, OPTION_LISTS);
  if (list !== undefined) return listed(list, unpacked(row[list]));
  const { question } = row;
  if (isRow(question) && hasValue(question["choices"])) return listed("question.choices", question["choices"]);
  const wrong = wrongOf(row);
  if (wrong !== undefined) return beside(row, wrong);
  const family = OPTION_FAMILIES.find(([first, second]) => hasValue(row[first ?? ""]) && hasValue(row[second ?? ""]));
  if (family !== undefined) return spread(row, family);
  return malformed(
    `column ${list ?? "options"} must be a list of 2 to ${OPTIONS_MAX} texts, and is ${shown(row[list ?? "options"])}: to have a teacher model write wrong options, run gradus pools distract`,
  );
}

/**
 * Reads the options in a column. Accepts a list of texts or of objects with a text, an object with lists of texts and
 * labels, and an object with letters as keys.
 */
function listed(from: string, value: unknown): Parsed<Options> {
  if (isRow(value)) return byName(from, value);
  if (!Array.isArray(value)) return notAList(from, value);
  const items: readonly unknown[] = value;
  if (!items.every(isRow)) return checked({ ...unlettered(items), from });
  const texts = items.map(({ text, content, value: own }) => text ?? content ?? own);
  const labels = items.map((item) => textIn(item["label"] ?? item["key"] ?? item["id"]));
  return checked({ texts, from, ...(labels.every((label) => label !== undefined) && { labels: labels }) });
}

function byName(from: string, value: Row): Parsed<Options> {
  const texts = value["text"] ?? value["choices"];
  if (!Array.isArray(texts)) return byLetter(from, value);
  const labels: unknown = value["label"] ?? value["labels"];
  if (!Array.isArray(labels) || labels.length !== texts.length) return checked({ texts, from });
  // TruthfulQA marks the right option with 1 and the others with 0.
  if (labels.every((label) => label === 0 || label === 1)) {
    const right = labels.indexOf(1);
    if (right < 0 || labels.includes(1, right + 1))
      return malformed(`column ${from} must mark exactly one option as right`);
    return checked({ texts, right, from });
  }
  return checked({ texts, labels: labels.map((label) => textIn(label) ?? ""), from });
}

function byLetter(from: string, value: Row): Parsed<Options> {
  const entries = Object.entries(value).filter(([, text]) => hasValue(text));
  const labels = entries.map(([label]) => label.trim());
  if (!labels.every((label, i) => label.toUpperCase() === String.fromCharCode(65 + i))) return notAList(from, value);
  return checked({ texts: entries.map(([, text]) => text), labels: labels.map((label) => label.toUpperCase()), from });
}

/** Removes letters such as "A) " and "(b) " before the options, if each option has the letter of its position. */
function unlettered(items: readonly unknown[]): Pick<Given, "texts" | "labels"> {
  const found = items.map((item) =>
    typeof item === "string" ? /^\s*\(?([A-Za-z])\s?[).:]\s*(?=\S)/.exec(item) : null,
  );
  const isLettered = found.every((match, i) => match?.[1]?.toUpperCase() === String.fromCharCode(65 + i));
  if (!isLettered || items.length < 2) return { texts: items };
  return { texts: items.map((item, i) => (item as string).slice(found[i]?.[0].length)) };
}

function spread(row: Row, family: readonly string[]): Parsed<Options> {
  const columns = family.filter((column) => hasValue(row[column]));
  const [first = "", last = ""] = [family[0], columns.at(-1)];
  if (columns.length !== family.indexOf(last) + 1)
    return malformed(`columns ${first} to ${last} have a gap: a column between them is missing or empty`);
  return checked({ texts: columns.map((column) => row[column]), from: `${first} to ${last}` });
}

interface Wrong {
  readonly from: string;
  readonly texts: readonly unknown[];
}

function wrongOf(row: Row): Wrong | undefined {
  const list = firstWithValue(row, WRONG_LISTS);
  if (list !== undefined) {
    const texts = unpacked(row[list]);
    // TruthfulQA's table separates wrong answers by semicolons: "Paris; Rome".
    return {
      from: list,
      texts: typeof texts === "string" ? texts.split(/;\s+/) : Array.isArray(texts) ? texts : [texts],
    };
  }
  const family = WRONG_FAMILIES.find(([first]) => hasValue(row[first ?? ""]));
  const columns = family?.filter((column) => hasValue(row[column])) ?? [];
  return family && { from: `${columns[0]} to ${columns.at(-1)}`, texts: columns.map((column) => row[column]) };
}

/** Returns the options of a row that has the right answer and the wrong ones in different columns. */
function beside(row: Row, { from, texts }: Wrong): Parsed<Options> {
  const column = firstWithValue(row, RIGHT_TEXTS);
  if (column === undefined)
    return malformed(`column correct_answer is missing: the row has only wrong options, in ${from}`);
  return checked({ texts: [row[column], ...texts], right: 0, from: `${column} and ${from}` });
}

interface Given extends Omit<Options, "texts" | "areNumbers"> {
  readonly texts: readonly unknown[];
}

function checked({ texts: given, from, ...rest }: Given): Parsed<Options> {
  if (given.length < 2 || given.length > OPTIONS_MAX) return notAList(from, given);
  const areNumbers = given.every((option) => numberText(option) !== undefined);
  const texts: string[] = [];
  for (const option of given) {
    const text = areNumbers ? numberText(option) : option;
    if (typeof text !== "string" || text.length > OPTION_UNITS_MAX || normalized(text) === "")
      return malformed(`column ${from}: ${shown(option)} is not a text of 1 to ${OPTION_UNITS_MAX} characters`);
    if (namesOthers(text))
      return malformed(`column ${from}: ${shown(text)} names other options by letter, but options are shuffled`);
    texts.push(collapsed(text));
  }
  return { kind: "answer", answer: { texts, from, areNumbers, ...rest } };
}

const LETTER = "\\(?[A-J]\\)?";

/** Matches options that name other options: "Both A and C", "(A), (B) and (D) only" or "None of A or B". */
const NAMES_OTHERS = new RegExp(
  `^(?:both |either |neither |all of |none of |only )?(?:options? |choices? |answers? )?${LETTER}(?:, ?${LETTER}){0,8},? (?:and|or|nor|&) ${LETTER}(?: only| above| are correct| are both correct)?\\.?$`,
  "i",
);

export function namesOthers(option: string): boolean {
  return NAMES_OTHERS.test(option.trim());
}

function notAList(from: string, value: unknown): Parsed<never> {
  if (isPrintedByPython(value))
    return malformed(
      `column ${from} holds a list as Python prints it, ${shown(value)}: save the table as JSONL or Parquet`,
    );
  return malformed(
    `column ${from} must be a list of 2 to ${OPTIONS_MAX} texts, and is ${shown(value)}: to have a teacher model write wrong options, run gradus pools distract`,
  );
}
