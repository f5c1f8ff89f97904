/** Keys that sign task ids, stored in a database: the text of a key file, encrypted as one secret. */
import type pg from "pg";
import { StoreUnavailable } from "../store.ts";
import type { Connections } from "./database.ts";
import { withTables } from "./migrate.ts";
import { keptSecret, replaceSecret, secretFor, type SealingKeys, unsealed } from "./secrets.ts";

export interface StoredTaskKeys {
  /** Text of the keys, in the form of a key file, when the database was opened. */
  readonly text: string;
  /**
   * Reads the present text of the keys. Undefined: the database cannot be reached. Rejects if the database no longer
   * has keys that this server can decrypt.
   */
  readonly read: () => Promise<string | undefined>;
}

const PURPOSE = "task keys";

/**
 * Returns the text of the task keys. If the database has none, makes and stores them. Callers must hold the lock that
 * `prepare` takes.
 */
export async function taskKeysFor(client: pg.ClientBase, keys: SealingKeys, make: () => string): Promise<string> {
  return (await secretFor(client, keys, PURPOSE, () => Promise.resolve(Buffer.from(make())))).toString();
}

export async function readTaskKeys(calls: Connections, keys: SealingKeys): Promise<string | undefined> {
  const rows = await calls.query("keys", [PURPOSE]).catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  });
  if (rows === undefined) return undefined;
  const found = unsealed(rows as unknown as Parameters<typeof unsealed>[0], keys, PURPOSE);
  if (found === undefined)
    throw new Error("the task keys were deleted from the database: restore the table of keys from a backup");
  return found.secret.toString();
}

/**
 * Replaces the text of the task keys by the text that `change` returns for it. If `change` returns a refusal, nothing
 * changes. Returns the result of `change`. Undefined: the database has no task keys.
 */
export async function changeTaskKeys<Refusal extends object>(
  url: string,
  keys: SealingKeys,
  change: (text: string) => string | Refusal,
): Promise<string | Refusal | undefined> {
  let result: string | Refusal | undefined;
  await withTables(url, async (client) => {
    const before = (await keptSecret(client, keys, PURPOSE))?.secret.toString();
    if (before === undefined) return;
    result = change(before);
    if (typeof result === "string" && result !== before)
      await replaceSecret(client, keys, PURPOSE, Buffer.from(result));
  });
  return result;
}
