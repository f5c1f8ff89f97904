/** `--set path=value` and `--pool environment=name`: a run file, changed on the command line. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseRunFile, type RunFile } from "../../cli/run-file.ts";
import { Source } from "../../clients/ts/src/public.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";
import { writerTo } from "./run-file.ts";

const file = `run_id: set
arms:
  - id: np/tsp/easy
    spec: &spec { environment: np/tsp, level: easy }
  - { id: "v1.5", spec: *spec }
  - { id: rows, spec: { environment: countdown, level: T0, source: real }, weight: 2 }
policy:
  staged:
    stages:
      - { share: 0.5, weights: { np/tsp/easy: 1 } }
      - { weights: { rows: 1 } }
numGenerations: 2
prompts_per_update: 4
length: 16
`;

function read(set: readonly string[], pool: readonly string[] = [], text = file): RunFile {
  const result = parseRunFile("run.yaml", text, { set, pool });
  if (result.kind === "invalid") throw new Error(result.problems.join("\n"));
  return result.file;
}

function problems(...set: readonly string[]): readonly string[] {
  const result = parseRunFile("run.yaml", file, { set });
  return result.kind === "invalid" ? result.problems : [];
}

describe("--set", () => {
  test("sets any field: of lists by id, name or number, of maps by key, and new ones", () => {
    const { config, runId } = read([
      "run_id=other",
      "length=3200",
      "arms.np/tsp/easy.weight=3",
      "arms.v1.5.hard=true",
      "arms.2.weight=0.25",
      "arms[2].kl_coefficient=0.04",
      "policy.staged.stages.0.weights.np/tsp/easy=7",
      'policy.staged.stages[1].weights["v1.5"]=2',
      "trainer.learning_rate=1e-6",
      "reward_scheme={name: quality}",
      "group_timeout=10m",
    ]);
    expect([runId, config.length]).toEqual(["other", 3200n]);
    expect(config.arms.map(({ weight, hard }) => [weight, hard])).toEqual([
      [3, false],
      [undefined, true],
      [0.25, false],
    ]);
    expect(config.arms[2]?.klCoefficient).toBe(0.04);
    const kind = config.policy?.kind;
    const stages = kind?.case === "staged" ? kind.value.stages : [];
    expect(stages.map(({ weights }) => weights)).toEqual([{ "np/tsp/easy": 7 }, { rows: 1, "v1.5": 2 }]);
    expect(config.trainer?.learningRate).toBe(1e-6);
    expect(config.rewardScheme?.name).toBe("quality");
    expect(config.groupTimeout?.seconds).toBe(600n);
  });

  test("changes one use of an alias alone, and a field by either of its spellings", () => {
    const { config } = read(["arms.1.spec.level=hard", "num_generations=8", "promptsPerUpdate=2"]);
    expect(config.arms.map(({ spec }) => spec?.difficulty.value)).toEqual(["easy", "hard", "T0"]);
    expect([config.numGenerations, config.promptsPerUpdate]).toEqual([8, 2]);
  });

  test("of one field twice takes the last, and a whole part in place of another", () => {
    const { config } = read(["seed=1", "seed=18446744073709551615", "policy={mixture: {}}"]);
    expect(config.seed).toBe(2n ** 64n - 1n);
    expect(config.policy?.kind.case).toBe("mixture");
  });

  test("works on a file in JSON", () => {
    expect(read(["seed=7", "arms.0.weight=2"], [], '{"arms": [{"id": "a"}]}').config).toMatchObject({
      seed: 7n,
      arms: [{ id: "a", weight: 2 }],
    });
  });

  test("takes auto for frontier's practice scale, which leaves it unset, and for no other number", () => {
    const scaleOf = (set: readonly string[]) => {
      const kind = read(set).config.policy?.kind;
      return kind?.case === "frontier" ? [kind.value.practiceScale, kind.value.exploration] : kind?.case;
    };
    const given = "policy={frontier: {practice_scale: 12, exploration: 0.2}}";
    expect(scaleOf([given])).toEqual([12, 0.2]);
    expect(scaleOf([given, "policy.frontier.practice_scale=auto"])).toEqual([undefined, 0.2]);
    expect(scaleOf(["policy={frontier: {practiceScale: auto}}"])).toEqual([undefined, undefined]);
    expect(problems("policy={frontier: {exploration: auto}}")).toEqual([
      "run.yaml: policy.frontier.exploration: wants a number, e.g. 0.5; got 'auto'",
    ]);
    expect(problems("policy={frontier: {practice_scale: fast}}")).toEqual([
      "run.yaml: policy.frontier.practice_scale: wants a number, e.g. 0.5; got 'fast'",
    ]);
  });

  test.each([
    ["lenght=3", "run.yaml: lenght: is not a known field; did you mean 'length'?"],
    ["length=many", "run.yaml: length: wants a whole number, e.g. 10000; got 'many'"],
    ["length=2.5", "run.yaml: length: wants a whole number"],
    ["length=1 + 1", "run.yaml: length: wants a whole number, e.g. 10000; got '1 + 1'"],
    [
      "policy.bandit.alpha=0.2",
      "run.yaml: policy.bandit.alpha: is not a field of this object; it belongs to policy.bandit.ema_softmax.alpha",
    ],
    [
      "arms.np/tsp/eazy.weight=3",
      "run.yaml: arms.np/tsp/eazy.weight: there is no 'np/tsp/eazy' among 3 entries; did you mean 'np/tsp/easy'?",
    ],
    ["arms.9.weight=3", "run.yaml: arms.9.weight: there is no '9' among 3 entries: np/tsp/easy, v1.5, rows"],
    ["length.of=3", "run.yaml: length.of: has no 'of' in it, because it is a single value"],
    ["length", "run.yaml: length: wants path=value"],
    ["=3", "run.yaml: =3: wants path=value"],
    ["arms=[1", "run.yaml: arms: its value is not YAML"],
    ["seed=!!js/function 1", "run.yaml: seed: "],
    ["length=", "run.yaml: length: must have a value"],
  ])("%s is refused, naming the path", (set, message) => {
    expect(problems(set).join("\n")).toContain(message);
  });
});

describe("--pool", () => {
  test("is taken by the environment's arms that draw rows", () => {
    const { config, pools } = read([], ["countdown=tasks"]);
    expect(config.arms.map(({ spec }) => [spec?.pool, spec?.source])).toEqual([
      ["", Source.UNSPECIFIED],
      ["", Source.UNSPECIFIED],
      ["tasks", Source.REAL],
    ]);
    expect(pools).toEqual([]);
  });

  test("is taken by evaluation arms too, and by arms that leave their source out where none says real", () => {
    const text =
      "arms: [{ id: a, spec: { environment: math } }]\nevaluation_arms: [{ id: b, spec: { environment: math } }]\n";
    const { config } = read([], ["math=mine"], text);
    expect([...config.arms, ...config.evaluationArms].map(({ spec }) => spec?.pool)).toEqual(["mine", "mine"]);
  });

  test("is left to the command where it names none of the file's environments, or a file", () => {
    expect(read([], ["tasks=rows.jsonl", "rows.jsonl", `countdown=${import.meta.filename}`]).pools).toHaveLength(3);
  });
});

describe("commands", () => {
  const folder = temporaryFolder();
  const write = writerTo(folder.path);
  let server: TestServer;
  let path: string;
  let rows: string;
  beforeAll(async () => {
    rows = write(
      "rows.jsonl",
      Array.from({ length: 40 }, (_, i) => `{"nums": [1, 2, 3], "target": ${(i % 6) + 1}}`).join("\n"),
    );
    path = write("set.yaml", file);
    server = await openServer({ store: "memory", pool: [`tasks=${rows}`] });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });
  const run = (...args: readonly string[]) =>
    gradus({ cwd: folder.path, env: { GRADUS_SERVER: server.address } }, "run", ...args);

  test("run create sends what was set", async () => {
    const flags = ["--set", "length=32", "--pool", "countdown=tasks", "--run-id", "made", "--json"];
    const { code, out, err } = await run("create", path, ...flags);
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({
      config: { length: "32", arms: [{}, {}, { spec: { pool: "tasks", source: "SOURCE_REAL" } }] },
    });
    const other = await run("create", path, "--pool", "countdwn=tasks", "--run-id", "other");
    expect(other).toMatchObject({ code: 2 });
    expect(other.err).toContain("has no arm of 'countdwn' that draws rows; did you mean 'countdown'?");
  });

  test("run check checks what was set, here and by a server, and keeps pools of files", async () => {
    const here = { cwd: folder.path };
    for (const where of [here, { ...here, env: { GRADUS_SERVER: server.address } }]) {
      const check = (set: string) => gradus(where, "run", "check", path, "--set", set);
      expect(await check("length=32")).toMatchObject({ code: 0 });
      const wrong = await check("length=4");
      expect(wrong).toMatchObject({ code: 2 });
      expect(wrong.err).toContain(
        "set.yaml:10: policy.staged.stages[0]: lasts 2 tasks, less than an update batch of 4",
      );
    }
    const local = await gradus(
      { cwd: folder.path },
      "run",
      "check",
      path,
      "--pool",
      `tasks=${rows}`,
      "--pool",
      "countdown=tasks",
    );
    expect(local).toMatchObject({ code: 0 });
    expect(local.out).toContain("can be created");
  });

  test("run start, simulate, update-policy and update-shape take it", async () => {
    const here = { cwd: folder.path };
    const started = await gradus(here, "run", "start", path, "--set", "length=8", "--json");
    expect(JSON.parse(started.out)).toMatchObject({ runId: "set" });
    const simulated = await gradus(
      here,
      "simulate",
      path,
      "--set",
      "policy={mixture: {}}",
      "--seeds",
      "2",
      "--updates",
      "2",
    );
    expect(simulated).toMatchObject({ code: 0 });
    expect((await run("create", path, "--run-id", "changed")).code).toBe(0);
    expect((await run("update-policy", "changed", path, "--set", "policy={mixture: {}}")).out).toContain(
      "from task 0 on",
    );
    const shape = await run("update-shape", "changed", path, "--set", "arms=[{id: d, spec: {environment: np/tsp}}]");
    expect(shape).toMatchObject({ code: 0 });
  });
});
