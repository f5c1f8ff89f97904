/**
 * Compresses long texts before they are stored, e.g. the summary of a run with a thousand arms, whose names take 200
 * KB.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { FormatError } from "../curriculum/json.ts";

/** Minimum length, in characters, of a text that is compressed. Shorter texts stay readable for people. */
const LONG = 32 * 1024;
/** Prefix that marks a compressed text. No JSON text begins like this. */
const MARK = "deflated:";
/** Maximum length of an uncompressed text. No run's summary is so long. */
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
    throw new FormatError("a compressed text of the run is damaged");
  }
}
