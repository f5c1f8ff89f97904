/** Keys that authenticate task ids, and the file or store that holds them. */
import { createHash, hash, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, type Stats, unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { readOwnedFile } from "../runtime/files.ts";
import { makeFile } from "../stores/folder.ts";

interface SigningKey {
  /** First 4 bytes of the SHA-256 of the secret. It identifies a key without revealing it. */
  readonly id: Buffer;
  /** Secret of 32 bytes. */
  readonly secret: Buffer;
  /**
   * Start of the input of HMAC's inner hash, for each purpose of signed bytes: the secret xored with 0x36, then a
   * prefix that names the purpose. The payload follows.
   */
  readonly inner: Readonly<Record<Purpose, Buffer>>;
  /** Start of the input of HMAC's outer hash: the secret xored with 0x5c. The digest of the inner hash follows. */
  readonly outer: Buffer;
}

/** Keys of a server. The first one signs new task ids, and ids signed with any of them are accepted. Never empty. */
export type Keyring = readonly [SigningKey, ...SigningKey[]];

export const SECRET_BYTES = 32;
const KEY_ID_BYTES = 4;

export type KeyringResult =
  | {
      readonly kind: "ok";
      readonly keyring: Keyring;
      readonly created: boolean;
      /** Warning for the operator, e.g. that other users can read the key file. The keys can be used nevertheless. */
      readonly warning?: string | undefined;
    }
  | { readonly kind: "invalid"; readonly message: string };

export function signingKey(secret: Buffer): SigningKey {
  const id = createHash("sha256").update(secret).digest().subarray(0, KEY_ID_BYTES);
  const inner = blockOf(secret, 0x36);
  return {
    id,
    secret,
    inner: {
      task: Buffer.concat([inner, Buffer.from("gradus/task/1:")]),
      run: Buffer.concat([inner, Buffer.from("gradus/run/1:")]),
    },
    outer: blockOf(secret, 0x5c),
  };
}

/** Size of a block of SHA-256, in bytes. */
const BLOCK_BYTES = 64;

/** Returns a secret padded with zeros to one SHA-256 block, with each byte xored with `xored`, as HMAC needs it. */
function blockOf(secret: Buffer, xored: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: BLOCK_BYTES }, (_, i) => (secret[i] ?? 0) ^ xored));
}

/** Location of the keys that sign task ids: the file that --key-file names, or else a file in the data directory. */
export interface KeyPlace {
  readonly keyFile: string | undefined;
  readonly dataDir: string;
}

export function keyFileOf({ keyFile, dataDir }: KeyPlace): string {
  return keyFile ?? join(dataDir, "task-keys");
}

/** Parses keys, one per line as 64 hex digits. Empty lines and lines that begin with # are skipped. */
export function parseKeyring(text: string): KeyringResult {
  const lines = text.split("\n").map((line) => line.trim());
  const secrets = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const bad = secrets.findIndex((line) => !/^[0-9a-f]{64}$/i.test(line));
  if (bad >= 0) return { kind: "invalid", message: `key ${bad + 1} is not 64 hex digits` };
  const empty = secrets.findIndex((line) => /^0+$/.test(line));
  if (empty >= 0) return { kind: "invalid", message: `key ${empty + 1} is all zeros, which is no secret` };
  const [first, ...others] = secrets.map((line) => signingKey(Buffer.from(line, "hex")));
  if (first === undefined) return { kind: "invalid", message: "it contains no key" };
  return { kind: "ok", keyring: [first, ...others], created: false };
}

/** Mode bits that let a file's group or all users read it. */
const OTHERS_MAY_READ = 0o044;

/**
 * Reads the key file. If the default file in the data directory is missing, it is created with one new key and mode
 * 0600. A file that the operator named must exist: a server with a newly made key would refuse all task ids that the
 * right key signed.
 */
