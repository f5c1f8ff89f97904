/** Tasks with turns on the command line: `gradus step` makes single calls, and `gradus play` plays a whole task. */
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const here = { cwd: folder.path };

const MASTERMIND = ["games/mastermind", "--level", "easy", "--seed", "1", "--tool", "guess"];

interface Shown {
  readonly taskId: string;
  readonly callsMax: number;
  readonly tools: readonly { readonly name: string }[];
}

const guessOf = (code: string): string => `guess={"code": [${code}]}`;

test("step makes calls of a tool, and prints the replies with the next task id", async () => {
  const made = await gradus(here, "reset", ...MASTERMIND, "--calls", "3", "--json");
  const task = JSON.parse(made.out) as Shown;
  expect(task).toMatchObject({ callsMax: 3, tools: [{ name: "guess" }] });
  expect((await gradus(here, "reset", ...MASTERMIND, "--calls", "3")).out).toMatch(/^calls +3\ntools +guess$/m);
  const first = await gradus(here, "step", task.taskId, "--call", guessOf("1, 1, 1"));
  expect([first.code, first.err]).toEqual([0, ""]);
  expect(first.out).toMatch(/^calls left +2\nturn reward +0\nnext task id +(\S+)\n\n--- tool guess\n\d of 3 in place/);
  const [, next = ""] = /next task id +(\S+)/.exec(first.out) ?? [];
  const both = ["--call", guessOf("1, 1, 2"), "--call", guessOf("1, 1, 3"), "--json"];
  expect(JSON.parse((await gradus(here, "step", next, ...both)).out)).toMatchObject({ score: { calls: 3 } });
  const ended = await gradus(here, "step", next, "--end");
  expect([ended.code, ended.out]).toEqual([0, expect.stringMatching(/^ended +ended, after 1 call$/m)]);
  const text = '<tool_call>{"name": "guess", "arguments": {"code": [1, 1, 2]}}</tool_call>';
  const inText = await gradus(here, "step", next, "--completion", text, "--text-tools");
  expect(inText.out).toMatch(/^calls left +1$/m);
  const wrong = await gradus(here, "step", next, "--call", "guess");
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("Want name=json")]);
  const changed = await gradus(here, "step", `${next.slice(0, -4)}AAAA`, "--end");
  expect(changed.code).toBe(1);
});

test("play takes calls of tools and answers by the line, until the score", async () => {
  const lines = ['guess {"code": [1, 1, 1]}', "guess {", "[1, 1, 2]"];
  const input = `${lines.join("\n")}\n`;
  const { code, out, err } = await gradus({ ...here, input }, "play", ...MASTERMIND, "--calls", "3");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^--- user\nI have a secret code[^]*Your call, of 3 left:\n--- tool guess\n\d of 3 in place/);
  expect(out).toMatch(/Your call, of 2 left:\n--- tool guess\nThe text of the arguments is not valid JSON\./);
  expect(out).toMatch(/Your call, of 1 left:\n\nreward +\S+\n[^]*ended +budget, after 3 calls/);
});

test("play ends an episode with its input, and takes one answer to a task without turns", async () => {
  const ended = await gradus({ ...here, input: "[0]\n" }, "play", "np/tsp", "--calls", "4");
  expect([ended.code, ended.out]).toEqual([0, expect.stringMatching(/The answer is wrong: [^]*ended, after 1 call/)]);
  const single = await gradus({ ...here, input: "1 + 1\n" }, "play", "countdown", "--level", "T0");
  expect([single.code, single.out]).toEqual([0, expect.stringMatching(/Your answer:\n\nreward +[^]*infeasible/)]);
  const none = await gradus({ ...here, input: "" }, "play", "countdown", "--level", "T0");
  expect(none.code).toBe(0);
  const unknown = await gradus({ ...here, input: "" }, "play", ...MASTERMIND.slice(0, 5), "--tool", "gues");
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("did you mean 'guess'")]);
});
