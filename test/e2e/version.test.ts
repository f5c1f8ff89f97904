/** Tests that package.json holds the version, and that every place that shows a version shows this one. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import clientJson from "../../clients/ts/package.json" with { type: "json" };
import lock from "../../package-lock.json" with { type: "json" };
import packageJson from "../../package.json" with { type: "json" };
import { createClient } from "../../clients/ts/src/index.ts";
import { gradus } from "../cli/gradus.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";

const { version } = packageJson;

test("the packages and the changelog have it", () => {
  const [, python] = /^version = "(.*)"$/m.exec(readFileSync("clients/python/pyproject.toml", "utf8")) ?? [];
  // The newest one: changes since then stand above it.
  const [, changed] = /^## (\d\S*)/m.exec(readFileSync("CHANGELOG.md", "utf8")) ?? [];
  const locked = [lock.version, lock.packages[""].version, lock.packages["clients/ts"].version];
  expect([clientJson.version, python, changed, ...locked]).toEqual(Array(6).fill(version));
});

test("a server says it in its log, its health, its metrics and when it is asked", async () => {
  using folder = temporaryFolder();
  const server = await startServer(folder.path, "--sandbox", "off", "--max-groups", "7");
  const line = server.lines.find((each) => each.includes('"msg":"starting"')) ?? "{}";
  expect(JSON.parse(line)).toMatchObject({ version, node: process.versions.node });
  const get = async (path: string): Promise<string> => (await fetch(`${server.httpAddress}${path}`)).text();
  expect(await get("/healthz")).toBe(`ok\ngradus ${version}\n`);
  expect(await get("/metrics")).toContain(`gradus_build_info{version="${version}",commit=""} 1\n`);

  const client = createClient(server.address);
  const info = await client.getServerInfo();
  const { length } = await client.listEnvironments();
  client.close();
  expect(info).toMatchObject({ version, commit: "", contract: "gradus.v1", environments: length, store: "sqlite" });
  expect(info.replicaId).toMatch(/^[^/]+\/\d+\/[0-9a-f]{8}$/);
  expect(info.limits?.groups).toBe(7);
  const missing = info.ports.map(({ name, missing: why }) => [name, why]);
  expect(missing).toEqual([
    ["judge", expect.stringContaining("--judge-url")],
    ["sandbox", expect.stringContaining("--sandbox")],
    ["teacher", expect.stringContaining("--teacher-url")],
  ]);

  const here = { cwd: folder.path };
  expect((await gradus(here, "version")).out).toBe(`${version}\n`);
  const { out } = await gradus(here, "version", "--server", server.address);
  expect(out).toContain(`server                  ${version}\n`);
  expect(out).toContain(`replica                 ${info.replicaId}\n`);
  await server.kill("SIGTERM");
});
