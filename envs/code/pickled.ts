/**
 * Unpacks texts that LiveCodeBench stores as base64 of a zlib-compressed pickle. Loading a pickle may run any code.
 * This reader therefore accepts only the few opcodes that make up a single text (Lib/pickletools.py), and refuses all
 * others.
 */
import { constants, inflateSync } from "node:zlib";

export type Unpacked =
  { readonly kind: "text"; readonly text: string } | { readonly kind: "refused"; readonly why: string };

const BASE64 = /^[A-Za-z0-9+/\s]+=*\s*$/;

/**
 * Unpacks a text from base64 of a zlib-compressed pickle. Never throws, and never decompresses more than `bytesMax`
 * bytes.
 */
export function unpackText(packed: string, bytesMax: number): Unpacked {
  if (!BASE64.test(packed)) return refused("neither JSON nor base64");
  const pickle = inflate(Buffer.from(packed, "base64"), bytesMax);
  if (typeof pickle === "string") return refused(pickle);
  const bytes = textIn(pickle);
  if (bytes === undefined) return refused("a pickle of something other than a text, which is never loaded");
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return refused("a text that is not UTF-8");
  }
}

function refused(why: string): Unpacked {
  return { kind: "refused", why };
}

/** Returns the decompressed bytes, or an error message. */
function inflate(bytes: Buffer, bytesMax: number): Buffer | string {
  try {
    return inflateSync(bytes, { maxOutputLength: bytesMax, finishFlush: constants.Z_FINISH });
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return isLarge ? `more than ${bytesMax} bytes when it is unpacked` : "base64 of data that zlib did not compress";
  }
}

const STOP = 0x2e;
/** Pickle opcodes that do not affect the text (protocol, frames, memos), with the size of their argument in bytes. */
const IDLE: Readonly<Record<number, number>> = { 0x80: 1, 0x95: 8, 0x94: 0, 0x71: 1, 0x72: 4 };
/**
 * Pickle opcodes of a text (SHORT_BINUNICODE, BINUNICODE, BINUNICODE8), with the size of their length field in bytes.
 */
const TEXTS: Readonly<Record<number, number>> = { 0x8c: 1, 0x58: 4, 0x8d: 8 };

/** Returns the bytes of the text, if the pickle holds one text and nothing else. Undefined otherwise. */
function textIn(pickle: Buffer): Buffer | undefined {
  let text: Buffer | undefined;
  for (let at = 0; at < pickle.length;) {
    const opcode = pickle[at++] as number;
    const [idle, size] = [IDLE[opcode], TEXTS[opcode]];
    if (opcode === STOP) return at === pickle.length ? text : undefined;
    if (idle !== undefined) at += idle;
    else {
      if (size === undefined || text !== undefined || at + size > pickle.length) return undefined;
      // A length field of eight bytes whose upper four are not 0 exceeds any buffer.
      if (size === 8 && pickle.readUInt32LE(at + 4) !== 0) return undefined;
      const length = pickle.readUIntLE(at, Math.min(4, size));
      text = pickle.subarray(at + size, at + size + length);
      if (text.length !== length) return undefined;
      at += size + length;
    }
  }
  return undefined;
}
