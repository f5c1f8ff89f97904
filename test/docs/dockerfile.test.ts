/** The Dockerfile, as far as it can be checked without an engine. */
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { existsSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };

const text = readFileSync("Dockerfile", "utf8");
const file = DockerfileParser.parse(text);

test("it has no mistakes that a linter finds", () => {
  expect(validate(text)).toEqual([]);
  expect(validate("FROM node\nCOPPY a b\n")).not.toEqual([]);
});

test("its base is the Node of package.json, exactly", () => {
  const images = file.getFROMs().map((from) => from.getImage());
  expect(images).toEqual(Array(2).fill(`node:${packageJson.dependencies.node}-bookworm-slim`));
});

test("all that it copies from the tree is there, and not ignored", () => {
  const ignored = readFileSync(".dockerignore", "utf8").trim().split("\n");
  const sources = file.getCOPYs().flatMap((copy) => {
    const fromTree = copy.getFlags().every((flag) => flag.getName() !== "from");
    return fromTree ? copy.getArguments().slice(0, -1).map(String) : [];
  });
  expect(sources).toEqual(
    expect.arrayContaining(["package-lock.json", "server", "cli", "envs", "pictures", "clients/ts"]),
  );
  for (const source of sources) {
    expect(existsSync(source), source).toBe(true);
    expect(
      ignored.filter((pattern) => matchesGlob(source, pattern)),
      source,
    ).toEqual([]);
  }
});

test("what it runs is there", () => {
  const entrypoint = JSON.parse(file.getENTRYPOINTs()[0]?.getArgumentsContent() ?? "[]") as readonly string[];
  const [program, flags] = [/\S+\.ts/, /\S+\.json/].map((path) => path.exec(entrypoint.join(" "))?.[0]);
  const health = /[\w/]+\.ts/.exec(file.getHEALTHCHECKs()[0]?.getArgumentsContent() ?? "")?.[0];
  expect([program, flags, health]).toEqual(["cli/main.ts", "cli/node-flags.json", "cli/health.ts"]);
  for (const each of [program, flags, health]) expect(existsSync(each ?? ""), each).toBe(true);
});

test("it brings the Python that runs programs, with nothing beside it", () => {
  const installs = file
    .getInstructions()
    .filter((each) => each.getKeyword() === "RUN" && /apt-get install/.test(String(each.getArgumentsContent())));
  expect(
    installs.map((each) =>
      each
        .getArgumentsContent()
        ?.match(/install ([^&\\]+)/)?.[1]
        ?.trim(),
    ),
  ).toEqual(["--yes --no-install-recommends python3"]);
});
