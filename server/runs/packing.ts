/** Compresses long texts that are stored. The summary of a run of a thousand arms has 200 KB of names. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { FormatError } from "../curriculum/json.ts";

/** Minimum length, in characters, of a text that is compressed. People can read shorter ones. */
const LONG = 32 * 1024;
/** Prefix of a compressed text. JSON never begins like this. */
const MARK = "deflated:";
/** Maximum length of an expanded text, above that of any run. */
const UNPACKED_MAX = 16 * 2 ** 20;

export function packed(text: string): string {
  return text.length < LONG ? text : MARK + deflateRawSync(text, { level: 1 }).toString("base64");
}

export function unpacked(text: string): string {
  if (!text.startsWith(MARK)) return text;
  try {
    const bytes = Buffer.from(text.slice(MARK.length), "base64");
    return inflateRawSync(bytes, { maxOutputLength: UNPACKED_MAX }).toString();
  } catch {
    throw new FormatError("a compressed text is damaged");
  }
}
