/** Tests of every command with wrong files and words: no bug of ours shows, and each error names the remedy. */
import type { Argument, Command, Option } from "commander";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createProgram } from "../../cli/program.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const FILES: Readonly<Record<string, string | Buffer>> = {
  empty: "",
  binary: Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256)),
  "cut.json": '{"a": [1, 2',
  "null.json": "null",
  "other.json": '{"a": 1}',
  "rows.jsonl": '{"foo": 1, "bar": "x"}\n',
  "bad.yaml": "a: [1\nb: }",
  "cut.parquet": "PAR1....PAR1",
};
const VALUES = [
  "nowhere/file",
  "folder",
  ...Object.keys(FILES),
  "",
  "a=b",
  "a=binary",
  "a=rows.jsonl",
  "a=cut.parquet",
];

/** Arguments that a command needs beside the wrong one. No server and no endpoint answers. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  step: ["--completion", "x"],
  eval: ["--suite", "countdown", "--endpoint", "http://127.0.0.1:1/v1", "--model", "m", "--deadline-ms", "50"],
  export: ["--solver", "--environment", "countdown", "--count", "1", "--out", "rows-out.jsonl"],
  "pools sample": ["--out", "sampled.jsonl"],
  "pools profile": ["--endpoint", "http://127.0.0.1:1/v1", "--model", "m", "--out", "rates.csv", "--deadline-ms", "50"],
  "pools distract": ["--out", "options.jsonl", "--teacher-url", "http://127.0.0.1:1/v1", "--teacher-model", "m"],
};
/** Commands that keep running if nothing is wrong, and commands that test the machine. */
const LEFT_OUT = ["serve", "sandbox check", "doctor", "help"];

function leavesOf(command: Command, path: readonly string[] = []): readonly (readonly [Command, readonly string[]])[] {
  if (command.commands.length === 0) return [[command, path]];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

const fileLike = ({ flags, long }: Option): boolean => /file|path|dir|what/.test(flags) && long !== "--help";
const valueOf = (argument: Argument): string => (argument.name() === "environment" ? "countdown" : "some");

/** Command lines by command: each argument wrong at once, and each option for a file of one that no command before has. */
async function commandLines(): Promise<ReadonlyMap<string, readonly (readonly string[])[]>> {
  const seen = new Set<string>();
  const program = await createProgram();
  const leaves = leavesOf(program).filter(([, path]) => !LEFT_OUT.includes(path.join(" ")) && path.at(-1) !== "help");
  return new Map(
    leaves.map(([{ registeredArguments, options }, path]) => {
      const more = NEEDED[path.join(" ")] ?? [];
      const wrong = registeredArguments.length === 0 ? [] : VALUES.map((value) => registeredArguments.map(() => value));
      const flags = options.flatMap((option) => {
        if (!fileLike(option) || option.long === undefined || option.long === null || seen.has(option.long)) return [];
        seen.add(option.long);
        return [option.long];
      });
      const lines = [
        ...wrong.map((values) => [...path, ...values, ...more]),
        ...flags.flatMap((flag) =>
          VALUES.map((value) => [...path, ...registeredArguments.map(valueOf), ...more, flag, value]),
        ),
      ];
      return [path.join(" "), lines] as const;
    }),
  );
}

const lines = await commandLines();

test("all commands with an argument or an option for a file are tried", () => {
  expect([...lines.values()].flat().length).toBeGreaterThan(500);
  for (const name of ["draw", "run create", "run import", "pools check", "calibrate"])
    expect(lines.get(name)?.length, name).toBeGreaterThan(10);
});

describe("no command calls a wrong argument an internal error", () => {
  beforeEach(() => {
    rmSync(folder.path, { recursive: true, force: true });
    mkdirSync(join(folder.path, "folder"), { recursive: true });
    for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder.path, name), content);
  });

  test.each([...lines].filter(([, each]) => each.length > 0))("gradus %s", async (_name, each) => {
    for (const args of each) {
      const { code, err } = await gradus({ cwd: folder.path, env: { GRADUS_SERVER: "127.0.0.1:1" } }, ...args);
      const said = `gradus ${JSON.stringify(args)}: ${err}`;
      expect(err, said).not.toMatch(/internal error|bug: |\bundefined\b|\[object |^ +at |(?:: |; |are |is )$/m);
      expect([0, 1, 2, 3, 4], said).toContain(code);
      if (code !== 0) expect(err.trim(), said).not.toBe("");
    }
  });
});
