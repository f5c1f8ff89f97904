/** Tells words, functions and products of variables apart in runs of letters. */
import { DECORATIONS, SKIPPED, TEXTS, UPRIGHTS } from "./commands.ts";
import { FUNCTIONS, INFIXES, OPERATORS, SYMBOLS } from "./names.ts";
import { readNumber, TOO_LONG } from "./numeral.ts";
import { push, put, type Sink, type Style } from "./tokens.ts";
import { CAPITAL_WORDS, SHORT_WORDS } from "./words.ts";

/** Longer runs are words, unless they are made of functions and variables. */
const PRODUCT_LETTERS_MAX = 3;

export function letterTokens(run: string, sink: Sink): void {
  if (run.length === 1) return put(sink, "name", run);
  if (run === "and" || run === "or" || run === "mod" || run === "choose") return put(sink, "op", run);
  if (run === "AND" || run === "OR") return put(sink, "op", run.toLowerCase());
  const fn = FUNCTIONS.get(run) ?? FUNCTIONS.get(run.toLowerCase());
  if (fn !== undefined) return put(sink, "function", fn);
  const name = run === "oo" ? "∞" : (SYMBOLS.get(run) ?? (run.length > 2 ? SYMBOLS.get(run.toLowerCase()) : undefined));
  if (name !== undefined) return put(sink, "name", name);
  if (
    SHORT_WORDS.has(run) ||
    CAPITAL_WORDS.has(run) ||
    (/^[A-Z][a-z]+$/.test(run) && SHORT_WORDS.has(run.toLowerCase()))
  )
    return put(sink, "word", run);
  const parts = split(run);
  if (parts === undefined) return put(sink, "word", run);
  for (const part of parts) {
    const inner = FUNCTIONS.get(part);
    if (inner !== undefined) put(sink, "function", inner);
    else push(sink, { kind: "name", text: part === "pi" ? "π" : part, run });
  }
}

/** Single letters and functions; undefined: it is a word. */
function split(run: string): readonly string[] | undefined {
  const parts: string[] = [];
  let letters = 0;
  for (let at = 0; at < run.length;) {
    const fn = INFIXES.find((name) => run.startsWith(name, at));
    if (fn === undefined) letters++;
    parts.push(fn ?? run.charAt(at));
    at += fn?.length ?? 1;
  }
  return letters <= PRODUCT_LETTERS_MAX || /^[A-Z]{4,6}$/.test(run) ? parts : undefined;
}

const PIECE = /[A-Za-z\u00c0-\u024f]+(?:['’-][A-Za-z]+)*|\d|[^\s]/y;

/** The inside of \text{}: words, numbers and signs. */
export function textTokens(inner: string, style: Style, sink: Sink): void {
  sink.space = true;
  for (let at = 0; at < inner.length;) {
    PIECE.lastIndex = at;
    const piece = PIECE.exec(inner)?.[0];
    if (piece === undefined) {
      sink.space = true;
      at++;
      continue;
    }
    if (/^\d/.test(piece)) {
      const read = readNumber(inner, at, style);
      if (read === undefined) {
        sink.problem ??= TOO_LONG;
        return;
      }
      const { end, ...number } = read;
      push(sink, { kind: "number", ...number });
      at = end;
      continue;
    }
    const lower = piece.toLowerCase();
    if (lower === "and" || lower === "or") put(sink, "op", lower);
    else if (/^[A-Za-z\u00c0-\u024f]/.test(piece)) put(sink, "word", piece);
    else if (piece === "\\" || piece === "$" || piece === "{" || piece === "}") sink.space = true;
    else put(sink, "op", piece === "°" ? "°" : piece);
    at += piece.length;
  }
  sink.space = true;
}

/** Decorations that are not another way to write a vector, a segment or a mean. */
const MARKS: Readonly<Record<string, string>> = {
  dot: "˙",
  ddot: "¨",
  overleftrightarrow: "↔",
  wideparen: "⌢",
  overparen: "⌢",
  overarc: "⌢",
};

/** The unit vectors of the plane are written without their dots. */
const DOTLESS = /\\([ij])math(?![A-Za-z])/g;

/** The name that something decorated is: \vec{v}, \overline{\alpha+\beta}. */
export function decoratedName(command: string, inner: string): string {
  const written = inner.replace(DOTLESS, "$1");
  const letters = written.replace(/\\([A-Za-z]+)|[\s{}]/g, (_, of?: string) => (of === undefined ? "" : meantBy(of)));
  return `${MARKS[command] ?? "⃗"}${letters === "" ? inner.trim() : letters}`;
}

/** What a command means; of those that say how something looks, nothing. */
function meantBy(command: string): string {
  const isLook = [SKIPPED, UPRIGHTS, TEXTS, DECORATIONS].some((names) => names.has(command));
  return isLook ? "" : (SYMBOLS.get(command) ?? OPERATORS.get(command) ?? command);
}
