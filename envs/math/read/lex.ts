/**
 * Splits the text of an answer into tokens. LaTeX, Unicode and plain text may be mixed. The time is linear in the
 * text's length.
 */
import type { Malformed } from "../../facts.ts";
import { isSpace, narrow } from "../../lib/text.ts";
import {
  CHARACTERS,
  DECORATIONS,
  EQUATIONS,
  FUNCTIONS,
  NUMBER_SETS,
  OPERATORS,
  PLAIN_LOOKS,
  SKIPPED,
  SKIPPED_WITH_ARGUMENT,
  SUBSCRIPTS,
  SUBSCRIPTS_PLAIN,
  SUPERSCRIPTS,
  SUPERSCRIPTS_PLAIN,
  SYMBOLS,
  TEXTS,
  UNIT_LETTERS,
  UPRIGHTS,
  VULGAR,
} from "./names.ts";
import { basedNumber, readNumber, startsWithPoint, TOO_LONG } from "./numeral.ts";
import { countedWord, decoratedName, foreignWord, isOrdinalOf, letterTokens, textTokens } from "./letters.ts";
import { correctedTokens } from "./corrections.ts";
import { push, put, type Sink, type Style, type Token } from "./tokens.ts";

export type Lexed = { readonly kind: "tokens"; readonly tokens: readonly Token[] } | Malformed;

const TOKENS_MAX = 3_000;
const DOUBLE_SIGNS_MAX = 12;
/** Maximum number of numbers with an exponent, such as 1e300. Each may add four hundred digits. */
const EXPONENTS_MAX = 64;

export function lex(text: string, style: Style): Lexed {
  if ((text.match(/\d[eE][+-]?\d{2}/g)?.length ?? 0) > EXPONENTS_MAX) return { kind: "malformed", reason: TOO_LONG };
  const nothing = { space: false, gap: "none", depth: 0, dollars: 0, problem: undefined } as const;
  const sink: Sink = { tokens: [], environments: [], ...nothing };
  lexInto(text, style, sink);
  if (sink.environments.length > 0) sink.problem ??= NOT_PAIRED;
  const doubles = sink.tokens.filter((token) => token.kind === "op" && (token.text === "±" || token.text === "∓"));
  if (doubles.length > DOUBLE_SIGNS_MAX) return { kind: "malformed", reason: "it has too many signs ±" };
  if (sink.tokens.length > TOKENS_MAX) return { kind: "malformed", reason: "it is too long to be read" };
  return sink.problem === undefined
    ? { kind: "tokens", tokens: correctedTokens(sink.tokens) }
    : { kind: "malformed", reason: sink.problem };
}

const LETTERS = /[A-Za-z]+/y;
const ACCENTED = /[\u00c0-\u024f]/;
/** Operators of two characters, with the sign that each stands for. */
const TWO_SIGNS: ReadonlyMap<string, string> = new Map(
  "<=≤ >=≥ !=≠ === **^ +-± -+∓ =<≤ :==".split(" ").map((row) => [row.slice(0, 2), row.slice(2)]),
);
const PLAIN_SIGNS = "+-*/^_=<>()[]{}|,;:!%&'?#@\"";
const NAMED = /[α-ωΑ-Ωℓħ∂∇∞∅∠△∁ℝℤℕℚℂ①-⑳]/u;
const KEPT = "±∓≤≥≠≈≡∈∪∩∖⟨⟩⌊⌋⌈⌉°→…√∛∑∏∝€£¥₹";

function lexInto(text: string, style: Style, sink: Sink): void {
  let at = 0;
  while (at < text.length && sink.problem === undefined && sink.tokens.length <= TOKENS_MAX) {
    const unit = narrow(text.charCodeAt(at));
    const character = String.fromCharCode(unit);
    if (isSpace(unit) || "~∴∵".includes(character) || character === "$" || character === "`") {
      separate(character, sink);
      at++;
    } else if (isDigit(unit) || startsWithPoint(text, at) || (style.bases && basedNumber(text, at) !== undefined))
      at = number(text, at, style, sink);
    else if ((unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122)) {
      LETTERS.lastIndex = at;
      const run = LETTERS.exec(text)?.[0] ?? character;
      // "más" is one word. It does not begin with the variable m.
      if (ACCENTED.test(text.charAt(at + run.length))) {
        at = foreignWord(text, at, sink);
        continue;
      }
      const isOrdinal = !sink.space && isOrdinalOf(run, text.charCodeAt(at - 1), text.charCodeAt(at - 2));
      const counted = countedWord(text, at);
      if (counted !== undefined) put(sink, "word", counted);
      else if (!isOrdinal) letterTokens(run, sink);
      at += (counted ?? run).length;
    } else if (character === "\\") at = command(text, at, style, sink);
    else at = sign(text, at, character, sink);
  }
}

