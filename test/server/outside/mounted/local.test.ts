/**
 * Tests of answers that one worker gets together: each has its own verdict, and none waits for another or is lost with
 * it.
 */
import { appendFileSync, copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readDescribed } from "../../../../server/outside/mounted/read-description.ts";
import { verifyOrAttribute } from "../../../../server/outside/mounted/attribute-failure.ts";
import { openLocal } from "../../../../server/outside/mounted/local-provider.ts";
import type { AskedEnvironment, Provider, VerifyResult } from "../../../../server/outside/mounted/provider.ts";
import { PYTHON, useCheckout } from "../../../support/mounted/mounts.ts";
import { temporaryFolder } from "../../../support/server-process.ts";

const { signal } = new AbortController();
const folder = temporaryFolder();
/** Reasons why the worker ended, in order. */
const ends: string[] = [];
let provider: Provider;
let asked: AskedEnvironment;

beforeAll(async () => {
  useCheckout();
  const target = join(folder.path, "echo.py");
  copyFileSync(join(import.meta.dirname, "../../../support/mounted/echo.py"), target);
  const options = { python: PYTHON, target, workers: 1, memoryMib: 512, allow: { read: [], net: [] } };
  const opened = await openLocal({ ...options, onFault: () => undefined, onWorkerEnd: (why) => void ends.push(why) });
  if (opened.kind === "failed") throw new Error(opened.why);
  ({ provider } = opened);
  const read = readDescribed(provider.described);
  const environment = read.kind === "ok" ? read.environments[0] : undefined;
  if (environment === undefined) throw new Error("it serves an environment");
  ({ asked } = environment);
});
beforeEach(() => void ends.splice(0));
afterAll(async () => {
  await provider.close();
  folder[Symbol.dispose]();
});

const verify = (answers: readonly string[]): readonly Promise<VerifyResult>[] => {
  const instance = Buffer.from("7");
  return answers.map((answer) => provider.verify(asked, { instance, answer }, { signal }));
};
const saidOf = (verified: VerifyResult): string =>
  verified.kind === "facts" ? verified.facts.violation : verified.failure;

test("each answer has its own verdict, of several frames and of more than a worker may hold", async () => {
  const answers = Array.from({ length: 150 }, (_, i) =>
    i % 3 === 0 ? "the same" : `${i < 64 ? "large" : "small"} ${i}`,
  );
  const found = await Promise.all(verify(answers));
  expect(found.map(saidOf)).toEqual(answers);
  expect(ends).toEqual([]);
});

test("one that ends its worker is told of once, and no other is lost or asked again", async () => {
  const answers = Array.from({ length: 60 }, (_, i) => (i === 30 ? "die" : `answer ${i}`));
  const found = await Promise.all(verify(answers));
  expect(found.map(saidOf)).toEqual(answers.map((answer) => (answer === "die" ? "crashed" : answer)));
  expect(ends).toEqual(["crashed"]);
});

test("what a verifier holds on to is not felt by what comes after", async () => {
  const answers = ["first", "hoard", "hoard", "hoard", "last"];
  for (const answer of answers) {
    const [found] = await Promise.all(verify([answer]));
    expect(found && saidOf(found)).toBe(answer);
  }
  // The second and the third exhaust the worker's memory, and are sent to a fresh worker.
  expect(ends).toEqual(["memory", "memory"]);
});

test("what needs a fresh worker has one of several ended, and not all that are free", async () => {
  const target = join(folder.path, "echo.py");
  const gone: string[] = [];
  const options = { python: PYTHON, target, workers: 3, memoryMib: 512, allow: { read: [], net: [] } };
  const opened = await openLocal({ ...options, onFault: () => undefined, onWorkerEnd: (why) => void gone.push(why) });
  if (opened.kind === "failed") throw new Error(opened.why);
  const several = opened.provider;
  // Three instances, so that each of the three workers serves one.
  const all = [1, 2, 3].map((instance) => ({ instance: Buffer.from(String(instance)), answer: "said" }));
  for (let round = 0; round < 5; round++)
    expect((await Promise.all(all.map((each) => several.verify(asked, each, { signal })))).map(saidOf)).toEqual(
      all.map(() => "said"),
    );
  const [first] = all;
  if (first !== undefined) expect(saidOf(await several.verify(asked, first, { signal, fresh: true }))).toBe("said");
  await several.close();
  // No worker ended if one of the three had not begun before.
  expect(["stale", ""]).toContain(gone.join());
});

