/**
 * Pools that were read once, as files of their columns: a header line of JSON, then the columns' bytes. A file's name is a
 * hash of all that decides on its content, and its last 32 bytes are a hash of the rest.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FinishedPool, PoolColumns, PoolSummary } from "../../../envs/pool-columns.ts";

/** A change of what the columns mean needs a new one. */
const FORMAT = 1;

/** Pools that are kept: the ones used last. */
const POOLS_MAX = 16;

const SUFFIX = ".pool";
const DIGEST_BYTES = 32;

/** All that decides on a pool's content. */
export interface CacheKey {
  readonly environment: string;
  readonly version: number;
  /** Of the code of environments. */
  readonly code: string;
  /** Of the file. */
  readonly content: string;
  readonly selection: string;
}

export function cachePath(folder: string, key: CacheKey): string {
  const { environment, version, code, content, selection } = key;
  const all = JSON.stringify([FORMAT, environment, version, code, content, selection]);
  return join(folder, `${createHash("sha256").update(all).digest("hex").slice(0, 32)}${SUFFIX}`);
}

const NAMES = ["rows", "hashes", "groups", "ranks", "ends", "bytes", "members", "starts"] as const;

interface Header {
  readonly format: number;
  readonly summary: PoolSummary;
  /** Of each column, in bytes. */
  readonly lengths: readonly number[];
}

/** Undefined: it is not there, or not whole. */
export function readCache(path: string): FinishedPool | undefined {
  let file: Buffer;
  try {
    file = readFileSync(path);
    // So that it is known which ones were used last.
    utimesSync(path, new Date(), new Date());
  } catch {
    return undefined;
  }
  const body = file.subarray(0, -DIGEST_BYTES);
  if (!createHash("sha256").update(body).digest().equals(file.subarray(-DIGEST_BYTES))) return undefined;
  const headerEnd = body.indexOf(10);
  const header = JSON.parse(body.toString("utf8", 0, headerEnd)) as Header;
  let at = headerEnd + 1;
  const [rows, hashes, groups, ranks, ends, bytes, members, starts] = header.lengths.map((length) => {
    // Copied, so that each begins where a number may, and can be handed to another thread.
    const column = new Uint8Array(length);
    column.set(body.subarray(at, (at += length)));
    return column.buffer;
  }) as [ArrayBuffer, ArrayBuffer, ArrayBuffer, ArrayBuffer, ArrayBuffer, ArrayBuffer, ArrayBuffer, ArrayBuffer];
  const columns: PoolColumns = {
    rows: new Uint32Array(rows),
    hashes: new Uint32Array(hashes),
    groups: new Uint8Array(groups),
    ranks: new Uint32Array(ranks),
    ends: new Uint32Array(ends),
    bytes: new Uint8Array(bytes),
    members: new Uint32Array(members),
    starts: new Uint32Array(starts),
  };
  return { columns, summary: header.summary };
}

/** A cache that cannot be written is no failure: the pool is read again next time. */
export function writeCache(folder: string, path: string, { columns, summary }: FinishedPool): void {
  const temporary = join(folder, `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const parts = NAMES.map((name) => bytesOf(columns[name]));
    const header: Header = { format: FORMAT, summary, lengths: parts.map(({ length }) => length) };
    const all = [Buffer.from(`${JSON.stringify(header)}\n`), ...parts];
    const digest = createHash("sha256");
    for (const part of all) digest.update(part);
    writeFileSync(temporary, Buffer.concat([...all, digest.digest()]), { mode: 0o600 });
    renameSync(temporary, path);
    removeOldest(folder);
  } catch {
    rmSync(temporary, { force: true });
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: PoolColumns[(typeof NAMES)[number]]): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function removeOldest(folder: string): void {
  const pools = readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
  const dated = pools.map((name) => ({ name, usedMs: statSync(join(folder, name)).mtimeMs }));
  dated.sort((a, b) => b.usedMs - a.usedMs);
  for (const { name } of dated.slice(POOLS_MAX)) rmSync(join(folder, name), { force: true });
}
