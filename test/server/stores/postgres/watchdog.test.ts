/** A PostgreSQL server that a test process started ends with it, though it be killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { until } from "../../../support/patience.ts";

const PROGRAM = `
const { startPostgres } = await import("./test/support/postgres.ts");
const { pid, folder } = await startPostgres();
console.log(JSON.stringify({ pid: pid(), folder }));
setInterval(() => undefined, 1_000_000);
`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("with all that it kept", async () => {
  const starter = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(starter.stdout), "line")) as [string];
  const { pid, folder } = JSON.parse(line) as { readonly pid: number; readonly folder: string };
  expect([isRunning(pid), existsSync(folder)]).toEqual([true, true]);
  starter.kill("SIGKILL");
  await until(() => !isRunning(pid) && !existsSync(folder));
});
