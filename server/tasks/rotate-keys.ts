/** Changes the keys that sign task ids: adds a new one, or removes an old one. Running servers notice the change. */
import { randomBytes } from "node:crypto";
import { closeSync, fchownSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { keyFileOf, type Keyring, type KeyPlace, loadKeyring, parseKeyring, SECRET_BYTES } from "./keyring.ts";
import { readTextFile } from "../runtime/files.ts";

export type Changed =
  | { readonly kind: "changed"; readonly file: string; readonly keyring: Keyring }
  | Refusal
  /** The key file cannot be read, or has lines that are not keys. */
  | { readonly kind: "invalid"; readonly message: string };

export type Refusal =
  /** There is no key file, or no key with that name. */
  { readonly kind: "missing"; readonly message: string } | { readonly kind: "refused"; readonly message: string };

/** Returns the name of a key that people see: its id as 8 hex digits. */
export function keyName({ id }: Keyring[number]): string {
  return id.toString("hex");
}

/** Change of a key file's text. Returns the new text, or why the change is refused. */
export type Change = (text: string) => string | Refusal;

/** Puts a new key first in the key file, so that it signs new task ids. The other keys stay valid. */
export const rotate: Change = (text) => {
  const lines = text.split("\n");
  return lines.toSpliced(lines.findIndex(isKey), 0, randomBytes(SECRET_BYTES).toString("hex")).join("\n");
};

/**
 * Returns a change that removes the key with this name. Task ids that the key signed are refused from then on. The key
 * that signs new ids cannot be removed.
 */
export function retire(name: string): Change {
  return (text) => {
    const parsed = parseKeyring(text);
    if (parsed.kind === "invalid") return { kind: "refused", message: parsed.message };
    const names = parsed.keyring.map(keyName);
    const at = names.indexOf(name.toLowerCase());
    if (at < 0) return { kind: "missing", message: `there is no key ${name} in it; there are: ${names.join(", ")}` };
    if (at === 0)
      return {
        kind: "refused",
        message: `${name} is the key that signs new task ids, and cannot be retired: run gradus keys rotate first`,
      };
    const lines = text.split("\n");
    const keys = lines.flatMap((line, i) => (isKey(line) ? [i] : []));
    return lines.toSpliced(keys[at] ?? -1, 1).join("\n");
  };
}

function isKey(line: string): boolean {
  return line.trim() !== "" && !line.trim().startsWith("#");
}

export function changeKeyFile(place: KeyPlace, change: Change): Changed {
  const named = keyFileOf(place);
  if (statSync(named, { throwIfNoEntry: false }) === undefined)
    return { kind: "missing", message: `there is no key file ${named}: a server makes it at its first start` };
  const before = loadKeyring(place);
  if (before.kind === "invalid") return before;
  const said = <R extends Exclude<Changed, { readonly kind: "changed" }>>(refusal: R): R => ({
    ...refusal,
    message: `key file ${named}: ${refusal.message}`,
  });
  try {
    // If the file is a symbolic link, the link stays and its target is replaced.
    const result = replaced(realpathSync(named), change);
    return result.kind === "changed" ? result : said(result);
  } catch (error) {
    return said({ kind: "refused", message: (error as Error).message });
  }
}

/**
 * Replaces the file with its changed text. The new text is first written to FILE.new, which also serves as a lock: if
 * two commands run at once, the second is refused, because it would undo the first.
 */
function replaced(file: string, change: Change): Changed {
  const draft = `${file}.new`;
  let descriptor: number;
  try {
    descriptor = openSync(draft, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return {
      kind: "refused",
      message: `another change of the keys is in progress, because ${draft} exists; if there is none, delete that file`,
    };
  }
  try {
    const text = change(readTextFile(file));
    if (typeof text !== "string") return text;
    const parsed = parseKeyring(text);
    if (parsed.kind === "invalid") return { kind: "refused", message: parsed.message };
    // If root changes the file, the account of the server must still be able to read it.
    const { uid, gid } = statSync(file);
    if (process.getuid?.() === 0) fchownSync(descriptor, uid, gid);
    writeFileSync(descriptor, text, { flush: true });
    renameSync(draft, file);
    return { kind: "changed", file, keyring: parsed.keyring };
  } finally {
    closeSync(descriptor);
    rmSync(draft, { force: true });
  }
}
