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

/** The same for words of several lines: line feeds and tabs stay. */
export function escapedLines(words: string): string {
  return words.replaceAll(/[^\n\t]+/g, escaped);
}

/** JSON with such characters in its texts as escapes of JSON, so that it stays what it was. */
export function escapedJson(json: string): string {
  const units = (found: string): string =>
    Array.from({ length: found.length }, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");
  return json.replaceAll(/[^\n]+/g, (line) => (isPlain(line) ? line : line.replace(UNFIT, units)));
}

/** An escape of JSON as a whole, or one of such characters. */
const IN_JSON = new RegExp(String.raw`\\u[0-9a-f]{4}|\\.|${UNFIT.source}`, "gu");
const MAY_HOLD_SOME = /[^ -~\n]|\\[ubfr]/;
const KEPT: ReadonlySet<string> = new Set(["\n", "\t"]);

/** A line of JSON whose texts, once they are read, hold such characters written out; line feeds and tabs stay. */
export function escapedInJson(line: string): string {
  if (!MAY_HOLD_SOME.test(line)) return line;
  return line.replace(IN_JSON, (found) => {
    if (found === "\n") return found;
    const said = found.startsWith("\\") ? (JSON.parse(`"${found}"`) as string) : found;
    const fit = KEPT.has(said) ? said : escaped(said);
    return fit === said ? found : fit.replaceAll("\\", "\\\\");
  });
}

/** The same on one line, with one blank for all white space. */
export function onOneLine(words: string): string {
  return escaped(words.replaceAll(/\s+/g, " ").trim());
}
