/** PostgreSQL server for all test files. The first file that asks for it starts it, which takes seconds. */
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { until } from "./patience.ts";
import { makeDatabase, startPostgres } from "./postgres.ts";

/** Makes an empty database on the shared server, and returns its address. */
export async function sharedDatabase(): Promise<string> {
  const folder = inject("sharedPostgres");
  const started = join(folder, "started");
  if (isFirst(join(folder, "starting"))) {
    // The database server outlives the test file that starts it.
    const postgres = await startPostgres({}, { outlives: true });
    symlinkSync(postgres.folder, join(folder, "server"));
    writeFileSync(`${started}.draft`, JSON.stringify({ ...postgres, pid: postgres.pid() }));
    renameSync(`${started}.draft`, started);
  }
  await until(() => existsSync(started));
  return makeDatabase((JSON.parse(readFileSync(started, "utf8")) as { readonly url: string }).url);
}

function isFirst(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch {
    return false;
  }
}
