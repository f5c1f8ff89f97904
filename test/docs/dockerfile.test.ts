/** The Dockerfile, as far as it can be checked without an engine; what it copies runs in test/artefacts/artefacts.test.ts. */
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const text = readFileSync("Dockerfile", "utf8");
const file = DockerfileParser.parse(text);

test("it has no mistakes that a linter finds", () => {
  expect(validate(text)).toEqual([]);
  expect(validate("FROM node\nCOPPY a b\n")).not.toEqual([]);
});

test("it copies the folder that is tested, and runs nothing when it is built", () => {
  expect(file.getInstructions().filter((each) => each.getKeyword() === "RUN")).toEqual([]);
  const sources = file.getCOPYs().map((copy) => String(copy.getArguments()[0]));
  expect(sources).toEqual(["out/image", "out/image/var/lib/gradus"]);
  expect(readFileSync(".dockerignore", "utf8")).toBe("*\n!out\nout/*\n!out/image\n");
});

test("it runs as nobody that the base image knows", () => {
  const users = file.getInstructions().filter((each) => each.getKeyword() === "USER");
  expect(users.map((each) => each.getArgumentsContent())).toEqual(["1000:1000"]);
});
