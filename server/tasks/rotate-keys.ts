/** Changes of the task keys: a new one, and the end of an old one. Servers that have them read them again by themselves. */
import { randomBytes } from "node:crypto";
import { closeSync, fchownSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { keyFileOf, type Keyring, type KeyPlace, loadKeyring, parseKeyring, SECRET_BYTES } from "./keyring.ts";
import { readTextFile } from "../runtime/files.ts";

export type Changed =
  | { readonly kind: "changed"; readonly file: string; readonly keyring: Keyring }
  | Refusal
  /** The key file cannot be read, or holds something else than keys. */
  | { readonly kind: "invalid"; readonly message: string };

export type Refusal =
  /** There are no such keys, or no such key among them. */
  { readonly kind: "missing"; readonly message: string } | { readonly kind: "refused"; readonly message: string };

/** The id of a key as people name it: 8 hex digits. */
export function keyName({ id }: Keyring[number]): string {
  return id.toString("hex");
}

/** Says what a keyring's text, as of a key file, becomes. */
export type Change = (text: string) => string | Refusal;

/** Puts a new key before the others, which stay valid. */
export const rotate: Change = (text) => {
  const lines = text.split("\n");
  return lines.toSpliced(lines.findIndex(isKey), 0, randomBytes(SECRET_BYTES).toString("hex")).join("\n");
};

/** Takes a key out, so that what it signed is refused from then on. The one that signs stays. */
export function retire(name: string): Change {
  return (text) => {
    const parsed = parseKeyring(text);
    if (parsed.kind === "invalid") return { kind: "refused", message: parsed.message };
    const names = parsed.keyring.map(keyName);
    const at = names.indexOf(name.toLowerCase());
    if (at < 0) return { kind: "missing", message: `there is no key ${name} in it; there are: ${names.join(", ")}` };
    if (at === 0)
      return { kind: "refused", message: `${name} is the key that signs: gradus keys rotate puts another first` };
    const lines = text.split("\n");
    const keys = lines.flatMap((line, i) => (isKey(line) ? [i] : []));
    return lines.toSpliced(keys[at] ?? -1, 1).join("\n");
  };
}

function isKey(line: string): boolean {
  return line.trim() !== "" && !line.trim().startsWith("#");
}

/** Changes the key file. */
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
    // What a link leads to is replaced, and not the link.
    const result = replaced(realpathSync(named), change);
    return result.kind === "changed" ? result : said(result);
  } catch (error) {
    return said({ kind: "refused", message: (error as Error).message });
  }
}

/** The draft is the lock too: of two commands at once the second is refused, for it would undo what the first did. */
function replaced(file: string, change: Change): Changed {
  const draft = `${file}.new`;
  let descriptor: number;
  try {
    descriptor = openSync(draft, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return { kind: "refused", message: `${draft} is there: another change is under way, or broke off; then delete it` };
  }
  try {
    const text = change(readTextFile(file));
    if (typeof text !== "string") return text;
    const parsed = parseKeyring(text);
    if (parsed.kind === "invalid") return { kind: "refused", message: parsed.message };
    // Where the superuser changes it the server's account must still be able to read it.
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
