/** Tests the configuration that a run file gives, and the errors for files that are wrong. */
import { toJson } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import {
  AnswerFormat,
  BanditSignal,
  GradusError,
  type RunConfig,
  RunConfigSchema,
  Source,
} from "../../clients/ts/src/public.ts";
import { CliProblem } from "../../cli/problem.ts";
import { inRunFile, parseRunFile, readRunFile, type RunFile } from "../../cli/run-file.ts";

const whole = `# ADSC, roughly
run_id: adsc-1
arms:
  - id: real/T0
    spec: &spec {environment: countdown, level: T0, source: real}
    weight: 2
  - id: "1"
    spec:
      environment: countdown
      parameters: {values: {numbers_min: 3}}
      answer_format: answer_tag
    hard: true
policy:
  bandit:
    signal: absolute_advantage
    ema_softmax: {alpha: .15}
    rescale:
  constraints: {real_share_min: 0.3}
seed: 18446744073709551615
num_generations: 8
prompts_per_update: 128
length: 9_600
group_timeout: 1h30m
`.replace("9_600", "9600");

function read(text: string): RunFile {
  const result = parseRunFile("run.yaml", text);
  if (result.kind === "invalid") throw new Error(result.problems.join("\n"));
  return result.file;
}

function problems(text: string): readonly string[] {
  const result = parseRunFile("run.yaml", text);
  return result.kind === "invalid" ? result.problems : [];
}

describe("a run file", () => {
  test("gives a run's id and its configuration", () => {
    const { runId, config } = read(whole);
    expect(runId).toBe("adsc-1");
    expect(config.seed).toBe(2n ** 64n - 1n);
    expect(config.length).toBe(9600n);
    expect(config.groupTimeout && durationMs(config.groupTimeout)).toBe(5_400_000);
    expect(config.arms.map(({ id, weight, hard }) => ({ id, weight, hard }))).toEqual([
      { id: "real/T0", weight: 2, hard: false },
      { id: "1", weight: undefined, hard: true },
    ]);
    expect(config.arms[0]?.spec?.source).toBe(Source.REAL);
    expect(config.arms[1]?.spec?.answerFormat).toBe(AnswerFormat.ANSWER_TAG);
    expect(config.arms[1]?.spec?.difficulty).toMatchObject({ value: { values: { numbers_min: 3 } } });
    const kind = config.policy?.kind;
    if (kind?.case !== "bandit") throw new Error("no bandit");
    expect(kind.value).toMatchObject({
      signal: BanditSignal.ABSOLUTE_ADVANTAGE,
      rule: { value: { alpha: 0.15 } },
      rescale: {},
    });
  });

  test("has a policy by its name, with whatever parameters", () => {
    const text = `policy:
  named:
    name: frontier
    parameters:
      width: 3
      on: true
      of: {stages: [{weights: {a: .5}}, {}, ]}
      no: null
`;
    expect(read(text).config.policy?.kind.value).toMatchObject({
      name: "frontier",
      parameters: { width: 3, on: true, of: { stages: [{ weights: { a: 0.5 } }, {}] }, no: null },
    });
    expect(problems("policy:\n  named: {parameters: [1]}\n")).toEqual([
      'run.yaml:2: policy.named.parameters: wants fields, each as "name: value"; got a list',
    ]);
    expect(problems("policy:\n  named:\n    parameters:\n      a: {b: .nan}\n")).toEqual([
      "run.yaml:4: policy.named.parameters.a.b: wants a finite number; got NaN",
    ]);
    expect(problems("policy:\n  named:\n    parameters: &x\n      a: *x\n").join()).toContain(
      "has more than 64 levels of nesting, the limit",
    );
  });

  test("may be what the contract's JSON is", () => {
    const { config } = read(whole);
    const json = JSON.stringify(toJson(RunConfigSchema, config), undefined, "\t");
    expect(read(json).config).toEqual(config);
    const inSnakeCase = JSON.stringify(toJson(RunConfigSchema, config, { useProtoFieldName: true }));
    expect(read(inSnakeCase).config).toEqual(config);
  });

  test("leaves out the id, and what it says is null", () => {
    const { runId, config } = read("num_generations: 4\nlength: null\npolicy: ~\n");
    expect([runId, config.numGenerations, config.length, config.policy]).toEqual([undefined, 4, 0n, undefined]);
  });

  test("may say things once, by an alias", () => {
    const { config } = read("arms:\n- {id: a, spec: &s {environment: countdown}}\n- {id: b, spec: *s}\n");
    expect(config.arms.map(({ spec }) => spec?.environment)).toEqual(["countdown", "countdown"]);
  });
});

