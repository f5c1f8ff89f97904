/**
 * Secrets in a database, each sealed by a key of the servers' key file. A person who can write to the database but not
 * read that file can neither read a secret nor change one unseen.
 */
import type pg from "pg";
import { openSecret, sealSecret } from "../sealed.ts";
import { CannotOpen } from "../thread.ts";
import { statements } from "./statements.ts";

/** A key of the servers' key file, with its id. */
export interface SealingKey {
  readonly id: Buffer;
  readonly secret: Buffer;
}

/** The first key seals; all keys open. */
export type SealingKeys = readonly [SealingKey, ...SealingKey[]];

/** A row of the table. All rows of one purpose hold the same secret, each sealed by another key. */
interface SealedRow {
  readonly sealed_by: string;
  readonly sealed: Buffer;
}

const idOf = ({ id }: SealingKey): string => id.toString("hex");

/**
 * Returns the secret and the key that opened it; undefined: there is none for this purpose. Throws CannotOpen if none
 * of the keys opens it.
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
    throw new CannotOpen(`the database's key that is sealed by ${idOf(found.key)} was changed: restore it`);
  }
}

/** Returns the secret for a purpose, if there is one. */
export async function keptSecret(
  client: pg.ClientBase,
  keys: SealingKeys,
  purpose: string,
): Promise<ReturnType<typeof unsealed>> {
  const { rows } = await client.query<SealedRow>(statements.keys, [purpose]);
  return unsealed(rows, keys, purpose);
}

/**
 * Returns the secret for a purpose; the first server that asks for it makes it. A server with a new first key seals the
 * secret with that key too, and then the old key may go. One server at a time may call this (`prepare`).
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

/** Replaces a secret, under every key that seals it. One server at a time may call this (`prepare`). */
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
