/**
 * Keyed hashes of what is kept, so that what was changed in the file, by a flipped bit or by hand, is told and not believed.
 * An event's is over itself and its predecessor's, so that none can be left out, doubled or moved. What is believed without
 * reading the journal, and the run's own version, have one over the event that they were written at.
 */
import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { makeFile } from "./folder.ts";

export const KEY_BYTES = 32;
/** 128 bits of an HMAC-SHA256. */
const HASH_BYTES = 16;

/** What a hash is of: the kind of row, and where it stands, so that one that was copied or moved does not fit. */
export type Place = readonly (string | number)[];

/** An event or a snapshot, or a text that is kept beside them. */
type Body = string | Uint8Array;

/** Before the first event. */
export const START = Buffer.alloc(0);

export interface Chain {
  hash(place: Place, before: Uint8Array, body: Body): Buffer;
  /** Whether a row is as it was written. Of a damaged page SQLite may give a number where a body was. */
  fits(hash: unknown, place: Place, before: unknown, body: unknown): boolean;
}

export function chainOf(secret: Buffer): Chain {
  const key = createSecretKey(secret);
  const hash: Chain["hash"] = (place, before, body) => {
    const mac = createHmac("sha256", key)
      .update(`${JSON.stringify(place)}\n`)
      .update(before)
      .update(body);
    return mac.digest().subarray(0, HASH_BYTES);
  };
  return {
    hash,
    fits: (found, place, before, body) =>
      found instanceof Uint8Array &&
      before instanceof Uint8Array &&
      (typeof body === "string" || body instanceof Uint8Array) &&
      hash(place, before, body).equals(found),
  };
}

/**
 * With the key of a folder, in a file beside those that it is for: it is made with the first of them. A file that was changed is
 * told from one that Gradus wrote only while the key is no part of it.
 */
export function chainIn(path: string, isNew: () => boolean): Chain {
  if (!existsSync(path)) {
    if (!isNew())
      throw new Error(`${path} is missing, without which no run can be told from one that was changed: put it back`);
    const key = randomBytes(KEY_BYTES).toString("hex");
    makeFile(path, `# Gradus: what the events of runs.sqlite are hashed with, hex. Keep it with that file.\n${key}\n`);
  }
  const [key = ""] = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (!/^[0-9a-f]{64}$/.test(key))
    throw new Error(`${path} does not hold a key of 64 hex digits: put back the one it held`);
  return chainOf(Buffer.from(key, "hex"));
}
