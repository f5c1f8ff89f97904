/**
 * The identity of a server: everything that must be equal in its replicas; and the differences of two identities, in
 * words.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Pool } from "../../envs/pool.ts";
import type { Registry } from "../../envs/registry.ts";
import type { Keyring } from "../tasks/keyring.ts";

/** Texts that are compared for equality. */
export interface Identity {
  /** Version of Gradus. */
  readonly version: string;
  /** By id and version, with the digest of a mounted environment; for the operator's modules, a hash of each module. */
  readonly environments: Readonly<Record<string, string>>;
  /** True while some environments are not mounted yet: until then environments are not compared. */
  readonly isMounting?: true;
  /** A hash of each of the operator's modules of policies, by name. Left out: there is none. */
  readonly policies?: Readonly<Record<string, string>>;
  /** A hash of each pool's rows, by name. */
  readonly pools: Readonly<Record<string, string>>;
  /** The available resources: sandbox, judge, teacher. */
  readonly ports: Readonly<Record<string, string>>;
  /** Ids of the keys; the first one signs. */
  readonly keys: readonly string[];
}

export interface IdentityParts {
  readonly version: string;
  readonly registry: Registry;
  readonly environmentFiles: readonly string[];
  readonly policyFiles: readonly string[];
  readonly pools: ReadonlyMap<string, Pool>;
  /** Names of the open resources. */
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

/** Returns the hash of the rows that tasks are drawn from: their instances, levels and splits. */
function poolHash({ environment, columns }: Pool): string {
  return hashOf(
    environment,
    ...[columns.rows, columns.groups, columns.ranks, columns.difficulties, columns.ends, columns.bytes].map(bytesOf),
  );
}

/** Returns a function that returns the present identity: keys are rotated while a server runs. */
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
 * Returns the name of an identity. Servers that may run side by side have equal names. A replacing server uses the name
 * to say which servers it replaces.
 */
export function nameOf(identity: Identity): string {
  return hashOf(JSON.stringify(identity));
}

/** Returns the names that are only here, only there, or have different values, a phrase each. */
function unlike(
  what: string,
  here: Readonly<Record<string, string>>,
  there: Readonly<Record<string, string>>,
  another: string,
): readonly string[] {
  return [...new Set([...Object.keys(here), ...Object.keys(there)])].flatMap((name) => {
    if (here[name] === there[name]) return [];
    if (there[name] === undefined) return [`${what}${name} is here and not there`];
    return [here[name] === undefined ? `${what}${name} is there and not here` : `${what}${name} ${another}`];
  });
}

/**
 * Returns how this server differs from another, a phrase each; empty: both may serve the same runs. Keys may differ
 * while each server opens the ids that the other signs, because keys are rotated while servers run.
 */
export function differences(here: Identity, there: Identity): readonly string[] {
  const found: string[] = [];
  if (here.version !== there.version)
    found.push(`Gradus is of version ${here.version} here and ${there.version} there`);
  if (here.isMounting !== true && there.isMounting !== true)
    found.push(...unlike("environment ", here.environments, there.environments, "is another here"));
  found.push(...unlike("policies of ", here.policies ?? {}, there.policies ?? {}, "are others here"));
  found.push(...unlike("pool ", here.pools, there.pools, "has other rows here"));
  found.push(...unlike("", here.ports, there.ports, ""), ...keyDifferences(here, there));
  return found;
}

/** Returns which of two servers' signing keys the other one does not know, a phrase each. */
export function keyDifferences(here: Pick<Identity, "keys">, there: Pick<Identity, "keys">): readonly string[] {
  const found: string[] = [];
  const [[signsHere = ""], [signsThere = ""]] = [here.keys, there.keys];
  if (!there.keys.includes(signsHere)) found.push(`key ${signsHere}, which signs task ids here, is not known there`);
  if (!here.keys.includes(signsThere)) found.push(`key ${signsThere}, which signs task ids there, is not known here`);
  return found;
}