const policy = (config: RunConfig): string | undefined => config.policy?.kind.case;

test("a policy without parameters needs no value", () => {
  expect(policy(read("policy:\n  mixture:\n").config)).toBe("mixture");
});

/** The error's hint on the right place of a misplaced weight. */
const WEIGHTS =
  "it belongs to arms[].weight, or to late_feedback.weight, or to policy.staged.stages[].weights, or to " +
  "policy.competence.tiers[].weights";

describe("what is wrong names line, field and remedy", () => {
  test.each([
    [
      "policy:\n  bandit:\n    epsilom: 0.1\n",
      "run.yaml:3: policy.bandit.epsilom: is not a known field; did you mean 'epsilon'?",
    ],
    [
      "policy:\n  bandit:\n    ucb: {discount: fast}\n",
      "run.yaml:3: policy.bandit.ucb.discount: wants a number, e.g. 0.5; got 'fast'",
    ],
    [
      "policy:\n  bandit:\n    epsilon: .inf\n",
      "run.yaml:3: policy.bandit.epsilon: wants a finite number; got Infinity",
    ],
    [
      "policy:\n  bandit: {signal: absolute_advantages}\n",
      "run.yaml:2: policy.bandit.signal: wants one of absolute_advantage, solved_variance, learning_progress, mixed_outcomes; " +
        "got 'absolute_advantages'; did you mean 'absolute_advantage'?",
    ],
    ["num_generations: 1.5\n", "run.yaml:1: num_generations: wants a whole number, e.g. 10000; got 1.5"],
    ["num_generations: -1\n", "run.yaml:1: num_generations: must be from 0 to 4294967295, not -1"],
    [
      "seed: 18446744073709551616\n",
      "run.yaml:1: seed: must be from 0 to 18446744073709551615, not 18446744073709551616",
    ],
    ["\nrun_id: 7\n", "run.yaml:2: run_id: wants text; got 7: put it in quotes"],
    ["group_timeout: 10\n", "wants a time with its unit, e.g. 10m"],
    ["arms: countdown\n", `run.yaml:1: arms: wants a list, each item after "- "; got 'countdown'`],
    ["arms:\n  - countdown\n", `run.yaml:2: arms[0]: wants fields, each as "name: value"; got 'countdown'`],
    ["arms:\n  - id: a\n    hard: yes\n", "run.yaml:3: arms[0].hard: wants true or false; got 'yes'"],
    ["arms:\n  - id:\n", "run.yaml:2: arms[0].id: must have a value"],
    [
      "policy:\n  staged:\n    stages:\n    - weights: {easy: much}\n",
      `run.yaml:4: policy.staged.stages[0].weights["easy"]: wants a number, e.g. 0.5; got 'much'`,
    ],
    [
      "policy:\n  mixture: {}\n  bandit: {}\n",
      "run.yaml:3: policy.bandit: must not be given together with 'mixture': remove one",
    ],
    ["runId: a\nrun_id: b\n", "run.yaml:2: run_id: is given twice: remove one"],
    [
      'policy:\n  staged:\n    stages:\n    - weights: {1: 0.5, "1": 2}\n',
      'run.yaml:4: policy.staged.stages[0].weights["1"]: is given twice: remove one',
    ],
    [
      'policy:\n  named:\n    parameters:\n      1: 0.5\n      "1": 2\n',
      "run.yaml:5: policy.named.parameters.1: is given twice: remove one",
    ],
    ["config:\n  arms: []\n", "run.yaml:1: config: is not a known field; known fields: run_id, "],
    ["policy:\n  mixture: {weights: {a: 1}}\n", `policy.mixture.weights: is not a field of this object; ${WEIGHTS}`],
    ["policy:\n  bandit: {weights: {a: 1}}\n", `policy.bandit.weights: is not a field of this object; ${WEIGHTS}`],
    ["policy:\n  weight: 2\n", `policy.weight: is not a field of this object; ${WEIGHTS}`],
    ["weights: {a: 1}\n", `run.yaml:1: weights: is not a field of this object; ${WEIGHTS}`],
    ["arms:\n  - spec: {weight: 1}\n", `arms[0].spec.weight: is not a field of this object; ${WEIGHTS}`],
    ["arms:\n  - weights: 1\n", "arms[0].weights: is not a known field; did you mean 'weight'?"],
    ["arms:\n  - level: T0\n", "arms[0].level: is not a field of this object; it belongs to arms[].spec.level"],
    ["policy:\n  epsilon: 1\n", "policy.epsilon: is not a field of this object; it belongs to policy.bandit.epsilon"],
    ["policy:\n  mixture: {frob: 1}\n", "policy.mixture.frob: is not a known field; its parent takes no fields"],
    ["seed: 1\nseed: 2\n", "run.yaml:2: "],
    ["seed: [1\n", "run.yaml:2: "],
    ["seed: !mine 1\n", "run.yaml:1: "],
    ["", "run.yaml:1: the file is empty; a run file has arms, policy, …"],
    ["- 1\n", `run.yaml:1: wants fields, each as "name: value"; got a list`],
  ])("%j", (text, expected) => {
    expect(problems(text)).toEqual([expect.stringContaining(expected)]);
  });

  test("all of it at once, in the order of the file", () => {
    expect(problems("sede: 1\narms:\n  - idd: a\nlength: x\n").map((line) => line.split(":")[1])).toEqual([
      "1",
      "3",
      "4",
    ]);
  });

  test("a small file whose aliases make it a large one is not read to its end", () => {
    const weights = Array.from({ length: 1000 }, (_, i) => `a${i}: 1`).join(", ");
    const stages = Array.from({ length: 1000 }, () => "*s").join(", ");
    const text = `policy: {staged: {stages: [&s {weights: {${weights}}}, ${stages}]}}`;
    expect(problems(text)).toEqual([expect.stringContaining("the file has more than 200000 values")]);
  });
});

