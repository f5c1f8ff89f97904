/** The stores in a PostgreSQL database, which the servers of several machines may share. */
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { chainOf, KEY_BYTES } from "../chain.ts";
import { CannotOpen } from "../thread.ts";
import { type DatabaseOptions, openDatabase } from "./database.ts";
import { postgresEvaluations } from "./evaluations.ts";
import { postgresHolds } from "./holds.ts";
import { prepare } from "./migrate.ts";
import { postgresReplicas } from "./replicas.ts";
import { postgresRuns } from "./runs.ts";
import { postgresSamples } from "./samples.ts";
import { secretFor, type SealingKeys } from "./secrets.ts";
import { statements } from "./statements.ts";
import { readTaskKeys, taskKeysFor } from "./task-keys.ts";

export interface PostgresOptions extends DatabaseOptions {
  /** Those of the key file, the same for all servers. */
  readonly keys: SealingKeys;
  /** Makes the task keys that the database is to have, where it has none. Left out: it is to have none. */
  readonly newTaskKeys?: (() => string) | undefined;
}

export type PostgresStores = Awaited<ReturnType<typeof openPostgres>>;

/** Connections for evaluations and the rest. */
const CONNECTIONS = 4;

/** What the hashes of runs are made with (chain.ts). */
const HASHES = "runs";

/** Opens a database, and makes or migrates its tables. Rejects with CannotOpen. */
export async function openPostgres({ keys, newTaskKeys, ...options }: PostgresOptions) {
  let [secret, taskKeys]: [Buffer?, string?] = [];
  const openSecrets = (by: SealingKeys): Promise<void> =>
    prepare(options.url, async (client) => {
      secret = await hashingKey(client, by);
      if (newTaskKeys) taskKeys = await taskKeysFor(client, by, newTaskKeys);
    });
  await openSecrets(keys);
  if (secret === undefined) throw new CannotOpen("the database has no key for the hashes of runs");
  const database = openDatabase(options);
  const calls = database.connections(CONNECTIONS);
  const store = postgresRuns(database, chainOf(secret), options.url);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= store.close().then(() => database.close()));
  return {
    store: { ...store, close },
    evaluationStore: { ...postgresEvaluations(calls), close },
    sampleStore: { ...postgresSamples(calls), close },
    holds: postgresHolds(calls),
    replicas: postgresReplicas(calls),
    /** For what else the servers of a database share. */
    calls,
    taskKeys: taskKeys === undefined ? undefined : { text: taskKeys, read: () => readTaskKeys(calls, keys) },
    // Whoever opens them with a new key in the first place seals them with it.
    /** Seals what is secret there by the first of other keys too. One of them must open it. */
    sealBy: openSecrets,
    /** Closes them all. */
    close,
  };
}

/** Made by the first server: without it no run can be told from one that was changed. */
function hashingKey(client: pg.ClientBase, keys: SealingKeys): Promise<Buffer> {
  return secretFor(client, keys, HASHES, async () => {
    if ((await client.query(statements.anyRun)).rows.length > 0)
      throw new CannotOpen("the database has runs and no key for them: restore its table of keys");
    return randomBytes(KEY_BYTES);
  });
}
