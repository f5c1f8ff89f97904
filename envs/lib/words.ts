/** Words of others (a program's, a model's, an endpoint's), made fit to be shown: in a message, in a log, on a terminal. */

/**
 * What a terminal obeys, what turns the direction of the text around it, and what cannot be seen or sent: control
 * characters, ends of lines and paragraphs, halves of surrogate pairs, marks of direction, and tags, in which text hides.
 */
const UNFIT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u{feff}\u{fff9}-\u{fffb}\u{e0000}-\u{e007f}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Most words are plain, and to see that is faster than to look for what is not. */
const PLAIN = /^[ -~]*$/;

/** Whether words are fit to be shown as they are, for certain. */
export function isPlain(words: string): boolean {
  return PLAIN.test(words);
}

/** The same words, with such characters written out: "\n", "\u{202e}". What was escaped before stays as it is. */
export function escaped(words: string): string {
  if (isPlain(words)) return words;
  return words.replace(UNFIT, (found) => SHORT[found] ?? `\\u{${found.codePointAt(0)?.toString(16) ?? ""}}`);
}

/** The same on one line, with one blank for all white space. */
export function onOneLine(words: string): string {
  return escaped(words.replaceAll(/\s+/g, " ").trim());
}
