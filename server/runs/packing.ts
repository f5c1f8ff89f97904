/** Long texts as short ones, for what is kept as text: of a run of a thousand arms a summary is 200 KB of names. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { FormatError } from "../curriculum/json.ts";

/** Shorter ones stay as they are, and can be read by people. */
const LONG = 32 * 1024;
/** Begins a text that is packed; JSON never begins like this. */
const MARK = "deflated:";
/** Above what any run's is. */
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
    throw new FormatError("a text that was packed cannot be unpacked");
  }
}
