/** `gradus doctor` on machines that lack one thing each. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { USAGE } from "../support/judge.ts";
import { startChatServer } from "../support/chat-server.ts";
import { openServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

interface Check {
  readonly name: string;
  readonly state: string;
  readonly found: string;
  readonly remedy?: string;
}

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const FREE = ["--port", "0", "--http-port", "0"];

async function doctor(env: Readonly<Record<string, string>>, ...flags: readonly string[]) {
  const { code, out, err } = await gradus({ cwd: folder.path, env }, "doctor", "--json", ...FREE, ...flags);
  const checks = JSON.parse(out) as readonly Check[];
  return { code, err, checks, of: (name: string) => checks.find((check) => check.name === name) };
}

const OFF = ["--sandbox", "off"];

test("where nothing is missing it ends with 0, and says what there is", async () => {
  const { code, checks, err } = await doctor({});
  expect([code, err]).toEqual([0, ""]);
  const names = checks.map(({ name }) => name);
  for (const name of ["Node", "data folder", "task keys", "clock", "gRPC port", "Python", "sandbox: seccomp", "judge"])
    expect(names).toContain(name);
  // Landlock or namespaces may be missing here: that is a warning, with its remedy.
  for (const { state, remedy } of checks)
    expect([state === "ok", remedy === undefined]).toEqual([state === "ok", state === "ok"]);
});

test.each([
  [{ GRADUS_PYTHON: "/no/python3" }, [], "sandbox", "'/no/python3' cannot be started (ENOENT): install Python 3.10"],
  [{}, [...OFF, "--data-dir", "file/data"], "data folder", "is not a writable folder"],
  [{}, [...OFF, "--data-dir", "file"], "data folder", "is not a writable folder"],
  [{}, [...OFF, "--data-dir", "newer"], "runs.sqlite", "it has schema version 99, and this server reads version"],
  [{}, [...OFF, "--key-file", "no-keys"], "task keys", "key file no-keys: ENOENT"],
  [{}, [...OFF, "--data-dir", "later"], "clock", "the data folder was written at 2099-"],
  [{}, [...OFF, "--host", "192.0.2.1", "--port", "1", "--insecure"], "gRPC port", "is not available (EADDRNOTAVAIL)"],
  [{}, [...OFF, "--port", "99999"], "configuration", "--port must be a whole number"],
  [
    { GRADUS_JUDGE_URL: "http://127.0.0.1:1/v1", GRADUS_JUDGE_MODEL: "m" },
    OFF,
    "judge",
    "m at http://127.0.0.1:1/v1: ",
  ],
  [{ GRADUS_SERVER: "localhost:1" }, OFF, "server", "no server at localhost:1"],
])("%j %j: %s is missing, and how to get it is said", async (env, flags, name, words) => {
  writeFileSync(join(folder.path, "file"), "");
  for (const name of ["later", "newer"]) mkdirSync(join(folder.path, name), { recursive: true });
  const newer = new DatabaseSync(join(folder.path, "newer", "runs.sqlite"));
  newer.exec("PRAGMA user_version = 99");
  newer.close();
  writeFileSync(join(folder.path, "later", "runs.key"), "");
  utimesSync(join(folder.path, "later", "runs.key"), new Date("2099-01-01"), new Date("2099-01-01"));
  const { code, err, of } = await doctor(env, ...flags);
  expect([code, err]).toEqual([1, `gradus: missing: ${name}\n`]);
  expect(of(name)).toMatchObject({ state: "missing", found: expect.stringContaining(words) as string });
  expect(of(name)?.remedy).toMatch(/\w/);
});

test("a server, a judge and keys that are there are said, and what of them is unwise is a warning", async () => {
  await using chat = await startChatServer(() => ({ kind: "answer", content: "yes", usage: USAGE }));
  await using server = await openServer();
  writeFileSync(join(folder.path, "keys"), "a1".repeat(32), { mode: 0o644 });
  const judge = { GRADUS_JUDGE_URL: chat.url, GRADUS_JUDGE_MODEL: "m" };
  const [port = ""] = /\d+$/.exec(server.address) ?? [];
  const { code, of } = await doctor(judge, ...OFF, "--key-file", "keys", "--server", server.address, "--port", port);
  expect(code).toBe(0);
  expect(of("judge")).toMatchObject({ state: "ok" });
  expect(of("server")).toMatchObject({
    state: "ok",
    found: expect.stringContaining(`${server.address} answers: Gradus`) as string,
  });
  expect(of("gRPC port")).toMatchObject({
    state: "warning",
    found: expect.stringContaining("something listens") as string,
  });
  expect(of("task keys")).toMatchObject({ state: "warning", found: expect.stringContaining("chmod 600") as string });
});

test("a server that wants a token is asked with that of the environment, and is not said to be missing", async () => {
  const token = "let-me-in-if-you-please";
  await using server = await openServer({ token });
  const at = ["--server", server.address, ...OFF];
  const { of } = await doctor({ GRADUS_TOKEN: token }, ...at);
  expect(of("server")).toMatchObject({ state: "ok" });
  const refused = (await doctor({}, ...at)).of("server");
  expect(refused).toMatchObject({ state: "missing", remedy: "correct what the message names, e.g. the token" });
});

test("for a person it is a line each, in colour only where FORCE_COLOR says so", async () => {
  const plain = await gradus({ cwd: folder.path }, "doctor", ...FREE, ...OFF);
  expect(plain.out).toMatch(/^ok {7}Node: \d+/);
  const coloured = await gradus({ cwd: folder.path, env: { FORCE_COLOR: "1" } }, "doctor", ...FREE, ...OFF);
  expect(coloured.out).toContain("\u001b[32mok");
});
