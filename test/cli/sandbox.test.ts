/** `gradus sandbox check`, as its users start it. */
import { expect, test } from "vitest";
import { gradus } from "./gradus.ts";

const settings = { cwd: process.cwd() };
const check = (...args: readonly string[]) => gradus(settings, "sandbox", "check", ...args);

test("what holds is said in a table, and in JSON; without walls nothing is run", async () => {
  const bare = await check("--without", "landlock", "namespaces");
  expect(bare).toMatchObject({ code: 1, out: "" });
  expect(bare.err).toMatch(
    /^gradus: the sandbox cannot run programs on this machine: .*neither Landlock nor namespaces/,
  );

  const only = ["--only", "replies of its own, for all calls at once"];
  const shown = await check(...only);
  if (shown.err.includes("the sandbox cannot run programs on this machine")) return console.warn(shown.err);
  expect(shown).toMatchObject({ code: 0, err: "" });
  expect(shown.out).toMatch(/^Python +3\.\d+/);
  expect(shown.out).toMatch(/^held +\d+ +replies of its own/m);
  const json = JSON.parse((await check(...only, "--json")).out) as object;
  expect(json).toMatchObject({
    found: { machine: expect.any(String) as string },
    checks: [{ name: "replies of its own, for all calls at once" }],
  });
});

test("what is asked for wrongly is said", async () => {
  expect(await check("--python", "/no/python")).toMatchObject({
    code: 1,
    err: expect.stringContaining("--python") as string,
  });
  expect(await check("--only", "nonsense")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--only") as string,
  });
});
