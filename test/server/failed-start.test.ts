/** A start that fails late leaves nothing open: no watcher, no host, no row among the replicas, no timer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { PYTHON, WORD_FILE } from "../support/mounted/mounts.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";

const repository = resolve(import.meta.dirname, "../..");

test(
  "a server whose threads cannot start ends by itself, and takes its row away",
  { timeout: PATIENCE_MS },
  async () => {
    using folder = temporaryFolder();
    const module = join(folder.path, "threads.ts");
    writeFileSync(
      module,
      `import { isMainThread } from "node:worker_threads";
if (!isMainThread) throw new Error("planted: no thread can load this");
export default [];
`,
    );
    const file = join(folder.path, "word.py");
    copyFileSync(WORD_FILE, file);
    const dataDir = join(folder.path, "data");
    const flags = {
      port: "0",
      httpPort: "0",
      workers: "1",
      dataDir,
      environmentFile: [module],
      python: [PYTHON, file],
      mountWorkers: "1",
      reload: true,
    };
    const entry = join(repository, "test/support/failed-start-entry.ts");
    const env = {
      ...process.env,
      PYTHONPATH: join(repository, "clients/python/src"),
      // Nobody listens there: the exporter of traces is open, and must be closed too.
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
    };
    const child = spawn(process.execPath, [entry, JSON.stringify(flags)], { env, cwd: repository });
    const output = text(child.stdout);
    const late = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS / 2);
    const [code, signal] = (await once(child, "exit")) as readonly unknown[];
    clearTimeout(late);
    expect(await output).toContain("planted: no thread can load this");
    expect([code, signal]).toEqual([0, null]);
    const replicas = join(dataDir, "replicas.sqlite");
    expect(existsSync(replicas)).toBe(true);
    using db = new DatabaseSync(replicas);
    expect(db.prepare("SELECT id FROM replicas").all()).toEqual([]);
  },
);
