/** Days of the year: May 3, 3rd of May 2024, 5月3日. */
import type { Node } from "../syntax.ts";

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Each may be cut to three letters, September to four. */
const MONTH =
  "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:(?<=jan)uary|(?<=feb)ruary|(?<=mar)ch|(?<=apr)il|(?<=jun)e|(?<=jul)y|(?<=aug)ust|(?<=sep)t(?:ember)?|(?<=oct)ober|(?<=nov|dec)ember)?\\.?";
const DAY = "(\\d{1,2})(?:st|nd|rd|th)?";
const YEAR = "(?:,? (\\d{4}))?";
const MONTH_FIRST = new RegExp(`^(?:on )?${MONTH} ${DAY}${YEAR}$`, "i");
const DAY_FIRST = new RegExp(`^(?:on )?(?:the )?${DAY}(?: of)? ${MONTH}${YEAR}$`, "i");
const CHINESE = /^(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]$/;

/** Longer texts say more than a day. */
const LENGTH_MAX = 64;

/** A day of a month; as words, for it has no value. */
export function dateOf(text: string): Node | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const bare = text.replace(/\\(?:text|mathrm|textrm|mbox)(?=\s*\{)|\\(?=[,;:! ])|[{}~]/g, " ");
  const written = bare.replace(/\s+/g, " ").replaceAll(" ,", ",").trim();
  const [, month = "", day = "", year = ""] = MONTH_FIRST.exec(written) ?? [];
  if (month !== "") return dated(MONTHS.indexOf(month.toLowerCase()) + 1, day, year);
  const [, dayFirst = "", second = "", yearBehind = ""] = DAY_FIRST.exec(written) ?? [];
  if (second !== "") return dated(MONTHS.indexOf(second.toLowerCase()) + 1, dayFirst, yearBehind);
  const [, yearBefore = "", numbered = "", last = ""] = CHINESE.exec(written) ?? [];
  return numbered === "" ? undefined : dated(Number(numbered), last, yearBefore);
}

function dated(month: number, day: string, year: string): Node | undefined {
  if (Number(day) < 1 || Number(day) > 31 || month > 12) return undefined;
  return { kind: "text", text: `day ${Number(day)} of ${MONTHS[month - 1]} ${year}`.trim() };
}
