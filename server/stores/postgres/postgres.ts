/** The stores in a PostgreSQL database, which the servers of several machines may share. */
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { chainOf, KEY_BYTES } from "../chain.ts";
import type { EvaluationStore, Holds } from "../evaluation-store.ts";
import { openSecret, sealSecret } from "../sealed.ts";
import type { ReplicaStore } from "../replica-store.ts";
import type { SampleStore } from "../sample-store.ts";
import type { Store } from "../store.ts";
import { CannotOpen } from "../thread.ts";
import { type Connections, type DatabaseOptions, openDatabase } from "./database.ts";
import { postgresEvaluations } from "./evaluations.ts";
import { postgresHolds } from "./holds.ts";
import { prepare } from "./migrate.ts";
import { postgresReplicas } from "./replicas.ts";
import { postgresRuns } from "./runs.ts";
import { postgresSamples } from "./samples.ts";
import { statements } from "./statements.ts";

/** A key of the servers' key file, and what names it. */
interface SealingKey {
  readonly id: Buffer;
  readonly secret: Buffer;
}

export interface PostgresOptions extends DatabaseOptions {
  /** The first seals what is secret in the database, all of them open it: the same for all servers. */
  readonly keys: readonly [SealingKey, ...SealingKey[]];
}

export interface PostgresStores {
  readonly store: Store;
  readonly evaluationStore: EvaluationStore;
  readonly sampleStore: SampleStore;
  readonly holds: Holds;
  readonly replicas: ReplicaStore;
  /** For what else the servers of a database share. */
  readonly calls: Connections;
  /** Closes them all. */
  close(): Promise<void>;
}

/** Connections for evaluations and the rest. */
const CONNECTIONS = 4;

/** What the hashes of runs are made with (chain.ts). */
const PURPOSE = "runs";

/** Opens a database, and makes or migrates its tables. Rejects with CannotOpen. */
export async function openPostgres({ keys, ...options }: PostgresOptions): Promise<PostgresStores> {
  let secret: Buffer | undefined;
  await prepare(options.url, async (client) => void (secret = await hashingKey(client, keys)));
  if (secret === undefined) throw new CannotOpen("the database has no key for the hashes of runs");
  const database = openDatabase(options);
  const calls = database.connections(CONNECTIONS);
  const store = postgresRuns(database, chainOf(secret));
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= store.close().then(() => database.close()));
  return {
    store: { ...store, close },
    evaluationStore: { ...postgresEvaluations(calls), close },
    sampleStore: { ...postgresSamples(calls), close },
    holds: postgresHolds(calls),
    replicas: postgresReplicas(calls),
    calls,
    close,
  };
}

/**
 * Made by the first server, and kept sealed: whoever can write to the database and not read the servers' key file can change
 * nothing unseen. One that puts a new key first seals it with that one too, and the old one may go after that.
 */
async function hashingKey(client: pg.ClientBase, keys: PostgresOptions["keys"]): Promise<Buffer> {
  const { rows } = await client.query<{ readonly sealed_by: string; readonly sealed: Buffer }>(statements.keys, [
    PURPOSE,
  ]);
  const idOf = ({ id }: SealingKey): string => id.toString("hex");
  const known = keys.flatMap((key) => rows.filter((row) => row.sealed_by === idOf(key)).map((row) => ({ key, row })));
  const [found] = known;
  if (found === undefined && rows.length > 0) {
    const others = rows.map((row) => row.sealed_by).join(", ");
    throw new CannotOpen(
      `the database's key is sealed by task keys that this server does not have (${others}): give it the key file of the other servers`,
    );
  }
  if (found === undefined && (await client.query(statements.anyRun)).rows.length > 0)
    throw new CannotOpen("the database has runs and no key for them: restore its table of keys");
  const secret = found === undefined ? randomBytes(KEY_BYTES) : open(found.key, found.row.sealed);
  const [first] = keys;
  if (found?.key !== first)
    await client.query(statements.addKey, [PURPOSE, idOf(first), sealSecret(first.secret, PURPOSE, secret)]);
  return secret;
}

function open({ id, secret }: SealingKey, sealed: Buffer): Buffer {
  try {
    return openSecret(secret, PURPOSE, sealed);
  } catch {
    throw new CannotOpen(`the database's key that is sealed by ${id.toString("hex")} was changed: restore it`);
  }
}
