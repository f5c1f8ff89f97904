/** `gradus keys` against a server that runs. */
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openServer } from "../support/in-process.ts";
import { eventually, PATIENCE_MS } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

interface Shown {
  readonly file: string;
  readonly keys: readonly { readonly key: string; readonly signs: boolean }[];
}

async function keys(...args: readonly string[]): Promise<Shown> {
  const { code, out, err } = await gradus({ cwd: folder.path }, "keys", ...args, "--json", "--quiet");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out) as Shown;
}

test(
  "rotated and retired while the server runs: no task is refused until its key is retired",
  { timeout: PATIENCE_MS },
  async () => {
    await using server = await openServer();
    const at = ["--data-dir", server.dataDir];
    const choice = { environment: "countdown", level: "T0", seed: 1n } as const;
    const old = await server.client.reset(choice);
    const [first] = (await keys("list", ...at)).keys;
    const rotated = await keys("rotate", ...at);
    expect(rotated.keys.map(({ signs }) => signs)).toEqual([true, false]);
    expect(rotated.keys[1]?.key).toBe(first?.key);
    expect(statSync(rotated.file).mode & 0o777).toBe(0o600);
    const renewed = await eventually(async () => {
      const task = await server.client.reset(choice);
      expect(task.taskId).not.toBe(old.taskId);
      return task;
    });
    const reasonOf = async (task: typeof old) => {
      const outcome = await server.client.step(task, "<answer>1</answer>");
      return outcome.kind === "unscored" ? outcome.reason : outcome.kind;
    };
    expect(await Promise.all([old, renewed].map(reasonOf))).toEqual(["scored", "scored"]);

    const signing = await gradus({ cwd: folder.path }, "keys", "retire", rotated.keys[0]?.key ?? "", ...at);
    expect([signing.code, signing.err]).toEqual([
      1,
      expect.stringContaining("is the key that signs new task ids, and cannot be retired"),
    ]);
    expect((await keys("retire", first?.key ?? "", ...at)).keys).toHaveLength(1);
    await eventually(async () => expect(await reasonOf(old)).toBe("invalid_task_id"));
    expect(await reasonOf(renewed)).toBe("scored");
  },
);

test("comments and the mode of the owner stay; what is under way, missing or unknown is refused", async () => {
  const file = join(folder.path, "keys");
  const change = async (...args: readonly string[]) => {
    const { code, err } = await gradus({ cwd: folder.path }, "keys", ...args, "--key-file", "keys", "--quiet");
    return [code, err];
  };
  expect(await change("list")).toEqual([3, expect.stringContaining("key file keys: ENOENT")]);
  expect(await change("rotate")).toEqual([3, expect.stringContaining("there is no key file keys: a server makes it")]);
  writeFileSync(file, `# ours\n${"a1".repeat(32)}\n`);
  chmodSync(file, 0o644);
  expect(await change("rotate")).toEqual([0, ""]);
  expect(readFileSync(file, "utf8")).toMatch(/^# ours\n[0-9a-f]{64}\n(a1){32}\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await change("retire", "00000000")).toEqual([
    3,
    expect.stringContaining("there is no key 00000000 in it; there are: "),
  ]);
  writeFileSync(`${file}.new`, "");
  expect(await change("rotate")).toEqual([
    1,
    expect.stringContaining("keys.new exists; if there is none, delete that file"),
  ]);
  expect(readFileSync(`${file}.new`, "utf8")).toBe("");
  writeFileSync(file, "not a key");
  expect(await change("list")).toEqual([2, expect.stringContaining("key 1 is not 64 hex digits")]);
});
