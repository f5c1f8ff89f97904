/** The log as a process writes it. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PATIENCE_MS } from "../../support/patience.ts";

const logging = join(import.meta.dirname, "../../../server/runtime/logging.ts");

/** A program that opens a log and does something with it. */
const program = (format: string, body: string) =>
  `import { openLog } from ${JSON.stringify(logging)};
   const { log, flush, dropped } = openLog({ logLevel: "info", logFormat: ${JSON.stringify(format)} });
   ${body}`;
const run = (format: string, body: string) =>
  execFileSync(process.execPath, ["--input-type=module-typescript", "-e", program(format, body)], { encoding: "utf8" });

test("lines are JSON, in order, and none is lost when the process ends at once", () => {
  const output = run("json", "for (let i = 0; i < 5000; i++) log.info({ i }, 'line'); process.exit(0);");
  const lines = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly i: number });
  expect(lines.map(({ i }) => i)).toEqual(Array.from({ length: 5000 }, (_, index) => index));
});

test("off a terminal auto is JSON, and what is below the level is left out", () => {
  expect(run("auto", "log.debug('no'); log.info('yes');")).toMatch(/^\{"level":30,"time":\d+,"msg":"yes"\}\n$/);
});

test("pretty lines are for people", () => {
  const output = run("pretty", "log.info({ port: 1 }, 'listening');");
  expect(output).toMatch(/INFO.*listening.*"port":1/);
});

test("a line is written within moments although its chunk is not full", async () => {
  const child = spawn(process.execPath, [
    ...["--input-type=module-typescript", "-e"],
    program("json", "log.info('soon'); setInterval(() => {}, 1000);"),
  ]);
  const first = await new Promise<string>((resolve) =>
    child.stdout.once("data", (chunk: Buffer) => resolve(String(chunk))),
  );
  expect(first).toContain('"msg":"soon"');
  child.kill();
});

test("a reader that goes away does not end the process", async () => {
  const body = "setInterval(() => { log.info('x'.repeat(1000)); if (dropped() > 0) process.exit(7); }, 1);";
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", program("json", body)]);
  child.stdout.once("data", () => child.stdout.destroy());
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(7);
});

test("a reader that does not read costs lines, not memory", async () => {
  const body = `
    const line = "x".repeat(1000);
    for (let i = 0; i < 50_000; i++) log.info(line);
    process.stderr.write(String(dropped()));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", program("json", body)]);
  const dropped = await new Promise<string>((resolve) =>
    child.stderr.once("data", (chunk: Buffer) => resolve(String(chunk))),
  );
  expect(Number(dropped)).toBeGreaterThan(30_000);
  child.kill("SIGKILL");
});

test("a full disk neither ends the process nor keeps it from ending", () => {
  const body = "log.info('lost'); setTimeout(() => { log.info('lost too'); process.exit(3); }, 300);";
  const command = [process.execPath, "--input-type=module-typescript", "-e", program("json", body)];
  const { status } = spawnSync("sh", ["-c", '"$@" > /dev/full', "sh", ...command], { timeout: PATIENCE_MS });
  expect(status).toBe(3);
});

test("a reader that is stuck does not keep the process from ending", async () => {
  const child = spawn(process.execPath, [
    ...["--input-type=module-typescript", "-e"],
    program("json", "for (let i = 0; i < 3000; i++) log.info('x'.repeat(1000)); process.exit(5);"),
  ]);
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(5);
});
