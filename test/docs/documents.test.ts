/** Tests that the documents name only things that exist, and that the checks find a wrong name. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import {
  absentCitations,
  evidenceProblems,
  foldersLeftOut,
  indexInstalls,
  looseRows,
  missingPaths,
  pagesLeftOut,
  problems,
  treePaths,
} from "../../scripts/documents.ts";

const root = resolve(import.meta.dirname, "../..");

test("nothing is wrong with this repository's documents", () => {
  expect(problems(root)).toEqual([]);
});

test("the tree has what a newcomer looks for", () => {
  const tree = treePaths(readFileSync(join(root, "CONTRIBUTING.md"), "utf8"));
  expect(tree).toEqual(expect.arrayContaining(["server/main.ts", "cli", "envs/np", "clients/python", "LICENSE"]));
});

describe("what is wrong is found", () => {
  const files = ["server/main.ts", "server/cli/a.ts", "envs/np/tsp/index.ts", "docs/guide.md", "LICENSE"];
  const tree = "# A\n## The tree\n```\nserver/\n  main.ts    all\n  cli/       commands\nenvs/  tasks\nLICENSE\n```\n";

  test("a tree and a text that are true have no problem", () => {
    const text = `${tree}See \`envs/np/tsp\`, [a guide](docs/guide.md#part), \`np/tsp\` and ./server/cli/a.ts.`;
    expect(missingPaths("README.md", text, files)).toEqual([]);
    expect(missingPaths("docs/guide.md", "[main](../server/main.ts)", files)).toEqual([]);
    expect(foldersLeftOut(tree, "server", files)).toEqual([]);
  });

  test.each([
    ["a line of the tree", tree.replace("cli/", "cly/"), "server/cly"],
    ["a folder at the root", tree.replace("envs/", "tasks/"), "tasks"],
    ["a path in the text", `${tree}\`envs/np/tps\``, "envs/np/tps"],
    ["a path in a command", `${tree}node ./server/cli/b.ts --flag`, "server/cli/b.ts"],
    ["a link", `${tree}[a guide](docs/guides.md)`, "docs/guides.md"],
  ])("%s", (_what, text, path) => {
    expect(missingPaths("README.md", text, files)).toEqual([`README.md names ${path}, which is not there`]);
  });

  const evidence = (cell: string): string =>
    `| claim | command |\n| --- | --- |\n| it works | ${cell} |\n\n## Answered\n\n| old | \`bench/gone.ts\` |\n`;
  const makefile = "check: setup ## Checks\n";

  test("evidence whose commands are there has no problem", () => {
    const found = evidenceProblems(evidence("`make check`, `test_a.py`, `server/main.ts`"), makefile, [
      ...files,
      "clients/test_a.py",
    ]);
    expect(found).toEqual([]);
  });

  test.each([
    ["a file of a command", "`node server/gone.ts`", "docs/evidence.md names server/gone.ts, which is not there"],
    ["a test in Python", "`test_gone.py`", "docs/evidence.md names test_gone.py, which is not there"],
    ["a target", "`make gone`", "docs/evidence.md names make gone, which the Makefile does not have"],
    ["a long cell", "word ".repeat(26), `docs/evidence.md has a cell of more than 25 words: ${"word ".repeat(12)}`],
  ])("evidence that names %s", (_what, cell, problem) => {
    expect(evidenceProblems(evidence(cell), makefile, files)).toEqual([problem]);
  });

  test("evidence that is too long", () => {
    const text = evidence("yes") + "word ".repeat(3000);
    expect(evidenceProblems(text, makefile, files)).toEqual([
      expect.stringMatching(/^docs\/evidence\.md has 30\d\d words: at most 3000$/),
    ]);
  });

  test("a folder that the tree leaves out", () => {
    const more = [...files, "server/new/file.ts"];
    expect(foldersLeftOut(tree, "server", more)).toEqual(["the tree of CONTRIBUTING.md leaves out server/new/"]);
  });

  test("a page that the index leaves out", () => {
    const pages = [
      "docs/README.md",
      "docs/a.md",
      "docs/guides/b.md",
      "docs/decisions/README.md",
      "docs/decisions/0001-c.md",
    ];
    const index = "[a](a.md), [b](guides/b.md#part) and [decisions](decisions/README.md)";
    expect(pagesLeftOut(index, pages)).toEqual([]);
    expect(pagesLeftOut(index.replace("guides/b.md", "b.md"), pages)).toEqual([
      "docs/README.md leaves out docs/guides/b.md",
    ]);
  });

  test("a row of a table that stands alone", () => {
    const table = "| a | b |\n| --- | :-: |\n| 1 | 2 |\n";
    expect(looseRows("a.md", `${table}\n\`\`\`\n| code |\n\`\`\`\n`)).toEqual([]);
    expect(looseRows("a.md", `${table}\n| 3 | 4 |\n`)).toEqual(["a.md:5: a row of a table that stands alone"]);
  });

  test.each([
    "pip install gradus-gym",
    "pip3 install -U 'gradus-gym[trl]'",
    "`python -m pip install gradus[trl]`",
    "uv add gradus-gym",
    "install gradus-gym there, or name another interpreter",
    "npm install @gradus/client",
    "npm i --save gradus",
    "npx gradus@latest envs",
    "npx -y @gradus/client",
  ])("a package of ours from an index: %s", (line) => {
    expect(indexInstalls("a.md", `one\n${line}`)).toEqual([expect.stringMatching(/^a\.md:2 installs from an index/)]);
  });

  test.each([
    "pip install ./clients/python",
    "pip install './clients/python[trl]' vllm",
    "pip install ./gradus_gym-0.1.0-py3-none-any.whl",
    "npm install ../gradus/clients/ts",
    "npm install --global ./gradus-0.1.0.tgz, then `gradus serve`",
    "npx gradus envs",
    'import { createClient } from "@gradus/client";',
  ])("and none where it is in a checkout or built: %s", (line) => {
    expect(indexInstalls("a.md", line)).toEqual([]);
  });

  test("a citation of a document that is not here", () => {
    const name = ["SPEC", "md"].join(".");
    expect(absentCitations("a.ts", `one\n// as ${name} says`)).toEqual([
      `a.ts:2 cites ${name}, which is not in this repository`,
    ]);
    expect(absentCitations("a.ts", "// as docs/references.md says, and OPENAPI-SPEC.mdx")).toEqual([]);
  });
});
