/** Tests of programs that only wait in the sandbox: each harms only itself, and others wait for at most one of them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type Task } from "../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  const path = join(folder.path, "rows.jsonl");
  const row = { prompt: "Write a function seven() that returns 7.", tests: ["assert seven() == 7"], level: "easy" };
  writeFileSync(path, `${JSON.stringify(row)}\n`);
  server = await openServer({ pool: [`rows=${path}@train`], sandbox: "embedded", sandboxConcurrency: "1" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Undefined: there is no sandbox here, and the server says so. */
async function taskOf(): Promise<Task | undefined> {
  const asked = {
    environment: "code",
    level: "easy",
    source: "real",
    pool: "rows",
    answerFormat: "answer_tag",
  } as const;
  return server.client.reset({ ...asked, seed: 1n }).catch((error: unknown) => {
    expect(String(error)).toMatch(/this server runs no programs/);
    return undefined;
  });
}

const answer = (program: string): string => wrapAnswer(`\`\`\`python\n${program}\n\`\`\``, "answer_tag");
const RIGHT = answer("def seven(): return 7");
const SLEEPER = answer("import time\ndef seven():\n    time.sleep(1e6)\n    return 7");
const WORKING_AT_3_PERCENT = answer(`
import time
def seven():
    while True:
        until = time.perf_counter() + 0.0015
        while time.perf_counter() < until: pass
        time.sleep(0.0485)
`);

const metricsOf = async (): Promise<string> => (await fetch(`${server.http}/metrics`)).text();

async function jobsRan(): Promise<number> {
  return Number(/^gradus_sandbox_jobs_total\{outcome="ran"\} (\d+)$/m.exec(await metricsOf())?.[1] ?? 0);
}

test("a program that works at 3% of the processor has its 0, and is not tried again", async () => {
  const task = await taskOf();
  if (task === undefined) return;
  // The pool's tests were read there too.
  const before = await jobsRan();
  const outcome = await server.client.step(task, WORKING_AT_3_PERCENT);
  expect(outcome).toMatchObject({
    kind: "scored",
    solved: false,
    violation: expect.stringContaining("more than 5,000 ms of waiting") as string,
  });
  expect(await jobsRan()).toBe(before + 1);
  expect(await metricsOf()).not.toMatch(/gradus_sandbox_jobs_total\{outcome="(?!ran)/);
});

test("a client's right program waits for one of another's twelve that sleep, and for no more", async () => {
  const task = await taskOf();
  if (task === undefined) return;
  const left = new AbortController();
  const sleeping = Array.from({ length: 12 }, () =>
    server.client.step(task, SLEEPER, { signal: left.signal }).then(
      () => true,
      () => false,
    ),
  );
  const ended: boolean[] = [];
  for (const each of sleeping) void each.then((isScored) => ended.push(isScored));
  // The sleeping calls have arrived by then: the server answers a later call on their connection.
  await server.client.reset({ environment: "countdown", seed: 1n });
  const other = createClient(server.address);
  try {
    expect(await other.step(task, RIGHT)).toMatchObject({ kind: "scored", reward: 1 });
    expect(ended.length).toBeLessThanOrEqual(1);
  } finally {
    left.abort();
    other.close();
    await Promise.all(sleeping);
  }
});
