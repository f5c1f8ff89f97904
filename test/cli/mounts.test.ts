/** `gradus envs --mounts`, and the table of mounts in the guide. */
import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { type MountEntry, mountEntries } from "../../server/outside/mounted/mount-table.ts";
import { withTable } from "../../scripts/mounts.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const here = { cwd: folder.path };

test("lists what can be mounted, as a table and as JSON", async () => {
  const { code, out } = await gradus(here, "envs", "--mounts");
  expect(code).toBe(0);
  for (const { mount, install } of mountEntries) for (const text of [mount, install]) expect(out).toContain(text);
  const { out: json } = await gradus(here, "envs", "--mounts", "--json");
  expect(JSON.parse(json)).toEqual(mountEntries);
});

test.each([["np/tsp"], ["--category=np"], ["--environment-version=1"]])("is refused beside %s", async (more) => {
  const { code, err } = await gradus(here, "envs", "--mounts", more);
  expect([code, err]).toEqual([2, expect.stringContaining("give no environment, category or version")]);
});

test("the guide has the table of the catalogue, and another catalogue gives another table", () => {
  const guide = readFileSync("docs/guides/mounting.md", "utf8");
  expect(withTable(guide, mountEntries)).toBe(guide);
  const [first, ...rest] = mountEntries as readonly [MountEntry, ...MountEntry[]];
  expect(withTable(guide, [{ ...first, license: "none" }, ...rest])).not.toBe(guide);
  expect(() => withTable("no lines", mountEntries)).toThrow("the guide has no lines");
});