/**
 * Records white space or a dollar sign between two tokens. A new line, or the dollar signs that start another formula,
 * end an expression.
 */
function separate(character: string, sink: Sink): void {
  sink.space = true;
  if (character.startsWith("$")) sink.dollars += character.length;
  if (sink.dollars > 1) sink.gap = "formula";
  else if (character === "\n" && sink.gap === "none") sink.gap = "line";
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

function number(text: string, at: number, style: Style, sink: Sink): number {
  const read = (style.bases ? basedNumber(text, at) : undefined) ?? readNumber(text, at, style);
  if (read === undefined) {
    sink.problem = TOO_LONG;
    return text.length;
  }
  const { end, ...written } = read;
  push(sink, { kind: "number", ...written });
  return end;
}

function sign(text: string, at: number, character: string, sink: Sink): number {
  const two = TWO_SIGNS.get(text.slice(at, at + 2));
  // "5!=120" means 5! = 120, not 5 ≠ 120.
  if (two === "≠" && isFactorial(sink.tokens.at(-1), sink.space)) return op(sink, "!", at + 1);
  if (text.startsWith("+/-", at)) return op(sink, "±", at + 3);
  if (text.startsWith("...", at)) return op(sink, "…", at + 3);
  if (two !== undefined) return op(sink, two, at + 2);
  if (PLAIN_SIGNS.includes(character)) return op(sink, character, at + 1);
  const raised =
    script(text, at, SUPERSCRIPTS, SUPERSCRIPTS_PLAIN, "^", sink) ||
    script(text, at, SUBSCRIPTS, SUBSCRIPTS_PLAIN, "_", sink);
  if (raised > 0) return at + raised;
  const vulgar = VULGAR[character];
  if (vulgar !== undefined) {
    push(sink, { kind: "number", value: { num: BigInt(vulgar[0]), den: BigInt(vulgar[1]) } });
    return at + 1;
  }
  const other = CHARACTERS.get(character);
  if (character === "×") return cross(sink, at + 1);
  if (other !== undefined) return op(sink, other, at + 1);
  if (KEPT.includes(character)) return op(sink, character, at + 1);
  if (NAMED.test(character)) {
    put(sink, "name", character);
    return at + 1;
  }
  if (/\p{L}/u.test(character)) return foreignWord(text, at, sink);
  if (character === ".") return op(sink, ".", at + 1);
  sink.problem = `it holds ${JSON.stringify(character)}, which has no meaning in an answer`;
  return text.length;
}

function isFactorial(before: Token | undefined, isApart: boolean): boolean {
  return !isApart && (before?.kind === "number" || (before?.kind === "op" && ")!".includes(before.text)));
}

/** Adds a multiplication token for "×". The token records the sign, because "×" between vectors is a cross product. */
function cross(sink: Sink, end: number): number {
  push(sink, { kind: "op", text: "*", run: "×" });
  return end;
}

function op(sink: Sink, text: string, end: number): number {
  put(sink, "op", text);
  return end;
}

/** Reads a run of superscript or subscript characters such as ²³. Returns the length of the run, or 0. */
function script(text: string, at: number, from: string, to: string, mark: "^" | "_", sink: Sink): number {
  let plain = "";
  while (at + plain.length < text.length) {
    const index = from.indexOf(text.charAt(at + plain.length));
    if (index < 0) break;
    plain += to.charAt(index);
  }
  if (plain === "") return 0;
  put(sink, "op", mark);
  put(sink, "op", "{");
  lexInto(plain, { comma: "separator", exponent: false, bases: false }, sink);
  put(sink, "op", "}");
  return plain.length;
}

// Functions that read LaTeX commands.

const COMMAND = /\\([A-Za-z]+\*?|[\s\S])/y;

function command(text: string, at: number, style: Style, sink: Sink): number {
  COMMAND.lastIndex = at;
  const found = COMMAND.exec(text);
  const name = found?.[1];
  if (found === null || name === undefined) return op(sink, "∖", at + 1);
  const end = at + found[0].length;
  if (name === "\\") return op(sink, "\\\\", lineEnd(text, end));
  if ("{}".includes(name)) return op(sink, `\\${name}`, end);
  if ("%$|_".includes(name)) return op(sink, name, end);
  if (name === "&") return op(sink, "and", end);
  if (SKIPPED.has(name)) {
    if (name.includes("quad")) separate("$$", sink);
    // "\left." and "\right." are invisible delimiters.
    return (name === "left" || name === "right") && text[end] === "." ? end + 1 : end;
  }
  if (!/^[A-Za-z]/.test(name)) {
    sink.space = true;
    return end;
  }
  if (SKIPPED_WITH_ARGUMENT.has(name)) return groupOf(text, end).end;
  if (TEXTS.has(name)) return inGroup(text, end, sink, (inner) => textTokens(inner, style, sink));
  if (UPRIGHTS.has(name)) return inGroup(text, end, sink, (inner) => upright(inner, style, sink));
  if (name === "mathbb")
    return inGroup(text, end, sink, (inner) => put(sink, "name", NUMBER_SETS[inner.trim()] ?? inner.trim()));
  if (name === "mathcal" || name === "mathfrak")
    return inGroup(text, end, sink, (inner) => put(sink, "name", inner.trim()));
  if (DECORATIONS.has(name)) return inGroup(text, end, sink, (inner) => decorated(name, inner, style, sink));
  if (name === "begin" || name === "end")
    return inGroup(text, end, sink, (inner) => environment(name, inner.trim(), sink));
  if (!named(name, sink)) put(sink, "op", `\\${name}`);
  return end;
}

const NOT_PAIRED = "a LaTeX environment is not closed by its own \\end";

/**
 * Reads \begin{…} or \end{…}. Environments that only align equations act as line breaks. Other environments become
 * tokens.
 */
function environment(edge: "begin" | "end", of: string, sink: Sink): void {
  if (!EQUATIONS.has(of)) return put(sink, "op", `\\${edge}:${of}`);
  if (edge === "begin") sink.environments.push(of);
  else if (sink.environments.pop() !== of) sink.problem ??= NOT_PAIRED;
  separate("\n", sink);
}

function named(name: string, sink: Sink): boolean {
  const operator = OPERATORS.get(name);
  const symbolName = SYMBOLS.get(name);
  const fn = FUNCTIONS.get(name);
  if (name === "times") cross(sink, 0);
  else if (operator !== undefined) put(sink, "op", operator);
  else if (symbolName !== undefined) put(sink, "name", symbolName);
  else if (fn !== undefined && name !== "sqrt" && name !== "binom") put(sink, "function", fn);
  else return false;
  return true;
}

/** Returns the content of the braces that follow, or the next character if there are no braces. */
function groupOf(text: string, from: number): { readonly inner: string; readonly end: number } {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  if (text[at] !== "{") return { inner: text.slice(at, at + 1), end: at + 1 };
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return { inner: text.slice(at + 1, i), end: i + 1 };
  }
  return { inner: text.slice(at + 1), end: text.length + 1 };
}

