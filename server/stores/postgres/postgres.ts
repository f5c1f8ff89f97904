/** Opens all stores in a PostgreSQL database, which servers on several machines may share. */
import { randomBytes } from "node:crypto";
import { type DatabaseOptions, openDatabase } from "./database.ts";
import { postgresEvaluations } from "./evaluations.ts";
import { postgresHolds } from "./holds.ts";
import { prepare } from "./migrate.ts";
import { postgresReplicas } from "./replicas.ts";
import { postgresRuns } from "./runs.ts";
import { postgresSamples } from "./samples.ts";
import { secretFor, type SealingKeys } from "./secrets.ts";
import { postgresSessions } from "./sessions.ts";
import { readTaskKeys, taskKeysFor } from "./task-keys.ts";

export interface PostgresOptions extends DatabaseOptions {
  /** Keys of the servers' key file. All servers that share the database must have the same keys. */
  readonly keys: SealingKeys;
  /**
   * Makes the text of new task keys if the database has none. Left out: task keys are in the key file, not in the
   * database.
   */
  readonly newTaskKeys?: (() => string) | undefined;
}

export type PostgresStores = Awaited<ReturnType<typeof openPostgres>>;

/** Maximum number of connections for all data except runs. */
const CONNECTIONS = 4;

/**
 * Purpose of a secret that serves only to check that all servers have the same keys: a server with other keys cannot
 * decrypt it, and is refused. The name remains from earlier versions, which hashed runs with the secret.
 */
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
    sessions: postgresSessions(calls),
    holds: postgresHolds(calls),
    replicas: postgresReplicas(calls),
    /** Connections for all data except runs. */
    calls,
    taskKeys: taskKeys === undefined ? undefined : { text: taskKeys, read: () => readTaskKeys(calls, keys) },
    /**
     * Encrypts the database's secrets also with the first of the given keys. One of the keys must be able to decrypt
     * the secrets. A server does this when its key file has a new first key.
     */
    sealBy: openSecrets,
    close,
  };
}
