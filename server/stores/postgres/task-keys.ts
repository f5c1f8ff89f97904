/** Task keys that stand in a database, sealed: the text of a key file, as one secret. */
import type pg from "pg";
import { StoreUnavailable } from "../store.ts";
import type { Connections } from "./database.ts";
import { withTables } from "./migrate.ts";
import { keptSecret, replaceSecret, secretFor, type SealingKeys, unsealed } from "./secrets.ts";

/** The task keys of a database as a server has them. */
export interface StoredTaskKeys {
  /** As they were when it was opened. */
  readonly text: string;
  /** As they are now; undefined: the database is away. Rejects where it has none that these keys open. */
  readonly read: () => Promise<string | undefined>;
}

const PURPOSE = "task keys";

/** Those that the first server made. For one server at a time (`prepare`). */
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
  if (found === undefined) throw new Error("the database has no task keys any more: restore its table of keys");
  return found.secret.toString();
}

/**
 * Changes them as `change` says, one command at a time; what is no text stays undone. Gives what `change` gave; undefined:
 * there are none.
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
