/** Reads the data of a server that has ended, from its SQLite file and its exports. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export function journalsIn(
  folder: string,
): readonly { readonly runId: string; readonly events: readonly Uint8Array[] }[] {
  const db = new DatabaseSync(join(folder, "runs.sqlite"), { readOnly: true });
  const runs = db.prepare("SELECT key, id FROM runs ORDER BY key").all() as { key: number; id: string }[];
  const events = db.prepare("SELECT body FROM events WHERE run = ? ORDER BY version");
  const read = runs.map(({ key, id }) => ({
    runId: id,
    events: (events.all(key) as { body: Uint8Array }[]).map(({ body }) => body),
  }));
  db.close();
  return read;
}

/** An export as it goes over the wire is sealed: version, key id and authentication code stand before it. */
export function payloadOf(state: Uint8Array): Uint8Array {
  return state.subarray(21);
}
