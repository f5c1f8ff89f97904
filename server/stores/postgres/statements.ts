/**
 * All SQL that is sent to PostgreSQL, by name; migrations are in their own folder. A test allows only SQL that
 * CockroachDB and YugabyteDB document as well (docs/decisions/0028-postgres.md). Each entry is one statement, so that
 * an append outside a transaction of several takes effect whole or not at all.
 */

const MS = "interval '1 millisecond'";

/** Returns SQL that converts a timestamp to milliseconds since the Unix epoch. */
const ms = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::int8`;

/** Returns SQL that deletes up to 256 rows of a removed run, which takes a few milliseconds. */
const portion = (table: string, key: string): string =>
  `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE run = $1 LIMIT 256) RETURNING run`;

/** Returns SQL that writes one text for each run, and replaces its old text. */
const keepTexts = (table: string, first: number): string => `
  INSERT INTO ${table} (run, hash, body)
  SELECT t.run, t.hash, t.body
  FROM unnest($${first}::int8[], $${first + 1}::bytea[], $${first + 2}::bytea[]) AS t (run, hash, body)
  JOIN moved ON moved.key = t.run
  ON CONFLICT (run) DO UPDATE SET hash = excluded.hash, body = excluded.body`;

const SAMPLE = `ordinal, "index", facts, result, completion`;
const IN_ORDER = `ORDER BY ordinal, "index"`;

export const statements = {
  // Statements that configure each new session.
  isolation: "SET default_transaction_isolation = 'read committed'",
  lockTimeout: "SET lock_timeout = '5s'",
  // The server of PostgreSQL ends a transaction that is idle for 2 s, so that other processes go on if one pauses
  // during a turn.
  idleTimeout: "SET idle_in_transaction_session_timeout = '2s'",
  begin: "BEGIN",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  ask: "SELECT 1",
  // Statements for notices between servers. Some databases do not have LISTEN and NOTIFY.
  listen: "LISTEN gradus_runs",
  notify: "SELECT pg_notify('gradus_runs', $1)",
  /** Writes a row, to test whether the database can be written to. */
  probe: `INSERT INTO holds (name, holder, until) VALUES ('', '', now())
    ON CONFLICT (name) DO UPDATE SET until = excluded.until`,

  createRun: `WITH made AS (
      INSERT INTO runs (id, version, hash, expires_at) VALUES ($1, 0, '', now() + $2::float8 * ${MS})
      ON CONFLICT (id) DO NOTHING RETURNING key
    )
    INSERT INTO turns (run) SELECT key FROM made RETURNING run AS key`,
  /** Locks runs in the order of their keys, so that two sessions that lock several runs do not deadlock. */
  lockRuns: "SELECT key FROM runs WHERE key = ANY($1::int8[]) ORDER BY key FOR UPDATE",
  /**
   * Locks a run for a turn, after the sessions that asked earlier. Sessions wait for a row that never changes, because
   * changing a row loses the order of those that wait for it.
   */
  takeTurn: `SELECT key FROM runs WHERE key = (SELECT run FROM turns WHERE run = $1 FOR UPDATE) FOR UPDATE`,
  /** Reads the ends of runs' journals: the number of events, and the last event's checksum. */
  ends: "SELECT key, id, version, hash FROM runs WHERE key = ANY($1::int8[])",
  /**
   * Appends to each run whose last event has the expected version and checksum. The checksum matters after a failover
   * that lost events. Runs locked by other sessions are skipped, so that the statement never waits for another
   * process's turn.
   */
  append: `WITH asked AS (
      SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::bytea[], $5::bytea[])
        AS a (key, expected, version, hash, before)
    ), locked AS (
      SELECT r.key, a.version, a.hash FROM runs r JOIN asked a ON a.key = r.key
      WHERE r.version = a.expected AND r.hash = a.before ORDER BY r.key FOR UPDATE OF r SKIP LOCKED
    ), moved AS (
      UPDATE runs SET version = locked.version, hash = locked.hash
      FROM locked WHERE runs.key = locked.key RETURNING runs.key
    ), new_events AS (
      INSERT INTO events (run, version, part, writer, hash, body)
      SELECT e.run, e.version, e.part, e.writer, e.hash, e.body
      FROM unnest($6::int8[], $7::int8[], $8::int4[], $9::bytea[], $10::bytea[], $11::bytea[])
        AS e (run, version, part, writer, hash, body)
      JOIN moved ON moved.key = e.run
    ), new_records AS (
      INSERT INTO records (run, seq, hash, body)
      SELECT t.run, t.seq, t.hash, t.body
      FROM unnest($12::int8[], $13::int8[], $14::bytea[], $15::bytea[]) AS t (run, seq, hash, body)
      JOIN moved ON moved.key = t.run
      ON CONFLICT (run, seq) DO UPDATE SET hash = excluded.hash, body = excluded.body
    ), new_heads AS (${keepTexts("heads", 16)}
    ), new_summaries AS (${keepTexts("summaries", 19)}
    )
    SELECT key FROM moved`,
  /** Writes events that do not fit into the statement `append`. */
  appendEvents: `INSERT INTO events (run, version, part, writer, hash, body)
    SELECT * FROM unnest($1::int8[], $2::int8[], $3::int4[], $4::bytea[], $5::bytea[], $6::bytea[])`,
  appendRecords: `INSERT INTO records (run, seq, hash, body)
    SELECT * FROM unnest($1::int8[], $2::int8[], $3::bytea[], $4::bytea[])
    ON CONFLICT (run, seq) DO UPDATE SET hash = excluded.hash, body = excluded.body`,
  /**
   * Selects the id of the append that wrote an event. The id shows whether an append with an unknown outcome took
   * effect.
   */
  writerOf: "SELECT writer FROM events WHERE run = $1 AND version = $2 AND part = 0",
  creatorOf: `SELECT e.writer FROM runs r JOIN events e ON e.run = r.key AND e.version = 1 AND e.part = 0
    WHERE r.id = $1`,
  find: "SELECT id, key, version FROM runs WHERE id = $1",
  /**
   * Reads three things: the run's row (without a part), the checksum of the event at a version, and the parts of later
   * events. Events are whole, up to a number of bytes.
   */
  read: `SELECT id, version, NULL::int4 AS part, NULL::bytea AS hash, NULL::bytea AS body FROM runs WHERE key = $1
    UNION ALL
    SELECT NULL, version, 0, hash, '' FROM events WHERE run = $1 AND version = $2 AND part = 0
    UNION ALL
    SELECT NULL, version, part, hash, body FROM (
      SELECT version, part, hash, body, (sum(octet_length(body)) OVER (ORDER BY version))::int8 AS reached,
        (sum(octet_length(body)) OVER (PARTITION BY version))::int8 AS own
      FROM events WHERE run = $1 AND version > $2 AND version <= $3
    ) AS next WHERE reached - own < $4`,
  hash: "SELECT hash FROM events WHERE run = $1 AND version = $2 AND part = 0",
  list: `SELECT r.id, r.key, r.version, h.hash AS "headHash", h.body AS head, s.hash AS "stateHash", s.body AS state
    FROM runs r
    LEFT JOIN heads h ON h.run = r.key
    LEFT JOIN summaries s ON s.run = r.key
    WHERE r.id > $1 ORDER BY r.id LIMIT $2`,
  savePart: `INSERT INTO snapshots (run, version, part, hash, body)
    SELECT key, $2::int8, $3::int4, $4::bytea, $5::bytea FROM runs WHERE key = $1 AND version >= $2
      AND NOT EXISTS (SELECT 1 FROM snapshots WHERE run = $1 AND version >= $2 AND part = 0)
    ON CONFLICT DO NOTHING`,
  dropSnapshots: "DELETE FROM snapshots WHERE run = $1 AND version < $2",
  newestSnapshot: `SELECT s.version, s.hash, s.body FROM runs r JOIN snapshots s ON s.run = r.key AND s.part = 0
    WHERE r.key = $1 ORDER BY s.version DESC LIMIT 1`,
  snapshotPart: "SELECT body FROM snapshots WHERE run = $1 AND version = $2 AND part = $3",
  records: `SELECT seq, hash, body FROM records
    WHERE run = $1 AND seq >= $2 AND EXISTS (SELECT 1 FROM runs WHERE key = $1) ORDER BY seq LIMIT $3`,
  touch: `UPDATE runs SET expires_at = now() + $2::float8 * ${MS}
    WHERE key = $1 AND expires_at < now() + $2::float8 * ${MS}`,
  now: `SELECT ${ms("now()")} AS "nowMs"`,
  expired: `SELECT id, key, ${ms("expires_at")} AS "expiresAtMs" FROM runs
    WHERE ${ms("expires_at")} < $1 ORDER BY key`,
  remove: `WITH removed AS (DELETE FROM runs WHERE key = $1 RETURNING key)
    INSERT INTO removals (run, removed_at) SELECT key, now() FROM removed RETURNING run`,
  removeExpired: `WITH due AS (
      SELECT key FROM runs WHERE ${ms("expires_at")} < $1 ORDER BY key FOR UPDATE SKIP LOCKED
    ), removed AS (
      DELETE FROM runs USING due WHERE runs.key = due.key RETURNING runs.id, runs.key, runs.expires_at
    ), noted AS (
      INSERT INTO removals (run, removed_at) SELECT key, now() FROM removed
    )
    SELECT id, key, ${ms("expires_at")} AS "expiresAtMs" FROM removed ORDER BY key`,
  // The record of a removal is kept for a minute, because writes to the run may still be in progress.
  nextRemoval: `SELECT run, removed_at < now() - interval '1 minute' AS "isOld" FROM removals
    WHERE run > $1 ORDER BY run LIMIT 1`,
  dropEvents: portion("events", "run, version, part"),
  dropParts: portion("snapshots", "run, version, part"),
  dropRecords: portion("records", "run, seq"),
  dropTurn: "DELETE FROM turns WHERE run = $1",
  dropHead: "DELETE FROM heads WHERE run = $1",
  dropSummary: "DELETE FROM summaries WHERE run = $1",
  removed: "DELETE FROM removals WHERE run = $1",

  createEvaluation: "INSERT INTO evaluations (id, body) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING RETURNING key",
  findEvaluation: "SELECT id, key, body FROM evaluations WHERE id = $1",
  listEvaluations: `SELECT id, key, body FROM evaluations WHERE id > $1 AND id NOT LIKE '/%' ORDER BY id LIMIT $2`,
  /** Gives a removed evaluation an id that no client can use, until its samples are deleted. */
  removeEvaluation: "UPDATE evaluations SET id = '/' || key::text WHERE key = $1 AND id NOT LIKE '/%' RETURNING key",
  removedEvaluation: "SELECT key FROM evaluations WHERE id LIKE '/%' ORDER BY key LIMIT 1",
  dropSamples: `DELETE FROM samples WHERE (evaluation, ordinal, "index") IN (
      SELECT evaluation, ordinal, "index" FROM samples WHERE evaluation = $1 LIMIT 256
    ) RETURNING ordinal`,
  dropEvaluation: "DELETE FROM evaluations WHERE key = $1",
  saveTasks: `INSERT INTO tasks (suite, ordinal, body)
    SELECT $1, t.ordinal, t.body FROM unnest($2::int8[], $3::bytea[]) AS t (ordinal, body) ON CONFLICT DO NOTHING`,
  tasks: "SELECT ordinal, body FROM tasks WHERE suite = $1 AND ordinal >= $2 AND ordinal < $3 ORDER BY ordinal",
  addSample: `INSERT INTO samples (evaluation, ${SAMPLE})
    SELECT key, $2::int8, $3::int8, $4::bytea, $5::bytea, $6::bytea FROM evaluations WHERE key = $1 AND id NOT LIKE '/%'
    ON CONFLICT DO NOTHING RETURNING ordinal`,
  sample: `SELECT ${SAMPLE} FROM samples WHERE evaluation = $1 AND ordinal = $2 AND "index" = $3`,
  places: `SELECT ordinal, "index" FROM samples WHERE evaluation = $1 AND ordinal >= $2 AND ordinal < $3 ${IN_ORDER}`,
  count: "SELECT count(*) AS count FROM samples WHERE evaluation = $1",
  facts: `SELECT ordinal, "index", facts FROM samples
    WHERE evaluation = $1 AND (ordinal, "index") > ($2, $3) ${IN_ORDER} LIMIT $4`,
  samples: `SELECT ${SAMPLE} FROM samples
    WHERE evaluation = $1 AND (ordinal, "index") > ($2, $3) ${IN_ORDER} LIMIT $4`,

  // Statements for completions of runs.
  keepSamples: `INSERT INTO run_samples (run, at, bytes, about, completion)
    SELECT $1, now(), t.bytes, t.about, t.completion
    FROM unnest($2::int8[], $3::bytea[], $4::bytea[]) AS t (bytes, about, completion)`,
  newestSamples: `SELECT number, ${ms("at")} AS "atMs", about, completion FROM run_samples
    WHERE run = $1 AND number < $2 ORDER BY number DESC LIMIT $3`,
  trimSamples: `DELETE FROM run_samples WHERE run = $1 AND number <= (
      SELECT max(number) FROM (
        SELECT number, sum(bytes) OVER (ORDER BY number DESC) AS newer FROM run_samples WHERE run = $1
      ) AS sums WHERE newer > $2
    )`,
  expireSamples: `DELETE FROM run_samples WHERE number IN (
      SELECT number FROM run_samples WHERE at < now() - $1::float8 * ${MS} ORDER BY at LIMIT $2
    ) RETURNING number`,
  removeRunSamples: "DELETE FROM run_samples WHERE run = $1",
  addCounts: "INSERT INTO run_counts (run, at, body) SELECT $1, now(), t.body FROM unnest($2::bytea[]) AS t (body)",
  runCounts: "SELECT number, body FROM run_counts WHERE run = $1 ORDER BY number",
  lockCounts: "SELECT number FROM run_counts WHERE run = $1 AND number = ANY($2::int8[]) ORDER BY number FOR UPDATE",
  dropCounts: "DELETE FROM run_counts WHERE run = $1 AND number = ANY($2::int8[])",
  expireCounts: `DELETE FROM run_counts WHERE number IN (
      SELECT number FROM run_counts WHERE at < now() - $1::float8 * ${MS} ORDER BY at LIMIT $2
    )`,
  removeRunCounts: "DELETE FROM run_counts WHERE run = $1",

  // Statements for sessions of other gyms' clients.
  expireSessions: `DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE used_at < now() - $1::float8 * ${MS} ORDER BY used_at LIMIT $2
    )`,
  trimSessions: `DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE caller = $1 ORDER BY used_at DESC LIMIT $2 OFFSET $3
    )`,
  openSession: `INSERT INTO sessions (id, caller, used_at, version, task, state) VALUES ($1, $2, now(), 0, $3, $4)
    ON CONFLICT (id) DO NOTHING RETURNING id`,
  findSession: `SELECT caller, version, task, state, ${ms("(now() - used_at)")} AS "idleMs" FROM sessions WHERE id = $1`,
  saveSession: `UPDATE sessions SET state = $3, version = version + 1, used_at = now()
    WHERE id = $1 AND version = $2 RETURNING id`,
  touchSession: "UPDATE sessions SET used_at = now() WHERE id = $1",
  removeSession: "DELETE FROM sessions WHERE id = $1",

  // Statements for locks by name.
  hold: `INSERT INTO holds (name, holder, until) VALUES ($1, $2, now() + $3::float8 * ${MS})
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE holds.until < now() OR holds.holder = excluded.holder
    RETURNING name`,
  keepHold: `UPDATE holds SET until = now() + $3::float8 * ${MS} WHERE name = $1 AND holder = $2 RETURNING name`,
  release: "DELETE FROM holds WHERE name = $1 AND holder = $2",

  // Statements for the table in which each server that shares the database has a row.
  meet: `INSERT INTO replicas (id, body, since, seen_at) VALUES ($1, $2, now(), now())
    ON CONFLICT (id) DO UPDATE SET body = excluded.body, seen_at = excluded.seen_at`,
  others: `SELECT id, body, ${ms("since")} AS "sinceMs", ${ms("seen_at")} AS "seenAtMs" FROM replicas ORDER BY since, id`,
  forget: `DELETE FROM replicas WHERE seen_at < now() - $1::float8 * ${MS} AND id <> $2`,
  leave: "DELETE FROM replicas WHERE id = $1",

  // Statements for encrypted secrets, such as task keys.
  keys: "SELECT sealed_by, sealed FROM keys WHERE purpose = $1",
  addKey: `INSERT INTO keys (purpose, sealed_by, sealed, made_at) VALUES ($1, $2, $3, now()) ON CONFLICT DO NOTHING`,
  removeKeys: "DELETE FROM keys WHERE purpose = $1",

  // Statements for migrations, which may take minutes in a large database.
  longLockTimeout: "SET lock_timeout = '600s'",
  makeLock: "CREATE TABLE IF NOT EXISTS migration_lock (one bool PRIMARY KEY)",
  fillLock: "INSERT INTO migration_lock (one) VALUES (true) ON CONFLICT DO NOTHING",
  takeLock: "SELECT one FROM migration_lock FOR UPDATE",
  schema: "SELECT current_schema() AS schema",
  migrated: "SELECT name FROM migrations ORDER BY id",
} as const satisfies Readonly<Record<string, string>>;

export type StatementName = keyof typeof statements;
