/**
 * Caches pools that were read, as files of their columns: a JSON header after its length, then the columns' bytes. A
 * file's name is a hash of everything that decides its content, and its last 32 bytes are a hash of the rest.
 */
import { createHash, hash, randomBytes } from "node:crypto";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PoolColumns } from "../../envs/pool-columns.ts";
import type { FinishedPool, PoolSummary } from "../../envs/pool-finish.ts";
import { readerFiles } from "../outside/sandbox/read-python-tests.ts";
import { built } from "../runtime/version.ts";

/** Increase this when the meaning of a column changes. */
const FORMAT = 4;

/** Maximum number of cached pools; the least recently used ones are deleted. */
const POOLS_MAX = 16;

const SUFFIX = ".pool";
const CHECKS_SUFFIX = ".checks";
const DIGEST_BYTES = 32;

/** Everything that decides a pool's content. */
export interface CacheKey {
  readonly environment: string;
  readonly version: number;
  /** Digest of the code of environments. */
  readonly code: string;
  /** Digest of the file. */
  readonly content: string;
  readonly selection: string;
}

const ENVS = fileURLToPath(new URL("../../envs", import.meta.url));
const FORMATS = fileURLToPath(new URL("formats", import.meta.url));

/**
 * Returns the digest of the code that decides values, levels, hashes and ranks: after a change of that code no cached
 * pool is used.
 */
export function codeDigest(environmentFiles: readonly string[] = []): string {
  return digestOfFiles([...environmentFiles], built?.environments ?? environmentsDigest());
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

export function cachePath(folder: string, key: CacheKey): string {
  const { environment, version, code, content, selection } = key;
  const all = JSON.stringify([FORMAT, environment, version, code, content, selection]);
  return join(folder, `${hash("sha256", all).slice(0, 32)}${SUFFIX}`);
}

const NAMES = [
  ...(["rows", "hashes", "groups", "ranks", "difficulties"] as const),
  ...(["problems", "ends", "bytes", "members", "starts"] as const),
] as const;

interface Header {
  readonly format: number;
  readonly summary: PoolSummary;
  /** Length of each column, in bytes. */
  readonly lengths: readonly number[];
}

/** Returns a cached pool; undefined: the file is missing or damaged. */
export function readCache(path: string): FinishedPool | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    touch(path);
    return readColumns(descriptor);
  } catch {
    // A damaged file may be invalid JSON, or name a column of any length.
    return undefined;
  } finally {
    closeSync(descriptor);
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
 * Reads each column into a buffer of its own, so that it is aligned for numbers, and can be handed to another thread.
 */
function readColumns(descriptor: number): FinishedPool | undefined {
  const digest = createHash("sha256");
  let at = 0;
  const take = (length: number): Uint8Array<ArrayBuffer> => {
    if (length > fstatSync(descriptor).size) throw new Error("it is cut off");
    const bytes = new Uint8Array(length);
    readAll(descriptor, bytes, at);
    at += length;
    digest.update(bytes);
    return bytes;
  };
  const headerLength = new Uint32Array(take(4).buffer)[0] ?? 0;
  const header = JSON.parse(new TextDecoder().decode(take(headerLength))) as Header;
  const parts = header.lengths.map((length) => take(length).buffer);
  const expected = digest.digest();
  const found = new Uint8Array(DIGEST_BYTES);
  readAll(descriptor, found, at);
  if (!expected.equals(found) || fstatSync(descriptor).size !== at + DIGEST_BYTES) return undefined;
  const part = (name: (typeof NAMES)[number]): ArrayBuffer => parts[NAMES.indexOf(name)] as ArrayBuffer;
  const columns: PoolColumns = {
    rows: new Uint32Array(part("rows")),
    hashes: new Uint32Array(part("hashes")),
    groups: new Uint8Array(part("groups")),
    ranks: new Uint32Array(part("ranks")),
    difficulties: new Float64Array(part("difficulties")),
    problems: new Uint32Array(part("problems")),
    ends: new Uint32Array(part("ends")),
    bytes: new Uint8Array(part("bytes")),
    members: new Uint32Array(part("members")),
    starts: new Uint32Array(part("starts")),
  };
  return { columns, summary: header.summary };
}

/** Maximum bytes of one read or write: the operating system takes less than 2 GiB. */
const STRETCH_BYTES = 1 << 28;

function readAll(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;) {
    const length = Math.min(STRETCH_BYTES, bytes.length - done);
    const read = readSync(descriptor, bytes, done, length, position + done);
    if (read === 0) throw new Error("it is cut off");
    done += read;
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;)
    done += writeSync(descriptor, bytes, done, Math.min(STRETCH_BYTES, bytes.length - done));
}

/** Writes a pool to the cache. Failing is harmless: the pool is read again next time. */
export function writeCache(folder: string, path: string, { columns, summary }: FinishedPool): void {
  const parts = NAMES.map((name) => bytesOf(columns[name]));
  const header: Header = { format: FORMAT, summary, lengths: parts.map(({ length }) => length) };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = bytesOf(Uint32Array.of(text.length));
  const digest = createHash("sha256");
  writeKept(folder, path, (descriptor) => {
    for (const part of [length, text, ...parts]) {
      digest.update(part);
      writeAll(descriptor, part);
    }
    writeAll(descriptor, digest.digest());
  });
}

/** Writes a file of the cache, which is complete or missing, and deletes the least recently used files of its kind. */
function writeKept(folder: string, path: string, write: (descriptor: number) => void): void {
  const temporary = join(folder, `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const descriptor = openSync(temporary, "wx", 0o600);
    try {
      write(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
    removeOldest(folder, extname(path));
  } catch {
    rmSync(temporary, { force: true });
  }
}

/** Answers of the outside about a pool's rows; see checks.ts. */
export interface KeptChecks {
  /** Numbers of the rejected rows in the file, each with the reason. */
  readonly failed: readonly (readonly [row: number, reason: string])[];
  /** Numbers of the rows that could not be checked. */
  readonly unchecked: readonly number[];
}

/** Returns the path of the checks, beside the pool's file. */
const checksPath = (path: string): string => path.replace(SUFFIX, CHECKS_SUFFIX);

/** Returns the cached checks; undefined: the file is missing or damaged. */
export function readChecks(path: string): KeptChecks | undefined {
  try {
    const { digest, checks } = JSON.parse(readFileSync(checksPath(path), "utf8")) as ChecksFile;
    touch(checksPath(path));
    return digest === hash("sha256", checks) ? (JSON.parse(checks) as KeptChecks) : undefined;
  } catch {
    return undefined;
  }
}

interface ChecksFile {
  readonly digest: string;
  /** KeptChecks in JSON. */
  readonly checks: string;
}

export function writeChecks(folder: string, path: string, kept: KeptChecks): void {
  const checks = JSON.stringify(kept);
  const file: ChecksFile = { digest: hash("sha256", checks), checks };
  writeKept(folder, checksPath(path), (descriptor) =>
    writeAll(descriptor, new TextEncoder().encode(JSON.stringify(file))),
  );
}

/** Returns the bytes of a column. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function removeOldest(folder: string, suffix: string): void {
  const pools = readdirSync(folder).filter((name) => name.endsWith(suffix));
  const dated = pools.map((name) => ({ name, usedMs: statSync(join(folder, name)).mtimeMs }));
  dated.sort((a, b) => b.usedMs - a.usedMs);
  for (const { name } of dated.slice(POOLS_MAX)) rmSync(join(folder, name), { force: true });
}
