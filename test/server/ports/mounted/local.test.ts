/** Answers that one worker is given together: each has its own verdict, and none waits for another or is lost with it. */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readDescribed } from "../../../../server/ports/mounted/described.ts";
import { openLocal } from "../../../../server/ports/mounted/local.ts";
import type { Verified } from "../../../../server/ports/mounted/provider.ts";
import { PYTHON, useCheckout } from "../../../support/mounted/mounts.ts";
import { temporaryFolder } from "../../../support/server-process.ts";

const ECHO_FILE = join(import.meta.dirname, "../../../support/mounted/echo.py");
const { signal } = new AbortController();

/** A provider with one worker. What ended is told by `ends`. */
async function openEcho(target: string) {
  useCheckout();
  const ends: string[] = [];
  const allow = { read: [], net: [] };
  const options = { python: PYTHON, target, workers: 1, memoryMib: 512, allow };
  const opened = await openLocal({ ...options, onFault: () => undefined, onWorkerEnd: (why) => void ends.push(why) });
  if (opened.kind === "failed") throw new Error(opened.why);
  const { provider } = opened;
  const read = readDescribed(provider.described);
  const asked = read.kind === "ok" ? read.environments[0]?.asked : undefined;
  if (asked === undefined) throw new Error("it serves an environment");
  const instance = Buffer.from("7");
  return {
    ends,
    verify: (answers: readonly string[]): readonly Promise<Verified>[] =>
      answers.map((answer) => provider.verify(asked, { instance, answer }, { signal })),
    [Symbol.asyncDispose]: () => provider.close(),
  };
}

const saidOf = (verified: Verified): string =>
  verified.kind === "facts" ? verified.facts.violation : verified.failure;

test("each answer has its own verdict, of several frames and of more than a worker may hold", async () => {
  await using echo = await openEcho(ECHO_FILE);
  const answers = Array.from({ length: 150 }, (_, i) =>
    i % 3 === 0 ? "the same" : `${i < 64 ? "large" : "small"} ${i}`,
  );
  const found = await Promise.all(echo.verify(answers));
  expect(found.map(saidOf)).toEqual(answers);
  expect(echo.ends).toEqual([]);
});

test("one that ends its worker is told of once, and no other is lost or asked again", async () => {
  await using echo = await openEcho(ECHO_FILE);
  const answers = Array.from({ length: 60 }, (_, i) => (i === 30 ? "die" : `answer ${i}`));
  const found = await Promise.all(echo.verify(answers));
  expect(found.map(saidOf)).toEqual(answers.map((answer) => (answer === "die" ? "crashed" : answer)));
  expect(echo.ends).toEqual(["crashed"]);
});

test("those before one that takes long do not wait for it", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "echo.py");
  copyFileSync(ECHO_FILE, file);
  await using echo = await openEcho(file);
  const [first, second, slow, last] = echo.verify(["first", "second", "wait", "last"]);
  expect((await Promise.all([first, second])).map((each) => each && saidOf(each))).toEqual(["first", "second"]);
  // Only now it may go on.
  writeFileSync(join(folder.path, "go"), "");
  expect(await slow).toMatchObject({ kind: "facts", facts: { violation: "" } });
  expect((await last)?.kind).toBe("facts");
  expect(echo.ends).toEqual([]);
});
