/**
 * Tests that foreign text is safe on the terminal and in the log: modules' exceptions, hosts' refusals, providers'
 * descriptions.
 */
import { ESLint } from "eslint";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openLog } from "../../server/runtime/logging.ts";
import { eventually } from "../support/patience.ts";
import { PYTHON, useCheckout } from "../support/mounted/mounts.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

// Clears the screen, colours, sets the title, begins a sequence by one C1 character, turns the direction, goes back to the
// beginning of the line, and hides text in tags.
const BAD = "\u001b[2J\u001b[31m\u001b]0;owned\u0007\u009b31m\u202eevil\u2066\rover\b\u{e0041}";
const OBEYED = /[\p{Cc}\p{Bidi_Control}\u{e0000}-\u{e007f}]/u;
/** Line feeds and tabs are text. */
const withoutLines = (text: string): string => text.replaceAll(/[\n\t]/g, "");

const folder = temporaryFolder();
const here = { cwd: folder.path };
beforeAll(useCheckout);
afterAll(() => {
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

const escapesOf = (text: string): string =>
  JSON.stringify(text).replaceAll(/[^ -~]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`,
    ).join(""),
  );

describe("nothing that a terminal obeys reaches it", () => {
  test.each(["--environment-file", "--policies"])("of an exception of a module of %s", async (flag) => {
    writeFileSync(join(folder.path, "evil.ts"), `throw new Error(${escapesOf(`it broke ${BAD}`)});\n`);
    const { code, out, err } = await gradus(here, "envs", flag, "evil.ts");
    expect([code, err]).toEqual([2, expect.stringContaining("it broke \\u{1b}[2J")]);
    expect(withoutLines(out + err)).not.toMatch(OBEYED);
    expect(err).toContain("\\u{202e}evil");
  });

  test("of what Python says of a file that cannot be mounted", async () => {
    writeFileSync(join(folder.path, "evil.py"), `raise RuntimeError(${escapesOf(`it broke ${BAD.slice(0, -2)}`)})\n`);
    const { code, out, err } = await gradus(here, "envs", "--python", PYTHON, "--python", "evil.py");
    expect([code, err]).toEqual([1, expect.stringContaining("it broke")]);
    expect(withoutLines(out + err)).not.toMatch(OBEYED);
  });

  test("in a table, in fields, and in JSON, which stays JSON", async () => {
    const definition = `
      import { defineEnvironment } from ${JSON.stringify(join(import.meta.dirname, "../../envs/define.ts"))};
      export default [defineEnvironment({
        id: "mine/evil", version: 1, description: ${escapesOf(`Say yes. ${BAD}`)},
        render: () => "Say yes.", parse: (text) => ({ kind: "answer", answer: text }), verify: () => ({ kind: "feasible" }),
        inline: { parse: (value) => value, hash: () => "x" },
      })];`;
    writeFileSync(join(folder.path, "told.ts"), definition);
    const flags = ["--environment-file", "told.ts"];
    for (const args of [["envs"], ["envs", "mine/evil"]]) {
      const { out, err } = await gradus(here, ...args, ...flags);
      expect(out + err).toContain("Say yes.");
      expect(withoutLines(out + err)).not.toMatch(OBEYED);
    }
    const { out } = await gradus(here, "envs", "mine/evil", ...flags, "--json");
    expect(withoutLines(out)).not.toMatch(OBEYED);
    expect(JSON.stringify(JSON.parse(out))).toContain("Say yes.");
  });

  test("our own colours stay", async () => {
    const coloured = { ...here, env: { FORCE_COLOR: "1" } };
    writeFileSync(join(folder.path, "evil.ts"), `throw new Error(${escapesOf(`it broke ${BAD}`)});\n`);
    const { err } = await gradus(coloured, "envs", "--environment-file", "evil.ts");
    expect(err).toMatch(/^\u001b\[31mgradus:\u001b\[39m /);
    expect(withoutLines(err.replaceAll(/\u001b\[(?:31|39)m(?=gradus:| )/g, ""))).not.toMatch(OBEYED);
  });

  test.each(["json", "pretty"] as const)("of the log, in lines of %s", async (logFormat) => {
    const file = join(folder.path, `${logFormat}.log`);
    writeFileSync(file, "");
    vi.stubEnv("NO_COLOR", "1");
    const { log, flush } = openLog({ logLevel: "info", logFormat }, openSync(file, "a"));
    log.error({ err: new Error(`thrown ${BAD}`), problem: BAD, [BAD]: [BAD] }, `a host says ${BAD} "C:\\new"`);
    flush();
    const written = await eventually(() => {
      const text = readFileSync(file, "utf8");
      expect(text).toContain("a host says");
      return text;
    });
    const texts =
      logFormat === "json" ? JSON.stringify(JSON.parse(written), undefined, 1) + wordsIn(JSON.parse(written)) : written;
    expect(withoutLines(texts)).not.toMatch(OBEYED);
    expect(texts).toContain("\\u{202e}evil");
  });
});

/** Returns all texts of a log line, as a program that parses the line shows them. */
function wordsIn(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? Object.entries(value).flat().map(wordsIn).join("\n") : "";
}

test("lint allows no other way to the standard streams", async () => {
  const eslint = new ESLint();
  const ways = [
    'console.error("x");',
    'console.log("x");',
    'process.stdout.write("x");',
    'process.stderr.write("x");',
    "export const out = process.stdout;",
    "export const { stderr } = process;",
    'import { writeSync } from "node:fs"; writeSync(2, "x");',
  ];
  for (const filePath of ["cli/notes.ts", "server/runtime/processes.ts"]) {
    // All in one text, because each text has the types of the whole program read again.
    const [result] = await eslint.lintText(`${ways.join("\n")}\n`, { filePath });
    const refused = new Set(
      result?.messages.flatMap(({ message, line }) =>
        message.includes("Write by server/runtime/terminal.ts") ? [line] : [],
      ),
    );
    expect(ways.filter((_, line) => !refused.has(line + 1))).toEqual([]);
  }
});