test("a worker that is fresh for one environment serves it, and is not ended for it", async () => {
  const target = join(folder.path, "several.py");
  copyFileSync(join(import.meta.dirname, "../../../support/mounted/several.py"), target);
  const gone: string[] = [];
  const options = { python: PYTHON, target, workers: 1, memoryMib: 512, allow: { read: [], net: [] } };
  const opened = await openLocal({ ...options, onFault: () => undefined, onWorkerEnd: (why) => void gone.push(why) });
  if (opened.kind === "failed") throw new Error(opened.why);
  const { provider } = opened;
  const limits = { generateMs: 5000, verifyMs: 5000, advanceMs: 5000 };
  const make = async (at: number, fresh: boolean | "environment") => {
    const { id, version, digest, levels: [level] = [] } = provider.described.environments[at]!;
    const wanted = { level: level!.name, parametersJson: level!.parametersJson, seeds: [1n] };
    const [found] = await provider.generate({ id, version, digest, limits }, wanted, { signal, fresh });
    expect(found?.kind).toBe("made");
  };
  for (const [at, fresh, ends] of [
    [0, false, 0],
    [1, "environment", 0],
    [2, "environment", 0],
    [1, "environment", 1],
    [0, "environment", 1],
    [3, true, 2],
  ] as const) {
    await make(at, fresh);
    expect(gone).toEqual(Array.from({ length: ends }, () => "stale"));
  }
  await provider.close();
});

test("a host that is killed while it starts is started again, three times in all", async () => {
  const target = join(folder.path, "echo.py");
  const lives = join(folder.path, "lives");
  // The file has the number of starts that are left. Each start but the last kills itself.
  const program = ["import os, runpy", `lives = ${JSON.stringify(lives)}`, "left = int(open(lives).read()) - 1"];
  program.push("open(lives, 'w').write(str(left))", "left > 0 and os.kill(os.getpid(), 9)");
  program.push("runpy.run_module('gradus.serve.host', run_name='__main__')");
  const begin = async (starts: number) => {
    writeFileSync(lives, `${starts}`);
    const faults: string[] = [];
    const options = { python: PYTHON, target, workers: 1, memoryMib: 512, allow: { read: [], net: [] } };
    const onFault = (why: string): void => void faults.push(why);
    const opened = await openLocal({ ...options, program: ["-B", "-c", program.join("; ")], onFault });
    if (opened.kind === "opened") await opened.provider.close();
    return { opened, faults };
  };
  const killed = expect.stringContaining("SIGKILL") as string;
  expect(await begin(3)).toMatchObject({ opened: { kind: "opened" }, faults: [killed, killed] });
  expect(await begin(4)).toMatchObject({ opened: { kind: "failed", why: killed }, faults: [killed, killed] });
});

test("of a host whose sources changed one is tried at a time, and its end is no loss", async () => {
  const target = join(folder.path, "changing.py");
  const source = join(import.meta.dirname, "../../../support/mounted/echo.py");
  copyFileSync(source, target);
  const [faults, { promise: isDown, resolve: down }] = [[] as string[], Promise.withResolvers<void>()];
  let lost = 0;
  const options = { python: PYTHON, target, workers: 1, memoryMib: 512, allow: { read: [], net: [] } };
  const opened = await openLocal({
    ...options,
    onHostEnd: () => void lost++,
    onFault: (why) => {
      faults.push(why);
      if (why.includes("changed since it was mounted")) down();
    },
  });
  if (opened.kind === "failed") throw new Error(opened.why);
  appendFileSync(target, "\n# Another one.\n");
  process.kill(opened.provider.hostPid() as number, "SIGKILL");
  await isDown;
  await opened.provider.close();
  expect(faults).toHaveLength(2);
  expect(lost).toBe(1);
});

test("those before one that takes long do not wait for it", async () => {
  const [first, second, slow, last] = verify(["first", "second", "wait", "last"]);
  expect((await Promise.all([first, second])).map((each) => each && saidOf(each))).toEqual(["first", "second"]);
  // The worker may go on from here.
  writeFileSync(join(folder.path, "go"), "");
  expect(await slow).toMatchObject({ kind: "facts", facts: { violation: "" } });
  expect((await last)?.kind).toBe("facts");
  expect(ends).toEqual([]);
});

