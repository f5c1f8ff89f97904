/**
 * Every snippet of the READMEs and of the first guides runs, as it stands, against a real server; only addresses are put
 * in. What a snippet says that it prints, in comments that begin with an arrow, it prints.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readTokens } from "../../server/runtime/tokens.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";
import { launcher } from "../support/program.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const repository = resolve(import.meta.dirname, "../..");
const guides = ["docs/guides/getting-started.md", "docs/guides/serving.md"];
const documents = ["README.md", ...guides, "clients/python/README.md", "clients/ts/README.md"];
const run = promisify(execFile);

interface Snippet {
  readonly where: string;
  readonly language: string;
  readonly text: string;
}

function snippetsOf(document: string): Snippet[] {
  const text = readFileSync(join(repository, document), "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", body = ""], i) => ({
    where: `${document}, snippet ${i + 1}`,
    language,
    text: body,
  }));
}

const snippets = documents.flatMap(snippetsOf);
const inLanguage = (...languages: readonly string[]): Snippet[] =>
  snippets.filter(({ language }) => languages.includes(language));

const folder = temporaryFolder();
let server: ServerProcess;
let scratch: string;

beforeAll(async () => {
  server = await startServer(folder.path);
  // Inside the repository, so that "@gradus/client" is found as in a project that has it installed.
  mkdirSync(join(repository, "out"), { recursive: true });
  scratch = mkdtempSync(join(repository, "out", "snippets-"));
  execFileSync(process.execPath, ["build.mjs"], { cwd: join(repository, "clients/ts") });
});
afterAll(async () => {
  expect(await server.kill("SIGTERM")).toBe(0);
  rmSync(scratch, { recursive: true });
  folder[Symbol.dispose]();
});

/** The snippet with this server's addresses in place of the default ones. */
function here(text: string): string {
  const http = server.httpAddress.replace("http://", "");
  return text
    .replaceAll(/(localhost|127\.0\.0\.1):50051/g, server.address)
    .replaceAll(/(localhost|127\.0\.0\.1):8080/g, http);
}

test("there are snippets in each language", () => {
  for (const language of ["sh", "python", "ts"]) expect(inLanguage(language), language).not.toHaveLength(0);
  // Diffs are applied and run by clients/python/tests_trainers/test_trl_diff.py, which has the trainer.
  expect(new Set(snippets.map(({ language }) => language))).toEqual(new Set(["sh", "python", "ts", "yaml", "diff"]));
});

test.each(inLanguage("yaml"))("$where (yaml) is a file of tokens", ({ text }) => {
  const file = join(scratch, "tokens.yaml");
  writeFileSync(file, text);
  expect(readTokens(file).map(({ role }) => role)).toEqual(["viewer", "trainer", "operator"]);
});

