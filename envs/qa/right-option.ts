/** Finds the right option of a row, which may be given by its text, its letter or label, or its index. */
import type { RowProof } from "../environment.ts";
import { malformed, type Parsed } from "../facts.ts";
import { firstWithValue, isRow, hasValue, type Row, shown, textIn } from "../row-columns.ts";
import { normalized } from "./match.ts";
import { type Options, RIGHT_TEXTS } from "./options.ts";

/** Column with the right option's index, counted from 0. */
export const INDEX = "answer_index";
/**
 * Column with the right option's number, counted from 1. No public data set has it; the operator can assign a column to
 * it.
 */
export const NUMBER = "answer_number";
export const LETTER = "answer_letter";

/** Columns that may hold the right option's text, letter or index. The first one present in a row counts. */
export const ANSWERS = [
  ...["answer", "answerkey", "answer_key", "correct_answer", "correct_option", "correct"],
  ...["label", "target", "gold", "cop", "best_answer"],
] as const;
/** Columns that hold a letter, label or index of the right option, and never its text. */
const KEYS: readonly string[] = ["answerkey", "answer_key", "label", "cop"];

export interface Right {
  readonly place: number;
  readonly from: string;
  readonly proof?: RowProof;
}

/**
 * Returns the proof that a file needs if its answers are indices: at least one index must be 0, because the indices may
 * otherwise count from 1. `given` is true if this row has the index 0.
 */
const fromZero = (column: string, given: boolean): RowProof => ({
  wanted: `column ${column} has indices, and none is 0, so that they may count from 1: say --column ${INDEX}=${column} if they count from 0, or --column ${NUMBER}=${column} if they count from 1`,
  given,
});

/**
 * Returns the proof that a file needs if an answer can be read both as an option's text and as an index. At least one
 * row must show that the column holds texts; `given` is true if this row does.
 */
const asText = (column: string, given: boolean): RowProof => ({
  wanted: `column ${column} can be read as options' texts and as their indices: say --column ${INDEX}=${column} if they are indices`,
  given,
});

export function rightOf(row: Row, options: Options): Parsed<Right> {
  const column = firstWithValue(row, ANSWERS);
  const sure = sureOf(row, options);
  if (sure.kind === "malformed") return sure;
  const { place, from } = sure.answer;
  if (options.right !== undefined)
    return place === undefined || place === options.right
      ? found({ place: options.right, from: options.from })
      : malformed(`column ${from} is ${shown(row[from])}, but ${options.from} marks another option as right`);
  if (column === undefined)
    return place === undefined
      ? malformed(`column answer must be one of the options, its letter or its index, and is ${shown(row["answer"])}`)
      : found({ place, from });
  if (place === undefined) return readAnswer(row, column, options);
  const given = row[column];
  const { texts, text, label, index } = readings(column, given, options);
  if ([...texts, label, index].includes(place)) return found({ place, from });
  const where = `column ${column} is ${shown(given)}, and ${from} says ${shown(options.texts[place])}`;
  if (text !== undefined && from === LETTER)
    return malformed(`column ${LETTER} is ${shown(row[LETTER])}, which is not the letter of the answer in options`);
  return malformed(
    text === undefined && from === LETTER ? `column answer must be one of the options: ${where}` : where,
  );
}

/**
 * Returns the option that the unambiguous columns (INDEX, NUMBER and LETTER) name, if the row has any of them. All of
 * them must name the same option.
 */
function sureOf(row: Row, { texts, labels }: Options): Parsed<{ readonly place?: number; readonly from: string }> {
  const places: { readonly place: number; readonly from: string }[] = [];
  for (const [from, start] of [
    [INDEX, 0],
    [NUMBER, 1],
  ] as const) {
    if (!hasValue(row[from])) continue;
    const place = wholeIn(row[from]) ?? NaN;
    if (!(place >= start && place < texts.length + start))
      return malformed(
        `column ${from} must be the index of an option, counted from ${start}, and is ${shown(row[from])}`,
      );
    places.push({ place: place - start, from });
  }
  if (hasValue(row[LETTER])) {
    const place = letterPlace(row[LETTER], labels, texts.length);
    if (place === undefined)
      return malformed(`column ${LETTER} is ${shown(row[LETTER])}, which is not the letter of the answer in options`);
    places.push({ place, from: LETTER });
  }
  const [first, ...others] = places;
  const other = others.find(({ place }) => place !== first?.place);
  if (first !== undefined && other !== undefined)
    return malformed(
      `column ${other.from} is ${shown(row[other.from])}, and ${first.from} says ${shown(texts[first.place])}`,
    );
  return { kind: "answer", answer: first ?? { from: "" } };
}

