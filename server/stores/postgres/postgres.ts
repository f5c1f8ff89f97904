/** Opens the stores in a PostgreSQL database, which servers of several machines may share. */
import { randomBytes } from "node:crypto";
import { type DatabaseOptions, openDatabase } from "./database.ts";
import { postgresEvaluations } from "./evaluations.ts";
import { postgresHolds } from "./holds.ts";
import { prepare } from "./migrate.ts";
import { postgresReplicas } from "./replicas.ts";
import { postgresRuns } from "./runs.ts";
import { postgresSamples } from "./samples.ts";
import { secretFor, type SealingKeys } from "./secrets.ts";
import { readTaskKeys, taskKeysFor } from "./task-keys.ts";

export interface PostgresOptions extends DatabaseOptions {
  /** Keys of the key file, the same for all servers. */
  readonly keys: SealingKeys;
  /** Makes the database's task keys if it has none. Left out: the database needs no task keys. */
  readonly newTaskKeys?: (() => string) | undefined;
}

export type PostgresStores = Awaited<ReturnType<typeof openPostgres>>;

/** Number of connections for everything but runs. */
const CONNECTIONS = 4;

/** Purpose of a secret by which a server with another key file is refused. Earlier versions hashed runs with it. */
const KEY_CHECK = "runs";

/** Opens a database, and makes or migrates its tables. Rejects with CannotOpen. */
export async function openPostgres({ keys, newTaskKeys, ...options }: PostgresOptions) {
  let taskKeys: string | undefined;
  const openSecrets = (by: SealingKeys): Promise<void> =>
    prepare(options.url, async (client) => {
      await secretFor(client, by, KEY_CHECK, () => Promise.resolve(randomBytes(32)));
      if (newTaskKeys) taskKeys = await taskKeysFor(client, by, newTaskKeys);
    });
  await openSecrets(keys);
  const database = openDatabase(options);
  const calls = database.connections(CONNECTIONS);
  const store = postgresRuns(database, options.url);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= store.close().then(() => database.close()));
  return {
    store: { ...store, close },
    evaluationStore: { ...postgresEvaluations(calls), close },
    sampleStore: { ...postgresSamples(calls), close },
    holds: postgresHolds(calls),
    replicas: postgresReplicas(calls),
    /** For other data that the servers of a database share. */
    calls,
    taskKeys: taskKeys === undefined ? undefined : { text: taskKeys, read: () => readTaskKeys(calls, keys) },
    /**
     * Seals the database's secrets by the first of other keys too, as a server does at its start if its first key is
     * new. One of those keys must open the secrets.
     */
    sealBy: openSecrets,
    /** Closes all stores. */
    close,
  };
}