/** The lines that a snippet says it prints. */
const saidOf = (text: string): string[] => [...text.matchAll(/(?:#|\/\/) → (.*)$/gm)].map(([, said = ""]) => said);

function expectSaid(text: string, stdout: string): void {
  const said = saidOf(text);
  if (said.length > 0) expect(stdout.trimEnd().split("\n")).toEqual(said);
}

test("the first snippet of each language in each of them gives a right answer, and says its reward", () => {
  const firsts = [
    ["README.md", "python", "1.0"],
    ["docs/guides/getting-started.md", "python", "2.0"],
    ["docs/guides/getting-started.md", "ts", "1"],
    ["clients/python/README.md", "python", "1.0"],
    ["clients/ts/README.md", "ts", "1"],
  ] as const;
  for (const [document, language, reward] of firsts) {
    const first = snippetsOf(document).find((snippet) => snippet.language === language);
    expect(saidOf(first?.text ?? "").at(-1), `${document}, ${language}`).toBe(reward);
  }
});

test("the README's task is what the server makes, with its rewards and its picture", async () => {
  const readme = readFileSync(join(repository, "README.md"), "utf8");
  const ask = async (method: string, body: object): Promise<unknown> => {
    const headers = { "content-type": "application/json" };
    const url = `${server.httpAddress}/gradus.v1.EnvironmentService/${method}`;
    return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  const spec = { environment: "np/clique", level: "easy" };
  const { task } = (await ask("Reset", { spec, seed: "3" })) as {
    task: { taskId: string; prompt: { content: string }[] };
  };
  const prompt = task.prompt.map(({ content }) => content).join("\n");
  const quoted = [...readme.matchAll(/^> (.+?)\\?$/gm)]
    .flatMap(([, line = ""]) => line.split("[…]"))
    .map((part) => part.trim())
    .filter((part) => part !== "");
  expect(quoted).toHaveLength(4);
  for (const line of quoted) expect(prompt).toContain(line);

  const answers = [...readme.matchAll(/^\| `(\[.*?\])` \|.*\| (\S+) \|$/gm)];
  expect(answers).toHaveLength(3);
  for (const [, answer = "", reward] of answers) {
    const step = await ask("Step", { taskId: task.taskId, completion: `<think>…</think><answer>${answer}</answer>` });
    expect(step, answer).toMatchObject({ outcome: { score: { reward: Number(reward) } } });
  }

  const [, draw = ""] = /^npx gradus (draw .*)$/m.exec(readme) ?? [];
  const { stdout } = await run("bash", ["-c", `cli/gradus ${draw}`], { cwd: repository });
  expect(stdout).toBe(readFileSync(join(repository, "docs/pictures/clique.svg"), "utf8"));
});

test.each(inLanguage("python"))("$where (python) runs", async ({ text }) => {
  // The snippet imports the checkout's client, not an installed one.
  const env = { ...process.env, PYTHONPATH: join(repository, "clients/python/src") };
  const options = { cwd: scratch, timeout: PATIENCE_MS, env };
  const { stdout } = await run(join(repository, ".venv/bin/python"), ["-c", here(text)], options);
  expectSaid(text, stdout);
});

test.each(inLanguage("ts"))("$where (ts) runs", async ({ where, text }) => {
  const file = join(scratch, `${where.replaceAll(/\W+/g, "-")}.ts`);
  writeFileSync(file, here(text));
  const { stdout } = await run(process.execPath, [file], { cwd: scratch, timeout: PATIENCE_MS });
  expectSaid(text, stdout);
});

/**
 * Replaces npx by the program that it starts, because npm takes longer to start than most commands to run. `npx` itself
 * runs the first snippet.
 */
let isFirst = true;
function started(command: string): string {
  const given = isFirst ? command : command.replaceAll(/\bnpx gradus\b/g, launcher);
  if (command.startsWith("npx")) isFirst = false;
  return given;
}

/** Lines with their continuations, less comments. */
function commandsOf(text: string): string[] {
  return text
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

const targets = new Set(
  [...readFileSync(join(repository, "Makefile"), "utf8").matchAll(/^([a-z-]+):/gm)].map(([, name]) => name),
);

test.each(inLanguage("sh").flatMap(({ where, text }) => commandsOf(text).map((command) => ({ where, command }))))(
  "$where (sh): $command",
  async ({ command }) => {
    const [program = "", first = ""] = command.split(" ");
    switch (program) {
      case "make":
        // `make test` runs this test, and the other commands take minutes. CI runs check and test, and the evidence
        // covers the demo.
        return expect(targets).toContain(first);
      case "python": {
        // Programs that run for minutes: that they start and know the flags.
        const flags = [...command.matchAll(/ (--[a-z-]+)/g)].map(([, flag]) => flag);
        const { stdout } = await run(join(repository, ".venv/bin/python"), [first, "--help"], { cwd: repository });
        for (const flag of flags) expect(stdout).toContain(flag);
        return;
      }
      case "npm":
      case "pip":
      case "docker":
        // Installs into other projects, and images: fresh-project.test.ts runs npm's, dockerfile.test.ts checks images.
        return expect(command).toMatch(/^(npm install|pip install|docker build) /);
      case "npx":
      case "curl": {
        // Commands on runs without a server use the one that `make serve` starts.
        const ofServer = /^npx gradus run (?!start)/.test(command) ? { GRADUS_SERVER: server.address } : {};
        // npx remembers by folder where a package's command was; a cache of this test's own knows no earlier checkout.
        const npm_config_cache = join(folder.path, "npm");
        const env = { ...process.env, GRADUS_DATA_DIR: folder.path, npm_config_cache, ...ofServer };
        const { stdout } = await run("bash", ["-euo", "pipefail", "-c", started(here(command))], {
          cwd: repository,
          env,
          timeout: PATIENCE_MS,
        });
        expect(stdout.trim()).not.toBe("");
        // A chart or a list of a run that drew nothing shows a newcomer nothing.
        if (/ run (start|watch|history) /.test(command)) expect(stdout).not.toMatch(/(?<!\d)0 (of \d+ )?tasks/);
        return expect(stdout).not.toContain("no effect");
      }
      default:
        throw new Error(`a document has a command that this test does not know how to check: ${command}`);
    }
  },
);
