/** Parses directions in the spellings that people and models use, and formats directions. */
import { malformed, type Parsed } from "../../facts.ts";
import { ARROWS, type NumberReader, parseList } from "../../lib/parse-lists.ts";
import { DIRECTIONS } from "./maze.ts";

/** Directions by name, by first letter, and by arrow key ("up", "right", "down", "left"). */
const WORDS: ReadonlyMap<string, number> = new Map(
  ["n,north,up", "e,east,right", "s,south,down", "w,west,left"].flatMap((words, direction) =>
    words.split(",").map((word) => [word, direction] as const),
  ),
);

/** Returns the direction that a word names. Undefined: it names none. */
export function directionOf(word: string): number | undefined {
  return WORDS.get(word.toLowerCase());
}

const takeDirection: NumberReader = (text, cursor) => {
  // Six letters suffice to tell a word that is too long, because no direction has more than five.
  const [word = ""] = /^[a-z]+/i.exec(text.slice(cursor.at, cursor.at + 6)) ?? [];
  cursor.at += word.length;
  return directionOf(word) ?? NaN;
};

/** Matches up to 1,000 words, the most that a list may hold, with one space between them and nothing else. */
const PLAIN = /^[a-z]+(?: [a-z]+){0,999}$/i;

/** Arrows and dashes, as in "north -> east". No direction is negative, so any dash separates. */
const SEPARATORS = new RegExp(`${ARROWS.source}|-`, "y");

/** Parses directions: one word, several words with spaces, commas or arrows between them, or a list of words. */
export function parseMoves(text: string): Parsed<readonly number[]> {
  const trimmed = text.trim();
  const parsed = parseList(PLAIN.test(trimmed) ? `[${trimmed.replaceAll(" ", ",")}]` : text, takeDirection, SEPARATORS);
  return parsed.kind === "answer" ? parsed : malformed("it is not a list of directions");
}

export function formatMoves(moves: readonly number[]): string {
  return `[${moves.map((direction) => DIRECTIONS[direction] ?? "nowhere").join(", ")}]`;
}
