/**
 * Reads answers that are a time of day, a date, or a quotient with a remainder. The whole text must match, before it is
 * split into tokens.
 */
import type { Node } from "../syntax.ts";

/** Maximum length of a time or date, in characters. */
const LENGTH_MAX = 64;
/** Maximum length of a quotient with a remainder, in characters. */
const REMAINDER_LENGTH_MAX = 120;

/** Returns the text without LaTeX commands that only change the look. */
function bare(text: string): string {
  const apart = text.replace(/\\(?:text|mathrm|textrm|mbox)(?=\s*\{)|\\(?=[,;:! ])|[{}~]/g, " ");
  return apart.replace(/\s+/g, " ");
}

// Functions that read times of day: 4:30 p.m., 16:30, noon.

const MARKED =
  /^\s*(\d{1,2})(?::([0-5]\d))?[\s~\\,;:!]*(?:\\(?:text|mathrm|textrm|mbox)\s*\{)?[\s~\\]*([ap])\.?\s?m\.?\s*\}?\s*$/i;
const UNMARKED = /^\s*(\d{1,2}):([0-5]\d)(?::([0-5]\d))?\s*$/;
const WORDS = /^\s*(?:12(?::00)?\s+)?(?:\\text\s*\{\s*)?(noon|midnight)\s*\}?\s*$/i;

/** Reads a time that cannot mean anything else, e.g. "4:30 p.m." or "noon". Returns undefined for other texts. */
export function clockOf(text: string): Node | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const word = WORDS.exec(text)?.[1]?.toLowerCase();
  if (word !== undefined) return { kind: "clock", minutes: word === "noon" ? 720 : 0, half: false };
  const [, hour = "", minute = "0", half = ""] = MARKED.exec(text) ?? [];
  if (half === "" || Number(hour) < 1 || Number(hour) > 12) return undefined;
  const after = half.toLowerCase() === "p" ? 12 : 0;
  return { kind: "clock", minutes: 60 * ((Number(hour) % 12) + after) + Number(minute), half: false };
}

/**
 * Reads a text such as "16:30" or "16:30:15", which may also be a ratio. For hours from 1 to 12, the result leaves open
 * whether the time is before or after noon.
 */
export function clockLike(text: string): Node | undefined {
  const [, hour = "", minute = "", second = "0"] = text.length > LENGTH_MAX ? [] : (UNMARKED.exec(text) ?? []);
  if (hour === "" || Number(hour) > 23) return undefined;
  const half = Number(hour) > 0 && Number(hour) <= 12 && !hour.startsWith("0");
  return { kind: "clock", minutes: 60 * Number(hour) + Number(minute) + Number(second) / 60, half };
}

// Functions that read dates: May 3, 3rd of May 2024, 5月3日. Months may be abbreviated to three letters, September to
// four.

const MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
const MONTH = `(?<month>${MONTHS})(?:(?<=jan)uary|(?<=feb)ruary|(?<=mar)ch|(?<=apr)il|(?<=jun)e|(?<=jul)y|(?<=aug)ust|(?<=sep)t(?:ember)?|(?<=oct)ober|(?<=nov|dec)ember)?\\.?`;
const DAY = "(?<day>\\d{1,2})(?:st|nd|rd|th)?";
const YEAR = "(?:,? (?<year>\\d{4}))?";
const DATES = [
  new RegExp(`^(?:on )?${MONTH} ${DAY}${YEAR}$`, "i"),
  new RegExp(`^(?:on )?(?:the )?${DAY}(?: of)? ${MONTH}${YEAR}$`, "i"),
  /^(?:(?<year>\d{4})年)?(?<number>\d{1,2})月(?<day>\d{1,2})[日号]$/,
  /^(?<year>\d{4})-(?<number>0[1-9]|1[0-2])-(?<day>\d{2})$/,
];
/**
 * Matches 5/3/2024. The order of day and month is unknown, so such a date equals only a date with the same digits. It
 * is not a fraction.
 */
const NUMBERED = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;

/** Reads a date. Returns it as words, because a date has no numeric value. Returns undefined for other texts. */
export function dateOf(text: string): Node | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const written = bare(text).replaceAll(" ,", ",").trim();
  const [, first = "", second = "", of = ""] = NUMBERED.exec(written) ?? [];
  const [less, more] = [Number(first), Number(second)].sort((a, b) => a - b) as [number, number];
  if (less >= 1 && less <= 12 && more <= 31)
    return { kind: "text", text: `the day ${Number(first)}/${Number(second)}/${of}` };
  const found = DATES.map((form) => form.exec(written)?.groups).find((groups) => groups !== undefined);
  if (found === undefined) return undefined;
  const months = MONTHS.split("|");
  const month = found["month"]?.toLowerCase() ?? months[Number(found["number"]) - 1] ?? "";
  const day = Number(found["day"]);
  if (day < 1 || day > 31 || Number(found["number"] ?? 1) > 12) return undefined;
  return { kind: "text", text: `day ${day} of ${month} ${found["year"] ?? ""}`.trim() };
}

// Functions that read quotients with a remainder: 5 R 2, 5 remainder 2, 5……2.

const SIGN = "[Rr]|remainder|rem\\.?|with (?:a )?remainder(?: of)?|余|(?:…|\\.{3}|\\\\[lc]?dots ?){2}";
const REMAINDER = new RegExp(`^(\\d{1,30}) ?(?:${SIGN}) ?(\\d{1,30})$`);

/**
 * Reads a quotient with a remainder, "5 R 2", as words, because it is not a product and equals no other value. Returns
 * undefined for other texts.
 */
export function remainderOf(text: string): Node | undefined {
  if (text.length > REMAINDER_LENGTH_MAX) return undefined;
  const [, quotient, rest] = REMAINDER.exec(bare(text).trim()) ?? [];
  return quotient === undefined ? undefined : { kind: "text", text: `${quotient} remainder ${rest}` };
}
