/** The image starts the server with the flags of the command. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import nodeFlags from "../../cli/node-flags.json" with { type: "json" };

test("the image's command line is Node with the command's flags, and what the image is started with", () => {
  const [, text = "[]"] = /^ENTRYPOINT (\[.*\])$/m.exec(readFileSync("Dockerfile", "utf8")) ?? [];
  const [shell = "", ...entrypoint] = JSON.parse(text) as readonly string[];
  const said = entrypoint.map((each) => each.replace("exec node", "printf '%s\\n' node"));
  const line = execFileSync(shell, [...said, "serve", "--port", "1 2"], { encoding: "utf8" });
  expect(line.trimEnd().split("\n")).toEqual(["node", ...nodeFlags, "cli/main.ts", "serve", "--port", "1 2"]);
});
