/** The scripts of gradus completion, run by the shells that they are for. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programOf } from "../support/debian.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const here = { cwd: folder.path };

/** Script that each shell runs to print its offers after a command line whose last word is begun. */
const offers = {
  bash: `source ./script
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _gradus 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Zsh completes only in its line editor, so this stand-in for _describe prints the words.
  zsh: `compdef() { }
_describe() { local each; for each in "\${(@P)4}"; do print -r -- \${each%%:*}; done }
_files() { print -rl -- *(N) }
compadd() { print -rl -- \${(P)2} }
compset() { }
source ./script
words=("$@"); CURRENT=$#; _gradus | grep -- "^\${\${words[CURRENT]}#*=}"`,
  fish: `source script
complete -C (string join " " -- $argv) | string replace -r "\\t.*" ""`,
} as const;

type Shell = keyof typeof offers;

function offered(shell: Shell, line: readonly string[]): readonly string[] {
  const args = shell === "fish" ? ["--no-config", "-c", offers.fish, ...line] : ["-c", offers[shell], shell, ...line];
  const { stdout } = spawnSync(shell, args, { cwd: folder.path, encoding: "utf8" });
  return stdout
    .trim()
    .split("\n")
    .filter((word) => word !== "")
    .toSorted();
}

describe.each(Object.keys(offers) as Shell[])("%s", (shell) => {
  beforeAll(() => void programOf([shell], shell), PATIENCE_MS);

  test("completes commands, options, their values and files", async () => {
    const { code, out } = await gradus(here, "completion", shell);
    expect(code).toBe(0);
    writeFileSync(join(folder.path, "script"), out);
    mkdirSync(join(folder.path, "there"), { recursive: true });
    writeFileSync(join(folder.path, "there.yaml"), "");
    for (const [line, words] of [
      [
        ["gradus", "res"],
        ["rescore", "reset", "restore"],
      ],
      [["gradus", "run", "sta"], ["start"]],
      [["gradus", "pools", "s"], ["sample"]],
      [["gradus", "reset", "--spl"], ["--split"]],
      [
        ["gradus", "reset", "--split", ""],
        ["bench", "eval", "train"],
      ],
      [["gradus", "reset", "--split", "e"], ["eval"]],
      [["gradus", "serve", "--store-durability", "f"], ["full"]],
      [
        ["gradus", "reset", "np/c"],
        ["np/clique", "np/coloring"],
      ],
      [["gradus", "envs", "np/t"], ["np/tsp"]],
      [["gradus", "eval", "--suite", "forge-b"], ["forge-bench"]],
      [["gradus", "completion", "z"], ["zsh"]],
    ] as const)
      expect([line, offered(shell, line)]).toEqual([line, words]);
    for (const line of [
      ["run", "start", "ther"],
      ["step", "id", "--file", "ther"],
      ["serve", "--data-dir", "ther"],
    ])
      expect(offered(shell, ["gradus", ...line]).map((word) => word.replace(/\/$/, ""))).toContain("there");
    // The value of --seed is the user's choice, so the shell offers none.
    expect(offered(shell, ["gradus", "reset", "--seed", ""])).toEqual([]);
  });
});

test("bash takes what stands after an equals sign, and quotes hold no shell's words", async () => {
  const { out } = await gradus(here, "completion", "bash");
  writeFileSync(join(folder.path, "script"), out);
  expect(offered("bash", ["gradus", "reset", "--split", "=", "b"])).toEqual(["bench"]);
  expect(execFileSync("bash", ["-n", "script"], { cwd: folder.path, encoding: "utf8" })).toBe("");
});
