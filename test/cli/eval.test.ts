/** Tests of `gradus eval`, `export` and `calibrate` against a chat endpoint on loopback that sometimes fails. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Behaviour, type ChatServer, middlingAnswer, startChatServer } from "../support/chat-server.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";
import { type Ended, gradus, launcher, start } from "./gradus.ts";

const folder = temporaryFolder();
const here = { cwd: folder.path };
const at = (name: string): string => join(folder.path, name);
let middling: ChatServer;

const tsp = (name: string, cities: number, more: object = {}) => ({
  name,
  environment: "np/tsp",
  parameters: { cities_min: cities, cities_max: cities },
  tasks: 6,
  ...more,
});
const suites = {
  mini: [tsp("small", 5, { category: "a" }), tsp("large", 9, { category: "b" })],
  training: [
    { environment: "np/tsp", level: "easy", split: "train", tasks: 12 },
    { environment: "countdown", level: "T0", split: "train", tasks: 12 },
  ],
};

beforeAll(async () => {
  for (const [id, parts] of Object.entries(suites))
    writeFileSync(at(`${id}.json`), JSON.stringify({ id, version: 1, parts }));
  middling = await startChatServer((request, index) => ({ kind: "answer", content: middlingAnswer(request, index) }));
});
afterAll(async () => {
  await middling[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function evaluate(server: ChatServer, suite: keyof typeof suites | "countdown", ...more: string[]): Promise<Ended> {
  const own = suite === "countdown" ? [] : ["--suite-file", `${suite}.json`];
  return gradus(here, "eval", "--suite", suite, ...own, "--endpoint", server.url, "--model", "org/m-7b", ...more);
}

const read = (path: string): string => readFileSync(at(path), "utf8");

interface Written {
  readonly report: {
    readonly evaluation: { readonly evaluationId: string; readonly samplesScored: string };
    readonly overall: { readonly samples: string; readonly figures: Readonly<Record<string, number>> };
  };
  readonly settings: Readonly<Record<string, unknown>>;
}
const reportIn = (directory: string): Written => JSON.parse(read(`${directory}/report.json`)) as Written;

describe("gradus eval", () => {
  test("completes a suite, prints a table, writes the report, and has nothing to do the second time", async () => {
    const before = middling.requests.length;
    const ended = await evaluate(middling, "mini", "--samples", "2", "--out", "first", "--temperature", "0.6");
    expect([ended.code, ended.err]).toEqual([
      0,
      expect.stringMatching(/^evaluation mini-org-m-7b-[0-9a-f]{8}: 0 of 24/),
    ]);
    expect(ended.out).toMatch(/^ +samples +SR +QR +optimal/);
    expect(ended.out).toMatch(/^small +12 /m);
    expect(ended.out).toMatch(/^overall +24 /m);
    expect(ended.out).toContain("not comparable with the papers' tables");
    expect(middling.requests.length - before).toBe(24);
    expect(middling.requests.at(-1)).toMatchObject({ model: "org/m-7b", temperature: 0.6, authorization: undefined });
    expect(middling.requests.at(-1)).not.toHaveProperty("max_tokens");
    const written = reportIn("first");
    expect(written.settings).toEqual({ endpoint: middling.url, temperature: 0.6 });
    expect(written.report.overall.samples).toBe("24");
    const page = read("first/report.html");
    // Short answers of both parts, drawn.
    expect(page.match(/<img loading="lazy" alt="(small|large): /g)?.length).toBeGreaterThan(1);
    const [, picture = ""] = /src="data:image\/svg\+xml;base64,([^"]+)"/.exec(page) ?? [];
    expect(Buffer.from(picture, "base64").toString()).toMatch(/^<svg[^]*np\/tsp[^]*<\/svg>$/);
    const again = await evaluate(middling, "mini", "--samples", "2", "--out", "first", "--temperature", "0.6");
    expect([again.code, again.out]).toEqual([0, ended.out]);
    expect(middling.requests.length - before).toBe(24);
    expect(read("first/report.html")).toBe(page);
  });

  test("other settings are another evaluation, and --json is for machines", async () => {
    const choices = ["--max-tokens", "100", "--body", '{"top_p": 0.9}', "--json"];
    const { code, out, err } = await evaluate(middling, "mini", ...choices);
    expect([code, err]).toEqual([0, ""]);
    const { report, settings } = JSON.parse(out) as Written;
    expect(report.overall.samples).toBe("12");
    expect(settings).toEqual({ endpoint: middling.url, max_tokens: 100, top_p: 0.9 });
    expect(middling.requests.at(-1)).toMatchObject({ max_tokens: 100, top_p: 0.9 });
    expect(reportIn(`out/${report.evaluation.evaluationId}`).report).toEqual(report);
  });

  test("tries again after failures that pass, and sends the key", async () => {
    const failures: readonly Behaviour[] = [
      { kind: "status", status: 429, retryAfter: "0.05" },
      { kind: "status", status: 503, retryAfter: "0" },
      { kind: "reset" },
    ];
    const seen = new Map<string, number>();
    await using server = await startChatServer((request, index) => {
      const prompt = JSON.stringify(request.messages);
      const tries = seen.get(prompt) ?? 0;
      seen.set(prompt, tries + 1);
      const failure = tries === 0 ? failures[index % failures.length] : undefined;
      return failure ?? { kind: "answer", content: middlingAnswer(request, index), delayMs: 20 };
    });
    const settings = { ...here, env: { OPENAI_API_KEY: "a-key" } };
    const flags = ["--suite", "mini", "--suite-file", "mini.json", "--endpoint", server.url, "--model", "m"];
    const { code, out } = await gradus(settings, "eval", ...flags, "--concurrency", "4", "--out", "retried");
    expect([code, out]).toEqual([0, expect.stringMatching(/^overall +12 /m)]);
    expect(server.requests).toHaveLength(24);
    expect(server.requests[0]?.authorization).toBe("Bearer a-key");
    expect(server.peak()).toBeLessThanOrEqual(4);
  });

  test("when the endpoint refuses all, what is under way is not waited for", async () => {
    await using server = await startChatServer((_request, index) =>
      index === 0 ? { kind: "silence" } : { kind: "status", status: 404, message: "no such model" },
    );
    const { code, err } = await evaluate(server, "mini", "--out", "gone");
    expect([code, err]).toEqual([1, expect.stringContaining("the endpoint refuses all prompts: 404 no such model")]);
  });

  test("on a terminal there is a bar, and Ctrl-C leaves the terminal as it was", async () => {
    await using slow = await startChatServer((request, index) =>
      index < 4 ? { kind: "answer", content: middlingAnswer(request, index) } : { kind: "silence" },
    );
    const command = `eval --suite mini --suite-file mini.json --endpoint ${slow.url} --model m --concurrency 1`;
    const words = `${launcher} ${command} --out never`;
    const child = spawn("script", ["-qec", words, "/dev/null"], { cwd: folder.path, stdio: "pipe" });
    const shown = text(child.stdout);
    await expect.poll(() => slow.requests.length).toBeGreaterThan(3);
    child.stdin.write("\u0003");
    const terminal = await shown;
    child.stdin.end();
    expect(terminal).toMatch(/░ \d\/12 .* failed 0/);
    // Line wrapping, off and on again.
    expect(terminal.lastIndexOf("\u001b[?7h")).toBeGreaterThan(terminal.lastIndexOf("\u001b[?7l"));
    expect(existsSync(at("never/report.json"))).toBe(false);
  });

  // These two wait for most of their time.
  test.concurrent(
    "a reply that breaks off, stops or holds no completion is tried again, said, and never scored",
    async () => {
      const replies: readonly (readonly [Behaviour, words: string])[] = [
        [{ kind: "raw", body: '{"choices": [{', then: "reset" }, "the reply was cut off"],
        [{ kind: "raw", body: '{"choices": [{', then: "silence" }, "no complete reply within 5 s"],
        [{ kind: "raw", body: "{not JSON", then: "end" }, "the reply is not a completion: {not JSON"],
        [
          { kind: "raw", body: "<html>\u001b[2J\nhello", then: "end" },
          "the reply is not a completion: <html>\\u{1b}[2J hello",
        ],
        [{ kind: "raw", body: '{"error": {"message": "full"}}', then: "end" }, '{"error": {"message": "full"}}'],
        [{ kind: "raw", body: '{"choices": []}', then: "end" }, 'the reply is not a completion: {"choices": []}'],
        [{ kind: "raw", body: "null", then: "end" }, "the reply is not a completion: null"],
        [{ kind: "status", status: 204 }, "the reply is not a completion"],
      ];
      await using server = await startChatServer(
        (request, index) => replies[index]?.[0] ?? { kind: "answer", content: middlingAnswer(request, index) },
      );
      const flags = ["--timeout-ms", "5000", "--concurrency", "4", "--out", "broken"];
      const { code, out, err } = await evaluate(server, "mini", ...flags);
      expect([code, out]).toEqual([0, expect.stringMatching(/^overall +12 /m)]);
      for (const [, words] of replies) expect(err).toContain(words);
      expect(err).not.toMatch(/^ +at |\u001b/m);
      // A good reply may be late too, where the machine has much else to do.
      expect(server.requests.length).toBeGreaterThanOrEqual(12 + replies.length);
      const late = await evaluate(
        server,
        "mini",
        "--model",
        "late",
        "--deadline-ms",
        "1000",
        "--endpoint",
        "http://127.0.0.1:1/",
      );
      expect(late.err).toContain("no completion within 1 s; the last attempt: connect ECONNREFUSED 127.0.0.1:1");
      expect(late.code).toBe(1);
    },
  );

  test.concurrent("a prompt that gets no answer in time, or is refused, is left for another run", async () => {
    let wellAgain = false;
    await using server = await startChatServer((request, index) => {
      if (!wellAgain && index === 3) return { kind: "silence" };
      if (!wellAgain && index === 5) return { kind: "status", status: 400, message: "the context is too long" };
      return { kind: "answer", content: middlingAnswer(request, index) };
    });
    const flags = ["--deadline-ms", "5000", "--concurrency", "1", "--out", "patched"];
    const first = await evaluate(server, "mini", ...flags);
    expect(first.code).toBe(1);
    expect(first.err).toMatch(/2 samples are missing: .* 400 the context is too long/);
    expect(reportIn("patched").report.overall.samples).toBe("10");
    expect(read("patched/report.html")).toContain("2 are missing");
    wellAgain = true;
    const before = server.requests.length;
    const second = await evaluate(server, "mini", ...flags);
    expect(second.code).toBe(0);
    expect(second.err).toContain("10 of 12 samples are scored");
    expect(server.requests.length - before).toBe(2);
  });

  test("an endpoint that refuses all, or fails all, is given up, and says why", async () => {
    await using closed = await startChatServer(() => ({ kind: "status", status: 401, message: "no such key" }));
    const refused = await evaluate(closed, "mini", "--concurrency", "2");
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining("the endpoint refuses all prompts: 401 no such key"),
    ]);
    expect(closed.requests.length).toBeLessThanOrEqual(4);
    await using broken = await startChatServer(() => ({ kind: "status", status: 400, message: "bad body" }));
    const failed = await evaluate(broken, "mini", "--concurrency", "2");
    expect(failed.err).toMatch(/3 completions in a row failed; the last failure: 400 bad body/);
    expect(failed.code).toBe(1);
  });

  test("killed on the way, it resumes where it was", async () => {
    await using slow = await startChatServer((request, index) => ({
      kind: "answer",
      content: middlingAnswer(request, index),
      delayMs: 20,
    }));
    const args = ["eval", "--suite", "countdown", "--endpoint", slow.url, "--model", "m", "--out", "resumed"];
    const child = start([...args, "--concurrency", "4"], here);
    await expect.poll(() => slow.requests.length).toBeGreaterThan(100);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await ended;
    const { code, err } = await gradus(here, ...args, "--concurrency", "32");
    expect(code).toBe(0);
    const there = Number(/: (\d+) of 500 samples are scored/.exec(err)?.[1]);
    expect(there).toBeGreaterThan(50);
    expect(reportIn("resumed").report.overall.samples).toBe("500");
    // Only the requests under way when the command was killed are sent twice.
    expect(slow.requests.length).toBeLessThanOrEqual(500 + 2 * 4);
  });

  test("thinking that the endpoint gives apart is part of the completion", async () => {
    await using server = await startChatServer((request, index) => ({
      kind: "answer",
      content: middlingAnswer(request, index).replace(/^<think>[^]*<\/think>\n/, ""),
      reasoning: "Well now.",
    }));
    const { code } = await evaluate(server, "mini", "--out", "thinking", "--evaluation-id", "thinking");
    expect(code).toBe(0);
    const { report } = reportIn("thinking");
    expect(report.overall.figures["malformed_rate"]).toBeLessThan(0.5);
  });

  test("a running server can keep the evaluation", async () => {
    const server = await startServer(at("server-data"), "--suite-file", at("mini.json"));
    const flags = ["--suite", "mini", "--endpoint", middling.url, "--model", "m", "--server", server.address];
    const { code, out } = await gradus(here, "eval", ...flags, "--evaluation-id", "kept", "--out", "kept");
    expect([code, out]).toEqual([0, expect.stringMatching(/^overall +12 /m)]);
    const exported = ["export", "--server", server.address, "--evaluation-id", "kept", "--out", "kept.jsonl"];
    expect((await gradus(here, ...exported)).err).toContain("12 rows are of the bench split");
    expect((await gradus(here, ...exported, "--allow-bench", "--ratio-above", "-1")).code).toBe(0);
    await server.kill("SIGTERM");
  });

  test.each([
    [["--suite", "frge-bench"], 3, "there is no suite 'frge-bench'"],
    [["--suite", "mini", "--suite-file", "nowhere.json"], 3, "--suite-file nowhere.json: the file cannot be read"],
    [["--suite", "mini", "--suite-file", "mini.json", "--body", "[1]"], 2, "Want a JSON object"],
    [["--suite", "mini", "--suite-file", "mini.json", "--temperature", "warm"], 2, "Want a number from 0"],
    [["--suite", "mini", "--suite-file", "mini.json", "--evaluation-id", "a b"], 2, "evaluation_id"],
    [["--suite", "mini", "--suite-file", "mini.json", "--body", '{"n": 2}'], 2, "'n' must not be in --body"],
    [["--suite", "mini", "--endpoint", "localhost:8000/v1"], 2, "'localhost:8000/v1' is invalid. Want a URL"],
    [["--suite", "mini", "--model", " "], 2, "'--model <name>' argument ' ' is invalid. Want a name"],
    [["--suite", "mini", "--suite-file", "mini.json", "--out", "mini.json"], 1, "--out must be a directory"],
  ])("gradus eval %j", async (args, code, words) => {
    const ended = await gradus(here, "eval", "--endpoint", "http://127.0.0.1:1/v1", "--model", "m", ...args);
    expect(ended.err).toContain(words);
    expect([ended.code, ended.out]).toEqual([code, ""]);
  });
});

interface Row {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly environment: string;
  readonly level: string;
  readonly split: string;
  readonly ratio: number;
  readonly solved: boolean;
  readonly source: string;
  readonly group_id: string;
}
const rowsIn = (path: string): readonly Row[] =>
  read(path)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);

describe("gradus export", () => {
  beforeAll(async () => {
    expect((await evaluate(middling, "training", "--samples", "4", "--evaluation-id", "rft")).code).toBe(0);
  });

  test("writes good completions of an evaluation, evenly, as JSONL and as Parquet", async () => {
    const evaluation = ["--evaluation-id", "rft", "--suite-file", "training.json"];
    const { code, err } = await gradus(here, "export", ...evaluation, "--out", "rft.jsonl");
    expect([code, err]).toEqual([0, expect.stringMatching(/^\d+ rows in rft.jsonl: countdown \d+ of \d+, np\/tsp/)]);
    const rows = rowsIn("rft.jsonl");
    const counts = [...Map.groupBy(rows, ({ environment }) => environment).values()].map(({ length }) => length);
    expect(counts).toHaveLength(2);
    expect(counts[0]).toBe(counts[1]);
    for (const { ratio, messages, source, split } of rows) {
      expect(ratio).toBeGreaterThan(0.5);
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
      expect([source, split]).toEqual(["org/m-7b", "train"]);
    }
    expect((await gradus(here, "export", ...evaluation, "--out", "rft.parquet")).code).toBe(0);
    const file = await asyncBufferFromFile(at("rft.parquet"));
    expect(await parquetReadObjects({ file })).toEqual(rows);
  });

  test("writes only the environments and levels of an evaluation that are asked for", async () => {
    const choices = ["--evaluation-id", "rft", "--suite-file", "training.json", "--environment", "np/tsp"];
    const { code, err } = await gradus(here, "export", ...choices, "--out", "some.jsonl");
    expect([code, err]).toEqual([0, expect.stringMatching(/^\d+ rows in some.jsonl: np\/tsp (\d+) of \1\n$/)]);
    const none = await gradus(here, "export", ...choices, "--level", "hard", "--out", "none.jsonl");
    const said = "gradus: --level: no graded completion is of level 'hard': there are completions of T0, easy\n";
    expect([none.code, none.err]).toEqual([3, said]);
    expect(existsSync(at("none.jsonl"))).toBe(false);
  });

  test("a condition says what is good by itself, unless a ratio is asked for too", async () => {
    const flags = ["--evaluation-id", "rft", "--suite-file", "training.json", "--per-environment", "1000"];
    const ratiosOf = async (...more: readonly string[]): Promise<readonly number[]> => {
      expect((await gradus(here, "export", ...flags, "--out", "where.jsonl", ...more)).err).toContain("rows in");
      return rowsIn("where.jsonl").map(({ ratio }) => ratio);
    };
    const all = await ratiosOf("--ratio-above", "-1");
    expect(await ratiosOf("--where", "reward>=-100")).toEqual(all);
    expect(Math.min(...all)).toBeLessThanOrEqual(0.5);
    expect(Math.min(...(await ratiosOf("--where", "reward>=-100", "--ratio-above", "0.5")))).toBeGreaterThan(0.5);
    const none = await gradus(here, "export", ...flags, "--out", "none.jsonl", "--where", "reward>9");
    expect([none.code, none.err]).toEqual([1, expect.stringMatching(/gradus: no completion meets every --where\n$/)]);
    expect(none.err).toMatch(/^warning: .*: none of \d+ completions meets every --where, so none is written$/m);
  });

  test.each(["boxed", "answer_tag", "answer_line"])("a solver's %s answer begins at once", async (format) => {
    const flags = [
      "--solver",
      "--environment",
      "countdown",
      "--level",
      "T0",
      "--count",
      "2",
      "--answer-format",
      format,
    ];
    await gradus(here, "export", ...flags, "--out", "begins.jsonl");
    for (const { messages } of rowsIn("begins.jsonl"))
      expect(messages.at(-1)?.content).toMatch(/^(\\boxed|<answer>|Answer:)/);
  });

  test("an export that is broken off leaves what was there, and no file that looks whole", async () => {
    writeFileSync(at("old.jsonl"), "as it was\n");
    const child = start(["export", "--solver", "--count", "100000", "--out", "old.jsonl"], here);
    await expect.poll(() => existsSync(at("old.jsonl.partial"))).toBe(true);
    const ended = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
    child.kill("SIGINT");
    expect(await ended).toBe("SIGINT");
    expect(read("old.jsonl")).toBe("as it was\n");
    const level = ["--solver", "--level", "easy", "--count", "1", "--out", "old.jsonl"];
    const { err } = await gradus(here, "export", ...level, "--environment", "np/tsp", "--environment", "np/tsp");
    expect(err).toBe("1 rows in old.jsonl: np/tsp 1 of 1\n");
    expect(rowsIn("old.jsonl")).toHaveLength(1);
    expect(existsSync(at("old.jsonl.partial"))).toBe(false);
    // Without --environment the rows come from all environments that have the level.
    expect((await gradus(here, "export", ...level)).err).toMatch(
      /^12 rows in old.jsonl: math\/arithmetic 1 of 1.*np\/tsp 1 of 1$/m,
    );
  });

  test("writes the solvers' answers to new tasks", async () => {
    const choices = ["--environment", "np/tsp", "--environment", "countdown", "--count", "5", "--level", "easy"];
    const wrong = await gradus(here, "export", "--solver", ...choices, "--out", "sft.jsonl");
    expect([wrong.code, wrong.err]).toEqual([2, "gradus: --level: countdown has T0, T1, T2, T3\n"]);
    const { code, err } = await gradus(here, "export", "--solver", ...choices, "--level", "T1", "--out", "sft.jsonl");
    expect([code, err]).toEqual([0, "10 rows in sft.jsonl: countdown 5 of 5, np/tsp 5 of 5\n"]);
    const rows = rowsIn("sft.jsonl");
    expect(new Set(rows.map(({ group_id }) => group_id)).size).toBe(10);
    for (const row of rows) expect(row).toMatchObject({ ratio: 1, solved: true, source: "solver", split: "train" });
    expect(new Set(rows.map(({ level }) => level))).toEqual(new Set(["easy", "T1"]));
  });

  test("of some of the solvers' answers the levels take turns", async () => {
    const choices = ["--environment", "countdown", "--count", "40", "--per-environment", "5"];
    const { code } = await gradus(here, "export", "--solver", ...choices, "--out", "five.jsonl");
    expect([code, rowsIn("five.jsonl").map(({ level }) => level)]).toEqual([0, ["T0", "T1", "T2", "T3", "T0"]]);
  });

  test.each([
    [["--out", "a.csv", "--solver"], 2, "--out must end in .jsonl or .parquet"],
    [["--out", "a.jsonl"], 2, "give either --evaluation-id or --solver"],
    [
      ["--out", "a.jsonl", "--solver", "--environment", "np/tps"],
      3,
      "there is no 'np/tps' with a solver and tasks of one completion",
    ],
    [["--out", "a.jsonl", "--solver", "--split", "bench"], 2, "--split bench is for benchmarks, not for training"],
    [["--out", "nowhere/a.jsonl", "--solver"], 1, "--out must be a file that can be written; got 'nowhere/a.jsonl'"],
    [["--out", "a.jsonl", "--evaluation-id", "rft", "--count", "5"], 2, "cannot be used with option"],
    [["--out", "a.jsonl", "--evaluation-id", "nobody"], 3, 'there is no evaluation "nobody"'],
    [
      ["--out", "a.jsonl", "--solver", "--ratio-above", "1", "--count", "1"],
      1,
      "no completion with a ratio above 1 in",
    ],
  ])("gradus export %j", async (args, code, words) => {
    const ended = await gradus(here, "export", ...args);
    expect(ended.err).toContain(words);
    expect([ended.code, ended.out]).toEqual([code, ""]);
  });
});

test("gradus calibrate reads reports", async () => {
  await evaluate(middling, "mini", "--out", "calibrated", "--samples", "4");
  const { code, out } = await gradus(here, "calibrate", "--report", "calibrated/report.json", "--json");
  expect(code).toBe(0);
  const chosen = JSON.parse(out) as readonly { environment: string; band: { level: string } }[];
  expect(chosen.map(({ environment, band }) => `${environment} ${band.level}`)).toEqual([
    "np/tsp easy",
    "np/tsp medium",
    "np/tsp hard",
  ]);
  expect((await gradus(here, "calibrate", "--report", "calibrated/report.json")).out).toMatch(/cities_max=\d/);
  writeFileSync(at("other.json"), "{}");
  const wrong = await gradus(here, "calibrate", "--report", "other.json");
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("must be a report.json of gradus eval")]);
});
