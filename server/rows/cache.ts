/**
 * Caches pools that were read, and answers of the outside about their rows. A file's name is a hash of everything that
 * decides its content, and its first 32 bytes are a hash of the rest.
 */
import { hash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deserialize, serialize } from "node:v8";
import { readerFiles } from "../outside/sandbox/read-python-tests.ts";
import { built } from "../runtime/version.ts";

/** Increase this when the meaning of a column changes. */
const FORMAT = 5;

/** Maximum number of cached files of a kind; the least recently used ones are deleted. */
const FILES_MAX = 16;

const DIGEST_BYTES = 32;

/** Everything that decides a pool's content, beside the code. */
export interface KeptPool {
  readonly environment: string;
  readonly version: number;
  /** Digest of the file. */
  readonly content: string;
  readonly selection: string;
  readonly environmentFiles?: readonly string[];
}

const ENVS = fileURLToPath(new URL("../../envs", import.meta.url));
const FORMATS = fileURLToPath(new URL("formats", import.meta.url));

/** Digest of Gradus's own code, computed once. */
let ownCode: string | undefined;

/** Returns the name of a cached pool's files. After a change of the code that reads rows, no cached pool is used. */
export function keptName({ environmentFiles = [], ...pool }: KeptPool): string {
  ownCode ??= built?.environments ?? environmentsDigest();
  const code = digestOfFiles(environmentFiles, ownCode);
  const { environment, version, content, selection } = pool;
  return hash("sha256", JSON.stringify([FORMAT, environment, version, code, content, selection])).slice(0, 32);
}

/** Returns the digest of Gradus's own code only, as a checkout has it. */
export function environmentsDigest(): string {
  return digestOfFiles([...codeIn(ENVS), ...codeIn(FORMATS), ...readerFiles]);
}

function codeIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.[jt]s$/.test(name));
  return names.sort().map((name) => join(folder, name));
}

function digestOfFiles(files: readonly (string | URL)[], of = ""): string {
  return hash("sha256", [of, ...files.map((file) => hash("sha256", readFileSync(file), "hex"))].join(" "), "hex");
}

/** Returns a cached value; undefined: the file is missing or damaged. */
export function readKept<T>(path: string): T | undefined {
  try {
    const bytes = readFileSync(path);
    const content = bytes.subarray(DIGEST_BYTES);
    if (!hash("sha256", content, "buffer").equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
    touch(path);
    return deserialize(content) as T;
  } catch {
    return undefined;
  }
}

/** Marks a file as used now. It fails silently in a package's cache, which not every user may change. */
function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // The file then counts as used when it was written.
  }
}

/**
 * Writes a file of the cache, which is complete or missing, and deletes the least recently used files of its kind.
 * Failing is harmless: the value is made again next time. A value of over 2 GiB is not cached.
 */
export function writeKept(path: string, value: unknown): void {
  const folder = dirname(path);
  const temporary = join(folder, `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    const content = serialize(value);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(temporary, hash("sha256", content, "buffer"), { flag: "wx", mode: 0o600 });
    writeFileSync(temporary, content, { flag: "a" });
    renameSync(temporary, path);
    removeOldest(folder, extname(path));
  } catch {
    rmSync(temporary, { force: true });
  }
}

function removeOldest(folder: string, suffix: string): void {
  const files = readdirSync(folder).filter((name) => name.endsWith(suffix));
  const dated = files.map((name) => ({ name, usedMs: statSync(join(folder, name)).mtimeMs }));
  dated.sort((a, b) => b.usedMs - a.usedMs);
  for (const { name } of dated.slice(FILES_MAX)) rmSync(join(folder, name), { force: true });
}