describe("another caller's answer waits for one item at most", () => {
  const [hostile, other] = ["hostile", "other"].map((caller) => ({ caller, connection: caller }));
  const [one, two] = [Buffer.from("1"), Buffer.from("2")];
  const ask = (instance: Buffer, answer: string, party: typeof other): Promise<VerifyResult> =>
    provider.verify(asked, { instance, answer }, { signal, party });

  test("if answers hang that are tried again by fresh workers", async () => {
    rmSync(join(folder.path, "go"), { force: true });
    const read = readDescribed(provider.described);
    const [found] = read.kind === "ok" ? read.environments : [];
    if (found === undefined) throw new Error("it serves an environment");
    // An item is late after little more than three seconds.
    const described = { ...found, asked: { ...found.asked, limits: { ...found.asked.limits, verifyMs: 1 } } };
    const judging = { provider, described, resource: "echo", canary: async () => "said" };
    const options = { signal, party: hostile };
    const hanging = [1, 2, 3].map((i) => verifyOrAttribute(judging, Buffer.from(`${100 + i}`), "wait", options));
    await new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < 3; i++) {
      const before = ends.length;
      expect(saidOf(await ask(one, "said", other))).toBe("said");
      expect(ends.length - before).toBeLessThanOrEqual(1);
    }
    writeFileSync(join(folder.path, "go"), "");
    await Promise.all(hanging);
  });

  test("if many slow ones were given to a worker together", async () => {
    let done = 0;
    const slow = Array.from({ length: 12 }, (_, i) => ask(two, `nap ${i}`, hostile).finally(() => done++));
    await expect.poll(() => done).toBe(1);
    expect(saidOf(await ask(one, "said", other))).toBe("said");
    expect(done).toBeLessThanOrEqual(3);
    expect((await Promise.all(slow)).map(saidOf)).toEqual(slow.map((_, i) => `nap ${i}`));
    expect(ends).toEqual(["stale"]);
  });
});

test("who leaves is waited for no longer: neither what is begun nor what follows it keeps its place", async () => {
  const leaving = new AbortController();
  const read = readDescribed(provider.described);
  const [described] = read.kind === "ok" ? read.environments : [];
  if (described === undefined) throw new Error("it serves an environment");
  const judging = { provider, described, resource: "echo", canary: () => Promise.reject(new Error("it asks on")) };
  rmSync(join(folder.path, "go"), { force: true });
  const judged = verifyOrAttribute(judging, Buffer.from("7"), "wait", { signal: leaving.signal });
  // The answer has reached the worker.
  await new Promise((resolve) => setImmediate(resolve));
  leaving.abort();
  writeFileSync(join(folder.path, "go"), "");
  expect(await judged).toMatchObject({ kind: "failed" });
  const [again] = await provider.generate(
    asked,
    { level: "all", parametersJson: "{}", seeds: [1n] },
    { signal: leaving.signal },
  );
  expect(again).toMatchObject({ kind: "failure", detail: "the caller stopped waiting" });
});

test("a host of an older Python package, which hides nothing, is refused in words", async () => {
  const older = "import gradus.serve._hosting as hosting, gradus.serve.host as host; hosting.WALLS = 0; host.main()";
  const target = join(folder.path, "echo.py");
  const options = { python: PYTHON, target, workers: 1, memoryMib: 512, allow: { read: [], net: [] } };
  const opened = await openLocal({ ...options, program: ["-B", "-c", older], onFault: () => undefined });
  expect(opened).toMatchObject({
    kind: "failed",
    why: expect.stringMatching(/older than this server.*install the package of this release/) as string,
  });
});

test("an environment among what the server hides is refused, and one beside it is not", async () => {
  const target = join(folder.path, "echo.py");
  const options = { python: PYTHON, target, workers: 1, memoryMib: 512, onFault: () => undefined };
  const opened = await openLocal({ ...options, allow: { read: [], net: [] }, hidden: [folder.path] });
  const why = `it lies in ${folder.path}, which is the server's own and hidden: move it elsewhere`;
  expect(opened).toEqual({ kind: "failed", why });
  const allow = { read: [join(folder.path, "tokens.yaml")], net: [] };
  expect(await openLocal({ ...options, allow, hidden: allow.read })).toMatchObject({
    kind: "failed",
    why: expect.stringMatching(
      /^--allow read=.*tokens\.yaml lies in .*tokens\.yaml, which is the server's own/,
    ) as string,
  });
});
