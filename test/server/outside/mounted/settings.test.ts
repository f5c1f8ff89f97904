/** Tests of the mounts that the options of `gradus serve` allow. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { describeConfig, readConfig } from "../../../../server/runtime/config.ts";
import { temporaryFolder } from "../../../support/server-process.ts";

const read = (flags: Readonly<Record<string, readonly string[]>>) => readConfig(flags, { HOME: "/home/somebody" });

test("a Python file is mounted, and any other path is the interpreter", () => {
  const result = read({
    python: ["/envs/mine.py", "/venv/bin/python"],
    allow: ["read=/data,net=hub.example", "read=/a,b"],
  });
  expect(result.kind === "ok" && result.config.mounted).toMatchObject({
    mounts: [{ kind: "host", target: "/envs/mine.py" }],
    python: "/venv/bin/python",
    allow: { read: ["/data", "/a,b"], net: ["hub.example"] },
  });
  expect(result.kind === "ok" && result.config.sandbox).toMatchObject({ python: "/venv/bin/python" });
});

test("a provider has an address, and what else is named is the Python package's to know", () => {
  const result = read({ mount: ["far=grpcs://gym.example:50061", "reasoning-gym:basic_arithmetic,chess"] });
  expect(result.kind === "ok" && result.config.mounted.mounts).toMatchObject([
    { kind: "remote", name: "far", address: "gym.example:50061", tls: true },
    { kind: "host", target: "reasoning-gym:basic_arithmetic,chess" },
  ]);
  expect(result.kind === "ok" && describeConfig(result.config)["mounted"]).toMatchObject({
    mounts: ["far=gym.example:50061", "reasoning-gym:basic_arithmetic,chess"],
  });
});

test("an ORS server is named by its address, and a provider may still have the name", () => {
  const result = read({ mount: ["ors=gym.example:8080", "ors=https://gym.example,name=mine", "ors=grpc://far:1"] });
  expect(result.kind === "ok" && result.config.mounted.mounts).toMatchObject([
    { kind: "host", target: "ors:gym.example:8080" },
    { kind: "host", target: "ors:https://gym.example,name=mine" },
    { kind: "remote", name: "ors", address: "far:1", tls: false },
  ]);
});

describe("what cannot be meant is refused in words", () => {
  test.each<[flags: Readonly<Record<string, readonly string[]>>, words: RegExp]>([
    [{ mount: ["Far Away"] }, /--mount must be name=host:port/],
    [{ mount: ["far=example.org"] }, /--mount must be/],
    [{ allow: ["write=/"] }, /--allow must be read=PATH or net=HOST/],
    [{ allow: ["read="] }, /--allow must be read=PATH or net=HOST/],
    [{ python: ["a.py", "a.py"] }, /name each mount once/],
    [{ mountCa: ["far=ca.pem"] }, /must name a provider of --mount/],
    [{ mount: ["far=gym.example:1"], mountTokenFile: [`far=${import.meta.filename}`] }, /in clear text/],
  ])("%j", (flags, words) => {
    expect(read(flags)).toMatchObject({ kind: "invalid", message: expect.stringMatching(words) as string });
  });
});

test("files and folders that options name are hidden from what is mounted, and environments themselves are not", () => {
  using folder = temporaryFolder();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder.path, name), text);
    return join(folder.path, name);
  };
  const token = file("token", "a-token-of-somebody");
  const flags = {
    tokensFile: "tokens.yaml",
    keyFile: "keys/task-keys",
    dataDir: "data",
    tokenFile: token,
    pool: ["math=rows.jsonl"],
    suiteFile: ["suite.yaml"],
    environmentFile: ["mine.ts"],
    policies: ["policies.ts"],
    mount: ["far=grpcs://gym.example:1"],
    mountTokenFile: [`far=${token}`],
    mountCa: [`far=${file("ca.pem", "a certificate")}`],
    store: "postgres://user@db/gradus?sslmode=verify-full&sslkey=client.key&sslrootcert=/etc/db/ca.pem",
    python: ["/envs/mine.py"],
    allow: ["read=/data"],
  };
  const result = readConfig(flags, { HOME: "/home/somebody", PGPASSFILE: "pgpass" });
  if (result.kind === "invalid") throw new Error(result.message);
  const names = ["tokens.yaml", "keys/task-keys", "data", "rows.jsonl", "suite.yaml", "mine.ts", "policies.ts"];
  expect(new Set(result.config.mounted.hidden)).toEqual(
    new Set(
      [...names, "client.key", "pgpass", "/etc/db/ca.pem", token, join(folder.path, "ca.pem")].map((path) =>
        resolve(path),
      ),
    ),
  );
});

test("that a host opens the whole network is said at each start, with its name", () => {
  const warningsWith = (allow: readonly string[]) => {
    const result = read({ allow });
    return result.kind === "ok" ? result.config.warnings : [];
  };
  expect(warningsWith(["read=/data"])).toEqual([]);
  expect(warningsWith(["net=hub.example,net=other.example"])).toEqual([
    expect.stringMatching(/^--allow net=hub\.example,net=other\.example opens the whole network/),
  ]);
});
