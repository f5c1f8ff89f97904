/**
 * Corrects the tokens of an answer in view of their neighbours: "min" becomes a unit, "at + b" a product, and a cross
 * product of vectors one name.
 */
import { joinedParts } from "./measures.ts";
import { PRODUCT_WORDS } from "./letters.ts";
import type { Token } from "./tokens.ts";

export function correctedTokens(tokens: readonly Token[]): readonly Token[] {
  return crossed(joinedParts(tokens.flatMap(congruent).map(corrected)).flatMap(unglued));
}

const CONGRUENT: readonly string[] = ["is", "congruent", "to"];

/** Rewrites "x is congruent to 6" as x ≡ 6. */
function congruent(token: Token, at: number, tokens: readonly Token[]): readonly Token[] {
  const place = token.kind === "word" ? CONGRUENT.indexOf(token.text) : -1;
  const said = tokens[at + 1 - place];
  if (place < 0 || said?.kind !== "word" || said.text !== "congruent") return [token];
  return place === 1 ? [{ ...token, kind: "op", text: "≡" }] : [];
}

const CALLED: ReadonlySet<string> = new Set(["min", "max", "gcd", "lcm", "cis"]);

/** Signs and words that may follow a unit, but not the name of a function. */
const BEHIND_UNITS: ReadonlySet<string> = new Set([...",;.)]}=≈/", "\\}", "\\\\", "and", "or"]);

/**
 * Corrects one token. "min" and "sec" without an argument become units. "lcm" inside \text{} becomes a function if
 * brackets follow.
 */
function corrected(token: Token, at: number, tokens: readonly Token[]): Token {
  const [before, next] = [tokens[at - 1], tokens[at + 1]];
  const sign = next?.kind === "op" ? next.text : "";
  const isBehind = before?.kind === "number" || (before?.kind === "op" && "/})".includes(before.text));
  if (token.kind === "function" && (token.text === "min" || token.text === "sec") && isBehind)
    return next === undefined || BEHIND_UNITS.has(sign) ? { ...token, kind: "word" } : token;
  // A capital U between two intervals is a union sign: "(-∞, 2) U (3, ∞)".
  const isUnion = before?.kind === "op" && ")]".includes(before.text) && "([".includes(sign || "-");
  if (token.kind === "name" && token.text === "U" && isUnion) return { ...token, kind: "op", text: "∪" };
  // An x between two numbers, with spaces, is a multiplication sign: "1.5 x 10^3".
  if (token.kind === "name" && token.text === "x" && token.space && before?.kind === "number")
    return next?.kind === "number" && next.space ? { ...token, kind: "op", text: "*" } : token;
  const isCalled = token.kind === "word" && CALLED.has(token.text) && ["(", "{", "\\{", "["].includes(sign);
  const isAngle = token.kind === "word" && token.text === "cis" && next !== undefined;
  return isCalled || isAngle ? { ...token, kind: "function" } : token;
}

const SUMS = "+-*/^";

/** Splits a word such as "at" in "at + b" into a product of letters, if an operator touches it. */
function unglued(token: Token, at: number, tokens: readonly Token[]): readonly Token[] {
  if (token.kind !== "word" || !PRODUCT_WORDS.has(token.text)) return [token];
  const [before, next] = [tokens[at - 1], tokens[at + 1]];
  const isClose =
    (next?.kind === "op" && SUMS.includes(next.text) && !next.space) ||
    (before?.kind === "op" && SUMS.includes(before.text) && !token.space);
  if (!isClose) return [token];
  return Array.from(token.text, (text, i): Token => ({ kind: "name", text, space: i === 0 && token.space }));
}

const isVector = (token: Token | undefined): boolean => token?.kind === "name" && token.text.startsWith("⃗");

/** Joins a cross product of vectors into one name, because its factors do not commute. */
function crossed(tokens: readonly Token[]): readonly Token[] {
  const found: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const [before, token, next] = [found.at(-1), tokens[at] as Token, tokens[at + 1]];
    const isCross = token.kind === "op" && token.run === "×" && isVector(before) && isVector(next);
    if (isCross && before?.kind === "name" && next?.kind === "name") {
      found[found.length - 1] = { ...before, text: `${before.text}×${next.text}` };
      at++;
    } else found.push(token);
  }
  return found;
}
