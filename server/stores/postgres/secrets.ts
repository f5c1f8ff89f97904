/**
 * Secrets that stand in a database, each sealed by a key of the servers' key file: whoever can write to the database and not
 * read that file can neither read nor change one unseen.
 */
import type pg from "pg";
import { openSecret, sealSecret } from "../sealed.ts";
import { CannotOpen } from "../thread.ts";
import { statements } from "./statements.ts";

/** A key of the servers' key file, and what names it. */
export interface SealingKey {
  readonly id: Buffer;
  readonly secret: Buffer;
}

/** The first seals, all of them open. */
export type SealingKeys = readonly [SealingKey, ...SealingKey[]];

/** As the table has them: all rows of one purpose hold the same secret, sealed by one key or another. */
interface SealedRow {
  readonly sealed_by: string;
  readonly sealed: Buffer;
}

const idOf = ({ id }: SealingKey): string => id.toString("hex");

/** Undefined: there is none for this purpose. Throws CannotOpen where none of the keys opens it. */
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

/** The secret for a purpose, if there is one. */
export async function keptSecret(
  client: pg.ClientBase,
  keys: SealingKeys,
  purpose: string,
): Promise<ReturnType<typeof unsealed>> {
  const { rows } = await client.query<SealedRow>(statements.keys, [purpose]);
  return unsealed(rows, keys, purpose);
}

/**
 * The secret for a purpose, made by the first server that asks for it. A server that has a new key in the first place seals
 * it with that one too, and the old one may go after that. For one server at a time (`prepare`).
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

/** Puts another secret in the place of one, in all that seals it. For one server at a time (`prepare`). */
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
