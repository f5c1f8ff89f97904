/**
 * The identity of a server: what must be equal on all servers that share a store (replicas). Also tells how two
 * identities differ.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Pool } from "../../envs/pool.ts";
import type { Registry } from "../../envs/registry.ts";
import type { Keyring } from "../tasks/keyring.ts";

/** Everything that must be equal on all servers that share a store, as texts that can be compared. */
export interface Identity {
  readonly version: string;
  /**
   * Digest of each mounted environment, by id and version; for built-in environments the text "known". Also the hash of
   * each of the operator's modules, by file.
   */
  readonly environments: Readonly<Record<string, string>>;
  /**
   * Set while some external (mounted) environments are not connected yet. Environments are compared only if all are
   * connected on both servers.
   */
  readonly isMounting?: true;
  /** Hash of each of the operator's policy modules, by file. Left out: there are none. */
  readonly policies?: Readonly<Record<string, string>>;
  /** Hash of each pool's data rows, by the pool's name. */
  readonly pools: Readonly<Record<string, string>>;
  /** Names of the available resources, e.g. sandbox, judge or teacher. All values are "open". */
  readonly ports: Readonly<Record<string, string>>;
  /** Ids of the keys that protect task ids. The first key signs new ids; the others only verify. */
  readonly keys: readonly string[];
}

export interface IdentityParts {
  readonly version: string;
  readonly registry: Registry;
  readonly environmentFiles: readonly string[];
  readonly policyFiles: readonly string[];
  readonly pools: ReadonlyMap<string, Pool>;
  /** Names of the available resources. */
  readonly ports: readonly string[];
}

const HASH_DIGITS = 16;

function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex").slice(0, HASH_DIGITS);
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/**
 * Returns the hash of a data pool: of its rows and of the columns that decide which tasks are drawn, e.g. difficulty.
 */
function poolHash({ environment, columns }: Pool): string {
  return hashOf(
    environment,
    ...[columns.rows, columns.groups, columns.ranks, columns.difficulties, columns.ends, columns.bytes].map(bytesOf),
  );
}

/**
 * Returns a function that returns the server's current identity. It changes when keys are rotated or environments are
 * mounted.
 */
export function identityOf(
  { version, registry, environmentFiles, policyFiles, pools, ports }: IdentityParts,
  keyring: Keyring,
): () => Identity {
  const hashed = (files: readonly string[]) =>
    files.map((file) => [`module ${file}`, hashOf(readFileSync(file))] as const);
  const modules = hashed(environmentFiles);
  const environments = () =>
    registry.environments.map(
      ({ id, version: number, asked }) => [`${id} version ${number}`, asked?.digest ?? "known"] as const,
    );
  const fixed = {
    version,
    environments: {},
    ...(policyFiles.length > 0 && { policies: Object.fromEntries(hashed(policyFiles)) }),
    pools: Object.fromEntries([...pools].map(([name, pool]) => [name, poolHash(pool)])),
    ports: Object.fromEntries(ports.map((name) => [name, "open"])),
  };
  return () => ({
    ...fixed,
    environments: Object.fromEntries([...environments(), ...modules]),
    ...(registry.mounting?.().length && { isMounting: true as const }),
    keys: keyring.map(({ id }) => id.toString("hex")),
  });
}

/**
 * Returns a hash of the identity. Equal identities have equal hashes. By these hashes, a server lists the servers that
 * it replaces.
 */
export function nameOf(identity: Identity): string {
  return hashOf(JSON.stringify(identity));
}

/**
 * Compares two tables of texts. Returns one phrase for each name that is only in one of them, or has different values.
 */
function unlike(
  what: string,
  here: Readonly<Record<string, string>>,
  there: Readonly<Record<string, string>>,
  another: string,
): readonly string[] {
  return [...new Set([...Object.keys(here), ...Object.keys(there)])].flatMap((name) => {
    if (here[name] === there[name]) return [];
    if (there[name] === undefined) return [`${what}${name} is only on this server`];
    return [here[name] === undefined ? `${what}${name} is only on the other server` : `${what}${name} ${another}`];
  });
}

/**
 * Returns how two servers differ, one phrase for each difference. Empty: both may serve the same runs. Keys may differ
 * as long as each server can verify what the other signs.
 */
export function differences(here: Identity, there: Identity): readonly string[] {
  const found: string[] = [];
  if (here.version !== there.version)
    found.push(`this server has Gradus ${here.version}, and the other has ${there.version}`);
  if (here.isMounting !== true && there.isMounting !== true)
    found.push(
      ...unlike("environment ", here.environments, there.environments, "differs between this server and the other"),
    );
  found.push(
    ...unlike("policies of ", here.policies ?? {}, there.policies ?? {}, "differ between this server and the other"),
  );
  found.push(...unlike("pool ", here.pools, there.pools, "has different rows on this server and the other"));
  found.push(...unlike("", here.ports, there.ports, ""), ...keyDifferences(here, there));
  return found;
}

/** Returns one phrase for each signing key of one of the servers that the other does not have. */
export function keyDifferences(here: Pick<Identity, "keys">, there: Pick<Identity, "keys">): readonly string[] {
  const found: string[] = [];
  const [[signsHere = ""], [signsThere = ""]] = [here.keys, there.keys];
  if (!there.keys.includes(signsHere))
    found.push(`the other server does not have key ${signsHere}, with which this server signs task ids`);
  if (!here.keys.includes(signsThere))
    found.push(`this server does not have key ${signsThere}, with which the other server signs task ids`);
  return found;
}
