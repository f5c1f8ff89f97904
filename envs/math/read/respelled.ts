/** Replaces unusual spellings in a text before it is split into tokens. */
import { narrow } from "../../lib/text.ts";
import { UNITS } from "./unit-names.ts";

const r = String.raw;
const SPACE = r`(?:[\s~]|\\[,;:! ]){0,5}`;
const WORDS = r`\\(?:text|textrm|mathrm|operatorname)\s?\{[~\s]?[A-Za-z][A-Za-z~\s]{0,30}\}`;
const UNIT = r`(?:${WORDS}|[A-Za-z]{1,12})(?:\s?\^\s?\{?\s?\d\s?\}?)?`;
/** Matches a quotient of units: 72 \frac{km}{h} or \frac{72 km}{1 h}. */
const FRACTION = new RegExp(
  r`\\[dt]?frac\s?\{\s?([\d.,]{0,20})${SPACE}(${UNIT}(?:${SPACE}(?:·|\\cdot(?![a-z]))${SPACE}${UNIT}){0,2})\s?\}\s?\{(?:\s?1(?!\d))?${SPACE}(${UNIT})\s?\}`,
  "g",
);

/**
 * Rewrites a quotient of units such as \frac{km}{h} as "km / h". A quotient of single letters such as m/s stays,
 * because the letters may be variables.
 */
function unitFraction(written: string, number: string, top: string, bottom: string): string {
  const isUnit = (unit: string): boolean => unit.startsWith("\\") || UNITS.has(unit.replace(/\s?\^.*/, ""));
  const isTold = [top, bottom].every(isUnit) && [top, bottom].some((unit) => /^(?:\\|[A-Za-z]{2})/.test(unit));
  return isTold ? `${number} ${top} / ${bottom}` : written;
}

const CODES: Readonly<Record<string, string>> = {
  USD: "\\$",
  EUR: "€",
  GBP: "£",
  RMB: "¥",
  CNY: "¥",
  INR: "₹",
  Rs: "₹",
};
const MONEY = r`\\?[$€£¥₹]`;
const CODE = new RegExp(
  r`(?:\\text\s?\{\s?(USD|EUR|GBP|RMB|CNY|INR)\s?\}|(?<![A-Za-z\\])(USD|EUR|GBP|RMB|CNY|INR|Rs)\.?)${SPACE}(?:${MONEY})?(?=\s?-?\d)`,
  "g",
);
const AMERICAN = new RegExp(r`(?<![A-Za-z\\])U\.?S\.?\s?(?=\\?\$\s?\d)`, "g");

const PRIME = r`(?:['′’]|\^\s?\{?\s?\\prime\s?\}?)`;
const PRIMES = r`(?:["″”]|['′’]{2}|\^\s?\{?\s?\\prime\s?\\prime\s?\}?)`;
/**
 * Matches 5'3", which is feet and inches. After degrees the marks are minutes and seconds of an angle, and do not
 * match.
 */
const FEET = new RegExp(
  r`(?<![\d.]|(?:°|\\circ)\s?\}?\s?)(\d{1,4})\s?${PRIME}${SPACE}(\d{1,2}(?:\.\d{1,4})?)\s?${PRIMES}`,
  "g",
);

/** Matches the units mi and Pa after a number, where they are not products of variables. */
const TWO = new RegExp(r`(?<=\d${SPACE}(?:\\mathrm\s?\{~?)?)(?:(?<!\d)(mi|Pa)(?![A-Za-z])|(mi)(?=\s?\/))`, "g");
/** Matches a letter before another unit, e.g. g in "1.2 g/cm^3", where it is a unit and not a variable. */
const LETTER = new RegExp(
  r`(?<=\d${SPACE}(?:\\mathrm\s?\{~?)?)([gmsJNWL])(?=${SPACE}(?:[/*·]|\\cdot)?${SPACE}(?:cm|mm|dm|km|mg|kg|mL|ml|mol|min)(?![A-Za-z]))`,
  "g",
);

/** Matches min in "41 L min^{-1}", where it means minutes and not a minimum. */
const MINUTE = /(?<=\d.{0,20})(?<![A-Za-z\\{])min(?=\s?\^\s?\{?\s?-\s?\d)/g;
/** Matches the dot of "\text{kg·m/s}", which joins units. */
const DOT = /(?<=\\(?:text|mathrm)\s?\{[^{}]{0,20}[A-Za-z])·(?=[A-Za-z])/g;

/** Matches "256 (base 7)" or "256 \text{ in base 7}" as the whole text. */
const BASE =
  /^\s{0,8}([\dA-Z]{1,40})(?:\s|\\[,;:! ]){0,8}(?:\\text\s?\{\s{0,8})?\(?\s{0,8}(?:in )?base[\s}$]{0,8}(\d{1,2})[\s)}]{0,8}$/;

/** Matches a tilde before a number, where it means "about". Elsewhere it is a space in LaTeX. */
const HEDGE = /^\s*~(?=\d[^~]*$)/;
/** Matches the hyphen of "\mathrm{~N}-\mathrm{m}", which joins units and is not a minus sign. */
const HYPHEN = /(?<=\\(?:mathrm|text)\s?\{[~\s]?[A-Za-z]{1,12}\}\s?)-(?=\s?\\(?:mathrm|text)\s?\{[~\s]?[A-Za-z])/g;

/**
 * Matches the number or bullet before a line of a list. A hyphen before a digit does not match, because it may be a
 * minus sign.
 */
const ITEM = /^\s{0,8}(?:[-*•](?=\s{1,8}[^\d\s])|\d{1,2}[.)](?=\s))\s{1,8}/;

function withoutBullets(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  // The star before the first line may already have been stripped as a mark of bold text.
  const isList =
    lines.length > 1 && lines.every((line, i) => ITEM.test(line) || (i === 0 && /^\s*\*/m.test(lines[1] as string)));
  return isList ? lines.map((line) => line.replace(ITEM, "")).join("\n") : text;
}

/** Returns the text in ordinary characters and spellings: １２（ becomes 12(, 𝑥 becomes x, and USD 5 becomes \$5. */
export function respelled(text: string): string {
  return withoutBullets(text)
    .replace(/[\u{1d400}-\u{1d7ff}﹣]/gu, (letter) => letter.normalize("NFKC"))
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(narrow(wide.charCodeAt(0))))
    .replace(/(?:\d\u0305)+/g, (digits) => `\\overline{${digits.replaceAll("\u0305", "")}}`)
    .replace(/(\d)\u0307/g, "\\dot{$1}")
    .replace(HEDGE, "≈")
    .replace(BASE, "$1_{$2}")
    .replace(FRACTION, unitFraction)
    .replace(HYPHEN, " ")
    .replace(/\\textcircled\s?\{\s?(1?\d|20)\s?\}/g, (written, of: string) =>
      of === "0" ? written : String.fromCharCode(0x245f + Number(of)),
    )
    .replace(CODE, (_, one?: string, other?: string) => CODES[one ?? other ?? ""] ?? "")
    .replace(AMERICAN, "")
    .replace(FEET, "$1 ft $2 in")
    .replace(DOT, " ")
    .replace(TWO, "\\text{$1$2}")
    .replace(LETTER, "\\text{$1}")
    .replace(MINUTE, "\\text{min}");
}
