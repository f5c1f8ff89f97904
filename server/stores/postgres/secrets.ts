/**
 * Encrypts (seals) secrets in a database, each with a key of the servers' key file. Without this file, somebody with
 * access to the database can neither read a secret nor change it unnoticed.
 */
import type pg from "pg";
import { openSecret, sealSecret } from "../sealed.ts";
import { CannotOpen } from "../thread.ts";
import { statements } from "./statements.ts";

/** Key of the servers' key file, with its id. It encrypts (seals) secrets in the database. */
export interface SealingKey {
  readonly id: Buffer;
  readonly secret: Buffer;
}

/** Keys that can decrypt the secrets in a database. The first key encrypts new secrets. */
export type SealingKeys = readonly [SealingKey, ...SealingKey[]];

/**
 * Row of an encrypted (sealed) secret. All rows of one purpose contain the same secret, each encrypted with another
 * key.
 */
interface SealedRow {
  readonly sealed_by: string;
  readonly sealed: Buffer;
}

const idOf = ({ id }: SealingKey): string => id.toString("hex");

/**
 * Decrypts the secret in these rows, and returns it with the key that fits. Undefined: there are no rows. Throws
 * CannotOpen if no key fits.
 */
export function unsealed(
  rows: readonly SealedRow[],
  keys: SealingKeys,
  purpose: string,
): { readonly secret: Buffer; readonly by: SealingKey } | undefined {
  const found = keys
    .map((key) => ({ key, row: rows.find((row) => row.sealed_by === idOf(key)) }))
    .find(({ row }) => row !== undefined);
  if (found?.row === undefined) {
    if (rows.length === 0) return undefined;
    const others = rows.map((row) => row.sealed_by).join(", ");
    throw new CannotOpen(
      `the database's key is sealed by task keys that this server does not have (${others}): give it the key file of the other servers`,
    );
  }
  try {
    return { secret: openSecret(found.key.secret, purpose, found.row.sealed), by: found.key };
  } catch {
    throw new CannotOpen(
      `the key stored in the database, sealed by ${idOf(found.key)}, was changed: restore it from a backup`,
    );
  }
}

/** Reads and decrypts the secret for a purpose. Undefined: the database has none. */
export async function keptSecret(
  client: pg.ClientBase,
  keys: SealingKeys,
  purpose: string,
): Promise<ReturnType<typeof unsealed>> {
  const { rows } = await client.query<SealedRow>(statements.keys, [purpose]);
  return unsealed(rows, keys, purpose);
}

/**
 * Returns the secret for a purpose, or makes and stores it. If another key than the first one decrypts the secret, it
 * is also encrypted with the first key; then the operator may remove the old key. Callers must hold the lock that
 * `prepare` takes.
 */
export async function secretFor(
  client: pg.ClientBase,
  keys: SealingKeys,
  purpose: string,
  make: () => Promise<Buffer>,
): Promise<Buffer> {
  const found = await keptSecret(client, keys, purpose);
  const secret = found?.secret ?? (await make());
  const [first] = keys;
  if (found?.by !== first)
    await client.query(statements.addKey, [purpose, idOf(first), sealSecret(first.secret, purpose, secret)]);
  return secret;
}

/** Replaces the secret for a purpose, with all its rows. Callers must hold the lock that `prepare` takes. */
export async function replaceSecret(
  client: pg.ClientBase,
  keys: SealingKeys,
  purpose: string,
  secret: Buffer,
): Promise<void> {
  const [first] = keys;
  const sealed = sealSecret(first.secret, purpose, secret);
  await client.query(statements.begin);
  await client.query(statements.removeKeys, [purpose]);
  await client.query(statements.addKey, [purpose, idOf(first), sealed]);
  await client.query(statements.commit);
}
