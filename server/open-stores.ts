/** Opens the stores of runs and evaluations: memory, SQLite files, or a PostgreSQL database. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./runtime/config.ts";
import type { Health } from "./runtime/health.ts";
import type { Log } from "./runtime/logging.ts";
import { fileHolds, memoryHolds } from "./stores/holds.ts";
import { memoryEvaluationStore, memorySampleStore, memorySessionStore, memoryStore } from "./stores/memory.ts";
import { openedLater } from "./stores/session-store.ts";
import { sqliteEvaluationStore, sqliteSampleStore, sqliteSessionStore, sqliteStore } from "./stores/sqlite.ts";
import { sampleSchema } from "./stores/sqlite-samples.ts";
import { sqliteReplicas } from "./stores/sqlite-replicas.ts";
import { CannotOpen } from "./stores/thread.ts";
import { type Keyring, newKeyFile } from "./tasks/keyring.ts";

/** Opens the stores. Throws CannotOpen if the operator has to fix something, e.g. a wrong path. */
export async function openStores(config: Config, keys: Keyring, log: Log["log"], health: Health) {
  const { store: kind, dataDir: directory, storeDurability: synchronous } = config;
  if (kind === "memory")
    return {
      store: memoryStore(),
      evaluationStore: memoryEvaluationStore(),
      sampleStore: memorySampleStore(),
      sessions: openedLater(async () => memorySessionStore()),
      holds: memoryHolds(),
      replicas: undefined,
      taskKeys: undefined,
      sealBy: undefined,
    };
  const at = (part: string) => ({
    directory,
    synchronous,
    onProblem: (problem: string | undefined) => {
      if (problem === undefined) log.info({ store: part }, "the store can be used again");
      else log.error({ store: part, problem }, "the store cannot be used");
      health.set(part, problem);
    },
  });
  if (kind !== "sqlite") return openDatabase(config, keys, at("database").onProblem);
  const opened: { close(): Promise<void> }[] = [];
  const kept = <S extends { close(): Promise<void> }>(store: S): S => {
    opened.push(store);
    return store;
  };
  try {
    const store = kept(await sqliteStore(at("runs")));
    const evaluationStore = kept(await sqliteEvaluationStore(at("evaluations")));
    // The file of completions is opened only if completions are kept now, or an earlier server kept some.
    const keeps = config.keepSamples.bytesMax > 0 || existsSync(join(directory, sampleSchema.file));
    const sampleStore = kept(keeps ? await sqliteSampleStore(at("samples")) : memorySampleStore());
    return {
      store,
      evaluationStore,
      sampleStore,
      sessions: openedLater(() => sqliteSessionStore(at("sessions"))),
      holds: fileHolds(directory),
      replicas: sqliteReplicas(directory),
      taskKeys: undefined,
      sealBy: undefined,
    };
  } catch (error) {
    for (const each of opened) await each.close();
    if (!(error instanceof CannotOpen)) throw error;
    throw new CannotOpen(`${error.message}; repair it, or give another --data-dir`);
  }
}

async function openDatabase(
  { store: url, limits, taskKeys }: Config,
  keys: Keyring,
  onProblem: (problem: string | undefined) => void,
) {
  // The modules for PostgreSQL are loaded only if a database is used, to save start time.
  const { openPostgres } = await import("./stores/postgres/postgres.ts");
  const { SAMPLE_BYTES_MAX } = await import("./stores/postgres/evaluations.ts");
  const completionBytesMax = SAMPLE_BYTES_MAX / 2;
  if (limits.maxCompletionBytes > completionBytesMax)
    throw new CannotOpen(
      `--max-completion-bytes must be at most ${completionBytesMax} with a database; got ${limits.maxCompletionBytes}`,
    );
  try {
    return await openPostgres({ url, keys, newTaskKeys: taskKeys === "store" ? newKeyFile : undefined, onProblem });
  } catch (error) {
    if (!(error instanceof CannotOpen)) throw error;
    throw new CannotOpen(`--store: ${error.message}`);
  }
}
