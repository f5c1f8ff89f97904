/** The keys that authenticate task ids, and the file they live in. */
import { type KeyObject, createHash, createSecretKey, randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../stores/make-folder.ts";

export interface SigningKey {
  /** First 4 bytes of the SHA-256 of the secret: tells keys apart without telling them. */
  readonly id: Buffer;
  /** 32 bytes. */
  readonly secret: Buffer;
  /** The secret as OpenSSL holds it: made once, for making it costs more than a MAC. */
  readonly handle: KeyObject;
}

/** The first key signs; all of them are accepted. Never empty. */
export type Keyring = readonly [SigningKey, ...SigningKey[]];

const SECRET_BYTES = 32;
const KEY_ID_BYTES = 4;

export type KeyringResult =
  | { readonly kind: "ok"; readonly keyring: Keyring; readonly created: boolean }
  | { readonly kind: "invalid"; readonly message: string };

export function signingKey(secret: Buffer): SigningKey {
  const id = createHash("sha256").update(secret).digest().subarray(0, KEY_ID_BYTES);
  return { id, secret, handle: createSecretKey(secret) };
}

/** Where the keys are: in the key file, or without one in the data directory. */
export interface KeyPlace {
  readonly keyFile: string | undefined;
  readonly dataDir: string;
}

/** One key made of a hex line each; lines that are empty or start with # are passed over. */
export function parseKeyring(text: string): KeyringResult {
  const lines = text.split("\n").map((line) => line.trim());
  const secrets = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const bad = secrets.findIndex((line) => !/^[0-9a-f]{64}$/i.test(line));
  if (bad >= 0) return { kind: "invalid", message: `key ${bad + 1} is not 64 hex digits` };
  const [first, ...others] = secrets.map((line) => signingKey(Buffer.from(line, "hex")));
  if (first === undefined) return { kind: "invalid", message: "there is no key in it" };
  return { kind: "ok", keyring: [first, ...others], created: false };
}

/**
 * Reads the key file; makes it with one new key, mode 0600, if it is not there. To rotate, put a new line before the
 * old ones: ids signed with the old keys are accepted until their lines are removed.
 */
export function loadKeyring({ keyFile, dataDir }: KeyPlace): KeyringResult {
  const file = keyFile ?? join(dataDir, "task-keys");
  // The disk's errors do not name the file, or name the draft.
  const invalid = ({ message }: { readonly message: string }): KeyringResult => {
    const others = keyFile === undefined ? "--data-dir or --key-file" : "--key-file";
    return { kind: "invalid", message: `key file ${file}: ${message}; mend it, or give another ${others}` };
  };
  try {
    const created = !existsSync(file) && createKeyFile(file);
    const parsed = parseKeyring(readFileSync(file, "utf8"));
    return parsed.kind === "invalid" ? invalid(parsed) : { ...parsed, created };
  } catch (error) {
    return invalid(error as Error);
  }
}

/** Two servers may start at once on one directory: the file appears whole, and only the first one's. */
function createKeyFile(file: string): boolean {
  makeFolder(dirname(file), 0o700);
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  const text = `# Gradus task keys, hex. The first signs, all are accepted. Keep it secret.\n${randomBytes(SECRET_BYTES).toString("hex")}\n`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}
