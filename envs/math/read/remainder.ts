/** What a division leaves: 5 R 2, 5 remainder 2, 5……2. */
import type { Node } from "../syntax.ts";

const SIGN = "R|remainder|rem\\.?|with (?:a )?remainder(?: of)?|余|(?:…|\\.{3}|\\\\[lc]?dots ?){2}";
const REMAINDER = new RegExp(`^(\\d{1,30}) ?(?:${SIGN}) ?(\\d{1,30})$`);

/** Longer texts say more. */
const LENGTH_MAX = 120;

/** As words: that "5 R 2" is no product, and has no value that is another's. */
export function remainderOf(text: string): Node | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const bare = text.replace(/\\(?:text|mathrm|textrm|mbox)(?=\s*\{)|\\(?=[,;:! ])|[{}~]/g, " ");
  const [, quotient, rest] = REMAINDER.exec(bare.replace(/\s+/g, " ").trim()) ?? [];
  return quotient === undefined ? undefined : { kind: "text", text: `${quotient} remainder ${rest}` };
}
