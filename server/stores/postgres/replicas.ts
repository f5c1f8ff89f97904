/** Stores one row for each server that shares a database, by which the servers know each other. */
import type { ReplicaStore, StoredReplica } from "../replica-store.ts";
import type { Connections } from "./database.ts";

type Row = Omit<StoredReplica, "body"> & { readonly body: Buffer };

export function postgresReplicas(calls: Connections): ReplicaStore {
  return {
    meet: async (id, body, forgetMs) => {
      await calls.query("meet", [id, Buffer.from(body)]);
      await calls.query("forget", [forgetMs, id]);
      // The database's time is read last, so that it is as recent as possible when the caller gets it.
      const rows = (await calls.query("others")) as unknown as readonly Row[];
      const [{ nowMs }] = (await calls.query("now")) as unknown as readonly [{ readonly nowMs: number }];
      return { nowMs, replicas: rows.map((row) => ({ ...row, body: row.body.toString() })) };
    },
    leave: async (id) => void (await calls.query("leave", [id])),
    // This does nothing, because the database is closed with the other stores.
    close: async () => undefined,
  };
}
