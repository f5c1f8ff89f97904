/** Times of day: 4:30 p.m., 16:30, noon. */
import type { Node } from "../syntax.ts";

const MARKED =
  /^\s*(\d{1,2})(?::([0-5]\d))?[\s~\\]*(?:\\(?:text|mathrm|textrm|mbox)\s*\{)?[\s~\\]*([ap])\.?\s?m\.?\s*\}?\s*$/i;
const UNMARKED = /^\s*(\d{1,2}):([0-5]\d)\s*$/;
const WORDS = /^\s*(?:12(?::00)?\s+)?(?:\\text\s*\{\s*)?(noon|midnight)\s*\}?\s*$/i;

/** Longer texts say more than a time. */
const LENGTH_MAX = 64;

/** A time that is nothing else. */
export function clockOf(text: string): Node | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const word = WORDS.exec(text)?.[1]?.toLowerCase();
  if (word !== undefined) return { kind: "clock", minutes: word === "noon" ? 720 : 0, half: false };
  const [, hour = "", minute = "0", half = ""] = MARKED.exec(text) ?? [];
  if (half === "" || Number(hour) < 1 || Number(hour) > 12) return undefined;
  const after = half.toLowerCase() === "p" ? 12 : 0;
  return { kind: "clock", minutes: 60 * ((Number(hour) % 12) + after) + Number(minute), half: false };
}

/** "16:30", which is a ratio, too. Up to twelve it may be in either half of the day. */
export function clockLike(text: string): Node | undefined {
  const [, hour = "", minute = ""] = text.length > LENGTH_MAX ? [] : (UNMARKED.exec(text) ?? []);
  if (hour === "" || Number(hour) > 23) return undefined;
  const half = Number(hour) > 0 && Number(hour) <= 12 && !hour.startsWith("0");
  return { kind: "clock", minutes: 60 * Number(hour) + Number(minute), half };
}
