/** `gradus simulate`, as its users start it. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../support/patience.ts";
import { gradus, launcher } from "./gradus.ts";

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "gradus-simulate-"));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const arms = ["easy", "medium", "hard", "benchmark"]
  .flatMap((level) => ["np/tsp", "np/clique"].map((environment) => ({ level, environment })))
  .map(
    ({ level, environment }) =>
      `  - { id: ${environment}/${level}, spec: { environment: ${environment}, level: ${level} } }`,
  );

const tiers = ["easy", "medium", "hard", "benchmark"].map(
  (level) => `      - { weights: { np/tsp/${level}: 1, np/clique/${level}: 1 } }`,
);

function write(name: string, policy: string, more = ""): string {
  const text = `run_id: ${name}\narms:\n${arms.join("\n")}\npolicy:\n${policy}\nnum_generations: 8\nprompts_per_update: 16\n${more}`;
  writeFileSync(join(cwd, `${name}.yaml`), text);
  return `${name}.yaml`;
}

const competence = `  competence:\n    step: move_on\n    floor: 0.3\n    tiers:\n${tiers.join("\n")}`;

interface Report {
  readonly ratio: { readonly value: number };
  readonly given: { readonly lost: number; readonly wasted: number };
  readonly arms: readonly { readonly id: string; readonly share: number; readonly learnable: boolean }[];
  readonly drawn: readonly { readonly shares: readonly number[] }[];
}

test("refuses arms that grow", async () => {
  const grown = "arms:\n  - { id: paths, spec: { environment: np/tsp }, grow: { axis: cities, start: 4 } }\n";
  writeFileSync(
    join(cwd, "grown.yaml"),
    `run_id: grown\n${grown}policy:\n  frontier: {}\nnum_generations: 8\nprompts_per_update: 16\n`,
  );
  const refused = await gradus({ cwd }, "simulate", "grown.yaml", "--quiet");
  expect(refused).toMatchObject({ code: 2, out: "" });
  expect(refused.err).toContain("arm 'paths' grows, and simulated students know fixed levels only");
});

test("says how soon a configuration arrives beside equal shares, and charts what it draws", async () => {
  const file = write("tiers", competence);
  const flags = ["--updates", "200", "--seeds", "4"];
  // Quiet, for on a slow machine it says how far it is.
  const shown = await gradus({ cwd }, "simulate", file, ...flags, "--quiet", "--chart", "tiers.svg");
  expect(shown).toMatchObject({ code: 0, err: "" });
  expect(shown.out).toMatch(/tiers +\d+ +0 of 4/);
  expect(shown.out).toMatch(/equal shares +\d+ +0 of 4/);
  expect(shown.out).toMatch(/It needs 0\.\d\d of the rollouts of equal shares/);
  expect(readFileSync(join(cwd, "tiers.svg"), "utf8")).toMatch(/^<svg xmlns[\s\S]*np\/tsp\/benchmark[\s\S]*<\/svg>\n$/);

  const [first, second] = await Promise.all([1, 2].map(() => gradus({ cwd }, "simulate", file, ...flags, "--json")));
  expect(first?.out).toBe(second?.out);
  const report = JSON.parse(first?.out ?? "") as Report;
  expect(report.ratio.value).toBeLessThan(0.9);
  // The run begins with the easy tier.
  expect((report.drawn[0]?.shares[0] ?? 0) + (report.drawn[0]?.shares[1] ?? 0)).toBeGreaterThan(0.5);
});

test("levels of the environment say what is hard, and --difficulty says otherwise", async () => {
  const file = write("even", "  mixture: {}", "length: 320\n");
  const of = async (...flags: readonly string[]): Promise<Report> => {
    const { out } = await gradus(
      { cwd },
      "simulate",
      file,
      "--student",
      "hopeless arm",
      "--seeds",
      "2",
      "--json",
      ...flags,
    );
    return JSON.parse(out) as Report;
  };
  const hopeless = ({ arms: all }: Report): string[] => all.filter(({ learnable }) => !learnable).map(({ id }) => id);
  for (const id of hopeless(await of())) expect(id).toMatch(/benchmark$/);
  for (const id of hopeless(await of("--difficulty", "np/tsp/easy=9")))
    expect(id).toMatch(/^np\/(tsp\/easy|clique\/benchmark)$/);
});

test("what is wrong is named: the file's line, the student, the level", async () => {
  const wrong = write("wrong", "  bandit:\n    ema_softmax: { alpha: 2 }");
  expect(await gradus({ cwd }, "simulate", wrong)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/wrong\.yaml:13: .*alpha/) as string,
  });
  const file = write("right", "  mixture: {}");
  const unknown = await gradus({ cwd }, "simulate", file, "--student", "quick");
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('give one of "fast"') as string });
  const level = await gradus({ cwd }, "simulate", file, "--difficulty", "np/tps=1");
  expect(level).toMatchObject({ code: 2, err: expect.stringContaining("is not an arm of the run") as string });
});

test("what would be wasted is refused before the students live", async () => {
  const file = write("late", competence);
  const long = ["--seeds", "1000", "--updates", "100000"];
  expect(await gradus({ cwd }, "simulate", file, ...long, "--chart", "nowhere/a.svg")).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("--chart must be a file that can be written; got 'nowhere/a.svg'") as string,
  });
  expect(await gradus({ cwd }, "simulate", file, ...long, "--student", "./nobody.mjs")).toMatchObject({
    code: 3,
    err: "gradus: --student: ./nobody.mjs: there is no such file\n",
  });
  const twice = ["--difficulty", "np/tsp/easy=1", "--difficulty", "np/tsp/easy=2"];
  expect(await gradus({ cwd }, "simulate", file, ...long, ...twice)).toMatchObject({
    code: 2,
    err: 'gradus: --difficulty: "np/tsp/easy" is given twice\n',
  });
  writeFileSync(
    join(cwd, "one.yaml"),
    "arms:\n  - { id: a, spec: { environment: np/tsp, level: easy } }\npolicy: { mixture: {} }\nnum_generations: 8\nprompts_per_update: 16\n",
  );
  for (const student of ["hopeless arm", "misleading arm"])
    expect(await gradus({ cwd }, "simulate", "one.yaml", ...long, "--student", student)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("--student: the student can learn none of the run's arms") as string,
    });
});

test("a student of one's own is a file", async () => {
  const text = `const student = { learnable: [true, true], target: 0.5, initial: 0, chance: (mind) => mind,
    success: (mind) => Array(8).fill(mind), learn: (mind) => Math.min(1, mind + 0.1) };
  export const student_ = student;
  export { family as student };
  const family = { name: "mine", models: "practice", create: () => ({ ...student, learnable: Array(8).fill(true) }) };`;
  writeFileSync(join(cwd, "mine.mjs"), text);
  const file = write("own", "  mixture: {}", "length: 320\n");
  const { code, out } = await gradus({ cwd }, "simulate", file, "--student", "./mine.mjs", "--seeds", "2", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ given: { rollouts: 5 * 16 * 8, lost: 0 }, ratio: { value: 1 } });
});

test.each([
  ["undefined", "create() must give a student with functions chance, success and learn"],
  ["{ ...whole, learnable: [true] }", "learnable must have a value for each of 8 arms"],
  ["{ ...whole, target: 75 }", "target must be above 0 and at most 1, not 75"],
  ["{ ...whole, success: () => [0.5, NaN] }", "success() must give a share from 0 to 1 of each of 8 arms"],
])("a student that is %s is refused in words", async (made, words) => {
  const text = `const all = (value) => Array(8).fill(value);
  const whole = { learnable: all(true), target: 0.5, initial: 0, chance: () => 0.5, success: () => all(0.5), learn: () => 0 };
  export const student = { name: "mine", models: "slips", create: () => (${made}) };`;
  const name = `slip-${made.length}.mjs`;
  writeFileSync(join(cwd, name), text);
  const ended = await gradus({ cwd }, "simulate", write("slips", "  mixture: {}"), "--student", `./${name}`);
  expect(ended).toEqual({ code: 2, out: "", err: `gradus: --student: ./${name}: ${words}\n` });
});

test("while students live, a log is told how far they are, and an npx that is killed takes them with it", async () => {
  const file = write("long", competence);
  // Gives the shell the name that npx has in the list of processes.
  const asNpx = `exec -a "npm exec gradus" bash -c '"$0" "$@"; true' "$0" "$@"`;
  // With --json on standard output, the command still reports its progress on standard error.
  const command = [launcher, "simulate", file, "--seeds", "1000", "--updates", "10000", "--json"];
  const child = spawn("bash", ["-c", asNpx, ...command], { cwd, stdio: "pipe" });
  let err = "";
  child.stderr?.on("data", (bytes: Buffer) => (err += bytes.toString()));
  await until(() => /^\d+\/2000 runs$/m.test(err));
  const [pid = ""] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ");
  expect(Number(pid)).toBeGreaterThan(0);
  child.kill("SIGKILL");
  await until(() => !existsSync(`/proc/${pid}`));
});