/**
 * Returns the indices of the options that an answer may mean, read as a text, as a label or letter, and as an index.
 */
function readings(column: string, given: unknown, { texts, labels, areNumbers }: Options) {
  const isKey = KEYS.includes(column) && labels !== undefined;
  const keys = texts.map(normalized);
  const said = areNumbers ? textIn(given) : given;
  const key = typeof said === "string" && !isKey ? normalized(said) : undefined;
  const places = keys.flatMap((each, place) => (each === key ? [place] : []));
  const whole = isKey && labels.every((label) => /^\d+$/.test(label)) ? undefined : wholeIn(given);
  return {
    texts: places,
    text: places[0],
    label: letterPlace(typeof given === "string" ? given : textIn(given), labels, texts.length),
    index: whole !== undefined && whole < texts.length ? whole : undefined,
    isPast: whole !== undefined && whole >= texts.length,
  };
}

function readAnswer(row: Row, column: string, options: Options): Parsed<Right> {
  const given = row[column];
  if (Array.isArray(given) || isRow(given) || typeof given === "boolean")
    return malformed(`column ${column} must be a text, a letter or an index, and is ${shown(given)}`);
  const { text, label, index, isPast } = readings(column, given, options);
  if (label !== undefined && (text === undefined || text === label))
    return found({ place: label, from: `${column}, by its ${options.labels === undefined ? "letter" : "label"}` });
  if (label !== undefined)
    return malformed(
      `column ${column} is ${shown(given)}, which is the text of one option and the letter of another: give ${LETTER} or ${INDEX}`,
    );
  if (text !== undefined) {
    const doubt = index !== undefined && index !== text;
    return found({
      place: text,
      from: `${column}, by its text`,
      ...(index !== text && { proof: asText(column, !doubt) }),
    });
  }
  if (index !== undefined)
    return found({ place: index, from: `${column}, by its index from 0`, proof: fromZero(column, index === 0) });
  const range = isPast ? `: as an index, which counts from 0, it is past the last of ${options.texts.length}` : "";
  return malformed(
    `column ${column} must be one of the options, its letter or its index, and is ${shown(given)}${range}`,
  );
}

/** Returns a whole number of at most three digits, given as a number or a text. Returns undefined for other values. */
function wholeIn(value: unknown): number | undefined {
  const text = textIn(value)?.trim() ?? "";
  return /^\d{1,3}(?:\.0+)?$/.test(text) ? Number(text) : undefined;
}

/** Returns the index of the option with this label, or with this letter if the row has no labels. */
function letterPlace(given: unknown, labels: readonly string[] | undefined, count: number): number | undefined {
  if (typeof given !== "string") return undefined;
  const text = given.trim().replace(/^\(([A-Za-z])\)$|^([A-Za-z])[.)]$/, "$1$2");
  if (labels !== undefined) {
    const place = labels.findIndex((label) => label.toUpperCase() === text.toUpperCase());
    return place < 0 ? undefined : place;
  }
  const place = /^[A-Za-z]$/.test(text) ? text.toUpperCase().charCodeAt(0) - 65 : -1;
  return place >= 0 && place < count ? place : undefined;
}

const found = (answer: Right): Parsed<Right> => ({ kind: "answer", answer });

/** All columns that `rightOf` may read. */
export const RIGHT_COLUMNS: readonly string[] = [...new Set([INDEX, NUMBER, LETTER, ...ANSWERS, ...RIGHT_TEXTS])];