describe("what a server refuses", () => {
  const file = read(whole);
  const refusal = (message: string): unknown => inRunFile(file, new GradusError("INVALID_ARGUMENT", message));

  test.each([
    [
      "config.policy.bandit.ema_softmax.alpha: must be in (0, 1], not 7",
      "run.yaml:16: policy.bandit.ema_softmax.alpha: must be in (0, 1], not 7",
    ],
    ["config.arms[1].spec.level: it is not there", "run.yaml:8: arms[1].spec.level: it is not there"],
    ["config.arms[0].spec.environment: unknown", "run.yaml:5: arms[0].spec.environment: unknown"],
    [
      'config.policy.staged.stages[0].weights["a.b/c"]: no',
      'run.yaml:13: policy.staged.stages[0].weights["a.b/c"]: no',
    ],
    ["config.feedback_lag: too large", "run.yaml:2: feedback_lag: too large"],
    ["run_id: it has 200 bytes", "run.yaml:2: run_id: it has 200 bytes"],
  ])("%s", (message, expected) => {
    const problem = refusal(message);
    expect(problem).toBeInstanceOf(CliProblem);
    expect(problem).toMatchObject({ message: expected, kind: "usage" });
  });

  test("that speaks of nothing in the file stays as it is", () => {
    expect(refusal("token: it is wrong")).toBeInstanceOf(GradusError);
    const error = new GradusError("UNAVAILABLE", "no server answers");
    expect(inRunFile(file, error)).toBe(error);
  });
});

test("a file that is not there is a usage problem that names the option", () => {
  expect(() => readRunFile("--file", "/no/such/run.yaml")).toThrow(/--file must be a file that can be read/);
});
