/** `gradus run start`, as its users type it: a look at a run, driven by the scripted policy. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";
import { smallRun as file, writerTo } from "./run-file.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const here = { cwd: folder.path };

const write = writerTo(folder.path);

test("a look at a run needs no server, and ends with what it drew, in lines and as a chart", async () => {
  const path = write("look.yaml", file.replace("run_id: small\n", ""));
  const { code, out, err } = await gradus(here, "run", "start", path, "--updates", "3");
  expect([code, err]).toEqual([0, expect.stringMatching(/The run ended with this command. With --server .*\n$/)]);
  expect(out).toMatch(/12 tasks\n\nout\/look\.svg\n$/);
  expect(existsSync(join(folder.path, "out/look.svg"))).toBe(true);
  const json = await gradus(here, "run", "start", path, "--json", "--chart", join(folder.path, "b.svg"));
  const { drawn } = JSON.parse(json.out) as { readonly drawn: Readonly<Record<string, number>> };
  expect((drawn["a"] ?? 0) + (drawn["b"] ?? 0)).toBe(16);
});

test("arms of a family are practised as those that are named one by one", async () => {
  const of = (arms: string): string => file.replace(/arms:\n(.*\n){2}/, `arms:\n${arms}`).replace("16", "128");
  const named = ["T0", "T1", "T2", "T3"].map(
    (level) => `  - { id: countdown/${level}, spec: { environment: countdown, level: ${level} } }\n`,
  );
  const [family, each] = [
    write("family.yaml", of('  - { spec: { environment: "count*", level: "T*" } }\n')),
    write("each.yaml", of(named.join(""))),
  ];
  const drawn = async (path: string): Promise<string> =>
    (await gradus(here, "run", "start", path, "--chart", join(folder.path, "family.svg"))).out;
  expect(await drawn(family)).toBe(await drawn(each));
});

test("a run with a reserve is driven to its end, or through so many update batches", async () => {
  const path = write("reserve.yaml", `${file}dynamic_sampling: { oversample_max: 3, alike: ALIKE_OUTCOMES_REWARDS }\n`);
  const chart = ["--chart", join(folder.path, "reserve.svg")];
  const drawn = async (...more: readonly string[]): Promise<string> =>
    (await gradus(here, "run", "start", path, ...chart, ...more)).out;
  // 4 update batches of 4 tasks to train on, and a reserve of 8.
  expect(await drawn()).toContain(" 48 tasks\n");
  expect(await drawn("--updates", "2")).toContain(" 24 tasks\n");
});

test("a chart that cannot be written is said before the run is driven", async () => {
  const path = write("huge.yaml", file.replace("16", "100000000"));
  const { code, out, err } = await gradus(here, "run", "start", path, "--chart", "nowhere/a.svg");
  expect([code, out]).toEqual([1, ""]);
  expect(err).toContain("--chart must be a file that can be written; got 'nowhere/a.svg': its folder is not there");
});

test("samples without a reward are said, with the reason", async () => {
  const path = write("programs.yaml", file.replaceAll(/environment: countdown, level: T\d/g, "environment: code"));
  const off = { ...here, env: { GRADUS_SANDBOX: "off" } };
  const { code, err } = await gradus(off, "run", "start", path, "--run-id", "programs");
  expect(code).toBe(0);
  expect(err).toMatch(
    /^gradus: \d+ of 32 samples have no reward: resource_unavailable: sandbox: there is no sandbox, because GRADUS_SANDBOX is off/,
  );
  const json = await gradus(off, "run", "start", path, "--run-id", "programs", "--json");
  const { unscored } = JSON.parse(json.out) as { readonly unscored: Readonly<Record<string, number>> };
  expect(unscored["resource_unavailable: sandbox"]).toBeGreaterThan(0);
});

test("a run that takes advantages is driven too", async () => {
  const path = write("reported.yaml", `${file}feedback_source: reported\n`);
  const { code, out } = await gradus(here, "run", "start", path, "--run-id", "reported");
  expect([code, out]).toEqual([0, expect.stringContaining("16 tasks")]);
});
