/**
 * Caches data pools that were read, and the results of checks of their rows, in files. A file's name is a hash of
 * everything that decides its content. The first 32 bytes of a file are a hash of the rest, which reveals damage.
 */
import { hash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deserialize, serialize } from "node:v8";
import { readerFiles } from "../outside/sandbox/read-python-tests.ts";
import { built } from "../runtime/version.ts";

/** Version of the format of cached pools. Increase it if a column changes its meaning, so that no old file is used. */
const FORMAT = 5;

/**
 * Maximum number of cached files with the same extension. If there are more, the least recently used ones are deleted.
 */
const FILES_MAX = 16;

const DIGEST_BYTES = 32;

/** Everything that decides the content of a cached pool, except Gradus's own code that reads rows. */
export interface KeptPool {
  readonly environment: string;
  readonly version: number;
  /** Digest of the pool's file. */
  readonly content: string;
  readonly selection: string;
  readonly environmentFiles?: readonly string[];
}

const ENVS = fileURLToPath(new URL("../../envs", import.meta.url));
const FORMATS = fileURLToPath(new URL("formats", import.meta.url));

/** Digest of Gradus's own code that reads rows, computed once per process. */
let ownCode: string | undefined;

/**
 * Returns the name of a cached pool's files, without an extension. The name contains a digest of the code that reads
 * rows, so changed code never uses old files.
 */
export function keptName({ environmentFiles = [], ...pool }: KeptPool): string {
  ownCode ??= built?.environments ?? environmentsDigest();
  const code = digestOfFiles(environmentFiles, ownCode);
  const { environment, version, content, selection } = pool;
  return hash("sha256", JSON.stringify([FORMAT, environment, version, code, content, selection])).slice(0, 32);
}

/** Returns the digest of the code of Gradus that reads rows, from the files of a checkout. */
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

/** Returns a cached value. Undefined: the file is missing or damaged. */
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

/** Marks a file as used now. Ignores errors, because the cache in an installed package may be read-only. */
function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // If the time cannot be changed, the file counts as last used when it was written.
  }
}

/**
 * Writes a cached value, and deletes the least recently used files with the same extension. Other processes see the
 * whole file or none. Errors are ignored, e.g. for a value over 2 GiB: without the file, the value is made again next
 * time.
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
