/**
 * A change by the command line leaves the record that the same change by a call leaves. With the page beside them, in a
 * browser: test/browser/same-record.test.ts.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { becomeOf, begun, changesWith, choice, runFile } from "../support/changes.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  server = await openServer({ keepSamples: "1" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const typing = (command: string, ...args: readonly string[]) =>
  gradus({ cwd: folder.path }, "run", command, ...args, "--server", server.address);

test("a run that is created from a file, and each change of it, one after the other", async () => {
  const path = join(folder.path, "run.yaml");
  writeFileSync(path, runFile);
  expect(await typing("create", path, "--run-id", "typed")).toMatchObject({ code: 0 });
  const [typed, called] = [server.client.run("typed"), server.client.run("called")];
  await called.create(choice);
  const groups = { typed: await begun(server.client, "typed"), called: await begun(server.client, "called") };
  const changes = changesWith(folder.path);
  for (const { command, given, byCall } of changes) {
    expect(await typing(command, "typed", ...given(groups.typed)), command).toMatchObject({ code: 0, err: "" });
    await byCall(called, groups.called);
    expect(await becomeOf(typed), command).toEqual(await becomeOf(called));
  }
  const left = (await becomeOf(typed)).controls.map(({ kind }) => kind);
  expect(left).toEqual(changes.flatMap(({ kind }) => (kind === undefined ? [] : [kind])));
});