/** Maximum nesting depth of groups in braces. It bounds the time, because each level is searched for its end again. */
const GROUPS_MAX = 40;

function inGroup(text: string, from: number, sink: Sink, read: (inner: string) => void): number {
  const group = groupOf(text, from);
  if (++sink.depth > GROUPS_MAX) sink.problem ??= "it is nested too deep";
  else read(group.inner);
  sink.depth--;
  return group.end;
}

const SPACES = /~|\\[,;!: ]/g;
/** Matches upright letters that are a unit after a number: 12 \mathrm{~m} or 5 \mathrm{~m/s}. */
const UNIT_LETTER = new RegExp(`^(?:~|\\\\[,;!: ]|\\s)*[${UNIT_LETTERS}](?:\\s*\\/\\s*[A-Za-z]+)?$`);

function upright(inner: string, style: Style, sink: Sink): void {
  const letters = inner.trim();
  if (UNIT_LETTER.test(inner) && sink.tokens.at(-1)?.kind === "number")
    textTokens(inner.replaceAll(SPACES, " "), style, sink);
  else if (/^[A-Za-z]$/.test(letters)) put(sink, "name", letters);
  else lexInto(inner, style, sink);
}

/**
 * Reads a decorated text. "\vec{v}" and "\overline{AB}" become names. Bold text that cannot be a name is read as if it
 * were not bold.
 */
function decorated(command: string, inner: string, style: Style, sink: Sink): void {
  if (PLAIN_LOOKS.has(command) && /[^A-Za-z\s{}\\]/.test(inner)) return lexInto(inner, style, sink);
  const once = command === "overline" && inner.trim().startsWith("\\overline") ? inner.trim().slice(9) : "";
  const group = groupOf(once, 0);
  // Two overlines cancel: they mean the conjugate of a conjugate, or the complement of a complement.
  if (once !== "" && group.end === once.length) {
    put(sink, "op", "(");
    lexInto(group.inner, style, sink);
    return put(sink, "op", ")");
  }
  if (/^[\d\s.,{}]+$/.test(inner)) {
    sink.problem ??= `\\${command} over digits is not supported`;
    return;
  }
  put(sink, "name", decoratedName(command, inner));
}

/** Returns the offset after a LaTeX line break and its optional length, as in "\\\\[2pt]". */
function lineEnd(text: string, at: number): number {
  const [space = ""] = /^\[-?[\d.]{1,8}\s?[a-z]{2}\]/.exec(text.slice(at, at + 16)) ?? [];
  return at + space.length;
}