export function loadKeyring(place: KeyPlace): KeyringResult {
  const { keyFile } = place;
  const file = keyFileOf(place);
  // The message names the key file, because Node's error may name no file or a temporary one.
  const invalid = ({ message }: { readonly message: string }): KeyringResult => {
    const others = keyFile === undefined ? "--data-dir or --key-file" : "--key-file";
    return { kind: "invalid", message: `key file ${file}: ${message}; repair it, or give another ${others}` };
  };
  try {
    const created = keyFile === undefined && !existsSync(file) && makeFile(file, newKeyFile());
    const { text, mode } = readOwnedFile(file);
    const parsed = parseKeyring(text);
    if (parsed.kind === "invalid") return invalid(parsed);
    // If other users can read the key file, the server only warns, because orchestrators such as Kubernetes often mount
    // secrets with mode 0644.
    const shown = `0${mode.toString(8)}`;
    const warning = `others can read the key file ${file} (its mode is ${shown}), and with its keys make task ids: chmod 600 ${file}`;
    return { ...parsed, created, warning: (mode & OTHERS_MAY_READ) === 0 ? undefined : warning };
  } catch (error) {
    return invalid(error as Error);
  }
}

/** Returns the text of a key file with one new key. */
export function newKeyFile(): string {
  const key = randomBytes(SECRET_BYTES).toString("hex");
  return `# Gradus task keys, hex. The first signs, all are accepted. Keep it secret.\n${key}\n`;
}

/** Interval between two checks whether the keys in the key file or in the store have changed, in milliseconds. */
const KEYS_POLL_MS = 1_000;
/**
 * Delay between reading a new key and signing task ids with it, in milliseconds. By then every server that shares the
 * keys has read the new key.
 */
const KEYS_SETTLE_MS = 5_000;

/** Replaces the content of a keyring, so that everything that holds the keyring sees the new keys. */
export function replaceKeys(keyring: Keyring, keys: Keyring): void {
  (keyring as [SigningKey, ...SigningKey[]]).splice(0, keyring.length, ...keys);
}

/**
 * Returns functions that update a keyring in place. Ids signed with a new key are accepted at once, but the key signs
 * only `settleMs` later, when every server that shares the keys has read it. If the key that signs was removed, the new
 * keys replace the old ones at once.
 */
function keeper(keyring: Keyring, tell: (result: KeyringResult) => void, settleMs: number) {
  let settling: NodeJS.Timeout | undefined;
  return {
    take: (result: KeyringResult): void => {
      tell(result);
      if (result.kind === "invalid") return;
      clearTimeout(settling);
      const signing = result.keyring.find(({ id }) => id.equals(keyring[0].id));
      if (signing === undefined) return replaceKeys(keyring, result.keyring);
      replaceKeys(keyring, [signing, ...result.keyring.filter((key) => key !== signing)]);
      settling = setTimeout(replaceKeys, settleMs, keyring, result.keyring).unref();
    },
    end: (): void => clearTimeout(settling),
  };
}

function isSameKeyring(one: Keyring, other: Keyring): boolean {
  return one.length === other.length && one.every(({ id }, i) => other[i]?.id.equals(id));
}

/** Updates a keyring whenever its file changes. The returned function stops that. */
export function followKeyring(
  place: KeyPlace,
  keyring: Keyring,
  tell: (result: KeyringResult) => void,
  { pollMs = KEYS_POLL_MS, settleMs = KEYS_SETTLE_MS } = {},
): () => void {
  const file = keyFileOf(place);
  const { take, end } = keeper(keyring, tell, settleMs);
  const read = (): KeyringResult => loadKeyring({ ...place, keyFile: file });
  const look = (now: Stats, before: Stats): void => {
    if (now.mtimeMs === before.mtimeMs && now.ino === before.ino) return;
    clearTimeout(first);
    take(read());
  };
  watchFile(file, { interval: pollMs, persistent: false }, look);
  // Reads the file once more, because it may have changed before the watch began, e.g. while the server loaded its
  // pools.
  const first = setTimeout(() => {
    const found = read();
    const isAsItWas = found.kind === "ok" && isSameKeyring(found.keyring, keyring);
    if (!isAsItWas) take(found);
  }, pollMs).unref();
  return () => {
    unwatchFile(file, look);
    clearTimeout(first);
    end();
  };
}

/**
 * Updates a keyring whenever the keys in a store change. `read` returns their text, in the form of a key file, or
 * undefined if the store cannot be reached. The returned function stops the updates.
 */
