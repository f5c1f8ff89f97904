/** `gradus run note`, `gradus run tag` and `gradus run list --tag`, on a real server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServer, type TestServer } from "../support/in-process.ts";
import { gradus } from "./gradus.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ store: "memory" });
  for (const id of ["one", "two"])
    await server.client.run(id).create({
      arms: [{ id: "a", environment: "countdown", level: "T0" }],
      policy: { kind: "mixture" },
      numGenerations: 2,
      promptsPerUpdate: 2,
    });
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...args: readonly string[]) =>
  gradus({ cwd: server.dataDir, env: { GRADUS_SERVER: server.address } }, "run", ...args);

async function ok(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await run(...args);
  expect([code, err]).toEqual([0, ""]);
  return out;
}

test("a note and tags are written, shown, found and removed", async () => {
  expect(await ok("note", "one")).toBe("no note and no tags\n");
  expect(await ok("list")).not.toContain("tags");
  expect(await ok("note", "one", "lower rate\u001b[31m,\nsecond try")).toBe("lower rate\\u{1b}[31m,\nsecond try\n");
  expect(await ok("tag", "one", "math/easy", "baseline")).toBe(
    "tags: baseline math/easy\nlower rate\\u{1b}[31m,\nsecond try\n",
  );
  expect(await ok("tag", "two", "baseline")).toBe("tags: baseline\n");
  expect(JSON.parse(await ok("tag", "one", "--json"))).toEqual({
    note: "lower rate\u001b[31m,\nsecond try",
    tags: ["baseline", "math/easy"],
  });
  expect(await ok("list")).toMatch(/^run .* tags\n(.*\n)?one .* baseline math\/easy\ntwo .* baseline\n$/);
  expect(await ok("list", "--tag", "baseline", "--tag", "math/easy")).not.toMatch(/^two/m);
  expect(await ok("list", "--tag", "none")).toBe("no run has all these tags\n");
  const listed = JSON.parse(await ok("list", "--tag", "baseline", "--json")) as readonly object[];
  expect(listed).toMatchObject([{ runId: "one" }, { runId: "two", state: { tags: ["baseline"] } }]);
  expect(await ok("get", "one")).toMatch(/\n\ntags: baseline math\/easy\nlower rate/);
  expect(await ok("tag", "one", "--remove", "baseline", "--remove", "none")).toMatch(
    /^no effect: the run does not have the tag "none"\ntags: math\/easy\n/,
  );
  expect(await ok("history", "one", "--records")).toMatch(/ note +.*lower rate[^]* tags .*math\/easy/);
  expect(await ok("note", "one", "")).toBe("tags: math/easy\n");
});

test("what is wrong is named, with its remedy", async () => {
  expect(await run("tag", "one", "a", "--remove", "a")).toMatchObject({
    code: 2,
    err: expect.stringContaining("'a' is to be added and removed: give it once") as string,
  });
  expect(await run("tag", "one", "two words")).toMatchObject({
    code: 2,
    err: expect.stringContaining("must have no characters but") as string,
  });
  expect(await run("note", "one", "x".repeat(4097))).toMatchObject({
    code: 2,
    err: expect.stringContaining("must have at most 4096 bytes; got 4097") as string,
  });
  expect(await run("note", "none", "x")).toMatchObject({ err: expect.stringContaining("none") as string });
});
