/**
 * Texts that LiveCodeBench keeps as base64 of zlib of a pickle. A pickle is a program that builds a value, and loading one
 * runs whatever it says; here the few opcodes are read that make one text (Lib/pickletools.py), and any other is refused.
 */
import { constants, inflateSync } from "node:zlib";

export type Unpacked =
  { readonly kind: "text"; readonly text: string } | { readonly kind: "refused"; readonly why: string };

const BASE64 = /^[A-Za-z0-9+/\s]+=*\s*$/;

/** Never throws, and never makes more than so many bytes. */
export function unpackText(packed: string, bytesMax: number): Unpacked {
  if (!BASE64.test(packed)) return refused("neither JSON nor base64");
  const pickle = inflate(Buffer.from(packed, "base64"), bytesMax);
  if (typeof pickle === "string") return refused(pickle);
  const bytes = textIn(pickle);
  if (bytes === undefined) return refused("a pickle of something else than a text, which is never loaded");
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return refused("a text that is not UTF-8");
  }
}

function refused(why: string): Unpacked {
  return { kind: "refused", why };
}

/** A string: what is wrong. */
function inflate(bytes: Buffer, bytesMax: number): Buffer | string {
  try {
    return inflateSync(bytes, { maxOutputLength: bytesMax, finishFlush: constants.Z_FINISH });
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return isLarge ? `more than ${bytesMax} bytes when it is unpacked` : "base64 of something that zlib did not pack";
  }
}

const STOP = 0x2e;
/** Opcodes that change nothing of one text: the protocol, frames, what is remembered. With the bytes of their argument. */
const IDLE: Readonly<Record<number, number>> = { 0x80: 1, 0x95: 8, 0x94: 0, 0x71: 1, 0x72: 4 };
/** SHORT_BINUNICODE, BINUNICODE and BINUNICODE8, with the bytes of their length. */
const TEXTS: Readonly<Record<number, number>> = { 0x8c: 1, 0x58: 4, 0x8d: 8 };

/** The bytes of the text that a pickle holds and nothing else; undefined: it does not. */
function textIn(pickle: Buffer): Buffer | undefined {
  let text: Buffer | undefined;
  for (let at = 0; at < pickle.length;) {
    const opcode = pickle[at++] as number;
    const [idle, size] = [IDLE[opcode], TEXTS[opcode]];
    if (opcode === STOP) return at === pickle.length ? text : undefined;
    if (idle !== undefined) at += idle;
    else {
      if (size === undefined || text !== undefined || at + size > pickle.length) return undefined;
      // The higher half of eight bytes is of lengths that no buffer has.
      if (size === 8 && pickle.readUInt32LE(at + 4) !== 0) return undefined;
      const length = pickle.readUIntLE(at, Math.min(4, size));
      text = pickle.subarray(at + size, at + size + length);
      if (text.length !== length) return undefined;
      at += size + length;
    }
  }
  return undefined;
}