export function followStoredKeys(
  { text, read }: { readonly text: string; readonly read: () => Promise<string | undefined> },
  keyring: Keyring,
  tell: (result: KeyringResult) => void,
  { pollMs = KEYS_POLL_MS, settleMs = KEYS_SETTLE_MS } = {},
): () => void {
  const { take, end } = keeper(keyring, tell, settleMs);
  let [known, reading, reported] = [text, false, ""];
  const failed = (error: unknown): undefined => {
    const { message } = error as Error;
    if (message !== reported) tell({ kind: "invalid", message: (reported = message) });
  };
  const look = async (): Promise<void> => {
    if (reading) return;
    reading = true;
    const now = await read().catch(failed);
    reading = false;
    if (now === undefined || now === known) return;
    known = now;
    take(parseKeyring(now));
  };
  const timer = setInterval(() => void look(), pollMs).unref();
  return () => {
    clearInterval(timer);
    end();
  };
}

// Functions that sign bytes, such as task ids, and verify them later. Clients carry the signed bytes and cannot forge
// them. They consist of a version, the key's id, an authentication code (MAC) and the payload.

const VERSION = 1;
const KEY_ID_END = 5;
/** Length of a MAC in bytes: the first 128 bits of an HMAC-SHA256. */
const MAC_BYTES = 16;
const HEADER_BYTES = KEY_ID_END + MAC_BYTES;

export type OpenResult =
  | { readonly kind: "ok"; readonly payload: Uint8Array; readonly mac: Uint8Array }
  | { readonly kind: "invalid"; readonly detail: string };

/**
 * Purpose of signed bytes: a task id ("task") or a run's exported state ("run"). The MAC covers the purpose, so that
 * bytes signed for one purpose are refused for the other.
 */
export type Purpose = "task" | "run";

/**
 * Returns an HMAC-SHA256 (RFC 2104) of a payload, cut to MAC_BYTES. Two calls of `hash` take less time than
 * `createHmac`, and leave no OpenSSL object for the garbage collector to finalise. Digests are hexadecimal texts,
 * because a digest as a buffer takes five times as long.
 */
function macOf({ inner, outer }: SigningKey, purpose: Purpose, payload: Uint8Array): Buffer {
  const digest = hash("sha256", joined(inner[purpose], payload), "hex");
  outer.copy(outerBlocks);
  outerBlocks.write(digest, BLOCK_BYTES, "hex");
  return Buffer.from(hash("sha256", outerBlocks, "hex").slice(0, 2 * MAC_BYTES), "hex");
}

/** Buffer for the input of HMAC's outer hash: the padded secret and the inner digest. It is reused. */
const outerBlocks = Buffer.alloc(BLOCK_BYTES + 32);

/**
 * Buffer for the bytes of short payloads that are hashed. It is reused, because new buffers for a thousand long task
 * ids would burden the garbage collector.
 */
const scratch = Buffer.allocUnsafeSlow(8192);

/** Joins two byte strings. The result may lie in a reused buffer, so it is valid only until the next call. */
function joined(start: Buffer, end: Uint8Array): Buffer {
  const length = start.length + end.length;
  if (length > scratch.length) return Buffer.concat([start, end]);
  start.copy(scratch);
  scratch.set(end, start.length);
  return scratch.subarray(0, length);
}

export function seal(keyring: Keyring, purpose: Purpose, payload: Uint8Array): Buffer {
  const [key] = keyring;
  return Buffer.concat([Buffer.from([VERSION]), key.id, macOf(key, purpose, payload), payload]);
}

/**
 * Verifies bytes that `seal` signed, and returns their payload. Bytes that were changed, or signed with another key or
 * for another purpose, are refused with a reason.
 */
export function open(keyring: Keyring, purpose: Purpose, bytes: Uint8Array): OpenResult {
  if (bytes.length <= HEADER_BYTES) return { kind: "invalid", detail: "it is too short" };
  if (bytes[0] !== VERSION) return { kind: "invalid", detail: "it has a format that this server does not know" };
  const id = bytes.subarray(1, KEY_ID_END);
  const key = keyring.find((candidate) => candidate.id.equals(id));
  if (key === undefined) return { kind: "invalid", detail: "it was made with a key that this server does not have" };
  const mac = bytes.subarray(KEY_ID_END, HEADER_BYTES);
  const payload = bytes.subarray(HEADER_BYTES);
  if (!timingSafeEqual(mac, macOf(key, purpose, payload)))
    return { kind: "invalid", detail: "it was changed after it was issued" };
  return { kind: "ok", payload, mac };
}
