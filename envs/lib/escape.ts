/** Escapes text from programs, models and endpoints so that messages, logs and terminals can show it safely. */

/**
 * Characters that control a terminal, change the direction of text, or are invisible or invalid. These are control
 * characters, line and paragraph separators, lone surrogates, direction marks, and tag characters, which can hide text.
 */
const UNFIT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u{feff}\u{fff9}-\u{fffb}\u{e0000}-\u{e007f}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Matches printable ASCII. Most texts match, and this check is faster than the search for unsafe characters. */
const PLAIN = /^[ -~]*$/;

/**
 * Returns true if a text is printable ASCII, and so safe to show unchanged. False: the text may have unsafe characters.
 */
export function isPlain(words: string): boolean {
  return PLAIN.test(words);
}

/** Escapes unsafe characters, e.g. as "\n" or "\u{202e}". Existing escapes stay unchanged. */
export function escaped(words: string): string {
  if (isPlain(words)) return words;
  return words.replace(UNFIT, (found) => SHORT[found] ?? `\\u{${found.codePointAt(0)?.toString(16) ?? ""}}`);
}

/** Escapes unsafe characters in a text of several lines. Line feeds and tabs stay. */
export function escapedLines(words: string): string {
  return words.replaceAll(/[^\n\t]+/g, escaped);
}

/** Escapes unsafe characters in JSON by JSON escapes, so that the JSON keeps its value. */
export function escapedJson(json: string): string {
  const units = (found: string): string =>
    Array.from({ length: found.length }, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");
  return json.replaceAll(/[^\n]+/g, (line) => (isPlain(line) ? line : line.replace(UNFIT, units)));
}

/** Matches a whole JSON escape, or an unsafe character. */
const IN_JSON = new RegExp(String.raw`\\u[0-9a-f]{4}|\\.|${UNFIT.source}`, "gu");
const MAY_HOLD_SOME = /[^ -~\n]|\\[ubfr]/;
const KEPT: ReadonlySet<string> = new Set(["\n", "\t"]);

/**
 * Escapes unsafe characters in a line of JSON so that its parsed strings contain visible escapes. Line feeds and tabs
 * stay.
 */
export function escapedInJson(line: string): string {
  if (!MAY_HOLD_SOME.test(line)) return line;
  return line.replace(IN_JSON, (found) => {
    if (found === "\n") return found;
    const said = found.startsWith("\\") ? (JSON.parse(`"${found}"`) as string) : found;
    const fit = KEPT.has(said) ? said : escaped(said);
    return fit === said ? found : fit.replaceAll("\\", "\\\\");
  });
}

/** Escapes a text and joins it to one line, with a single space for each run of white space. */
export function onOneLine(words: string): string {
  return escaped(words.replaceAll(/\s+/g, " ").trim());
}
