/** The image starts the server with the flags of the command. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import nodeFlags from "../../cli/node-flags.json" with { type: "json" };

test("the Dockerfile has the flags of bin.mjs", () => {
  const [, entrypoint = "[]"] = /^ENTRYPOINT (\[.*\])$/m.exec(readFileSync("Dockerfile", "utf8")) ?? [];
  expect(JSON.parse(entrypoint)).toEqual(["node", ...nodeFlags, "cli/main.ts"]);
});
