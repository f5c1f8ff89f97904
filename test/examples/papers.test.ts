/** The papers' runs against the papers: each figure, where it stands in the paper, and the runs that must have it. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { RunConfigSchema } from "../../clients/ts/src/public.ts";
import { folder, paperRuns, readme, readPaperRun } from "./paper-runs.ts";

const names = paperRuns.map(({ runId }) => runId);

const configs = new Map(
  names.map((name) => [name, toJson(RunConfigSchema, readPaperRun(name).config, { useProtoFieldName: true })]),
);

/**
 * Returns the value at a path, e.g. "policy.staged.stages[0].share"; "arms[*].x" gives the distinct values of all arms.
 */
function at(of: unknown, path: string): unknown {
  const [step = "", ...rest] = path.split(/[.[]/).map((part) => part.replace("]", ""));
  if (path === "" || of === undefined) return of;
  const left = rest.join(".");
  if (step === "*") return [...new Set((of as readonly unknown[]).map((each) => at(each, left)))];
  return at((of as Readonly<Record<string, unknown>>)[step], left);
}

const FORGE = /^forge(?:-|$)/;
const FORGE_MAIN = /^forge(?:-figure|-table-[47]|$)/;
const FORGE_REPLAY = /^forge(?:$|-table-4-.*-curriculum|-table-4-(?:binary|without)|-table-7)/;
const NP_ENGINE = /^np-engine/;
const OMNI = /^omni-thinker-(?:table|figure)/;
const OMNI_ALL = /^omni-thinker/;
const OMNI_JUDGED = /^omni-thinker-(?:table-1|table-3-(?:joint|curriculum|st-writing))/;
const OMNI_ORDERED = /^omni-thinker-(?:table-1|table-3-curriculum|with)/;
const RLOO = /^curriculum-rloo/;
const RLOO_SWEEP = /^curriculum-rloo-sweep/;
const VCC = /^curriculum-rloo-(?:sweep|table-2-.*-vcc)/;
const ADSC = /^adsc/;
const ADSC_ROUTER = /^adsc(?:$|-real|-qwen)/;
const ADSC_SYNTHETIC = /^adsc(?:$|-qwen)/;
const sweepOf = (c: string) => new RegExp(String.raw`^curriculum-rloo-sweep-c-${c.replace(".", String.raw`\.`)}-seed`);

/** Runs, how many they are, field, value, and where in the paper. */
const FIGURES: readonly (readonly [runs: RegExp, count: number, field: string, value: unknown, where: string])[] = [
  [FORGE, 22, "trainer.model", "Qwen/Qwen2.5-7B-Instruct-1M", "000 A.3.1"],
  [FORGE, 22, "trainer.learning_rate", 4e-7, "000 A.3.1"],
  [FORGE, 22, "trainer.batch_size", 16, "000 A.3.1"],
  [FORGE, 22, "trainer.mini_batch_size", 16, "000 A.3.1"],
  [FORGE, 22, "trainer.micro_batch_size", 16, "000 A.3.1"],
  [FORGE, 22, "trainer.kl_coefficient", 0.001, "000 A.3.1"],
  [FORGE, 22, "trainer.prompt_length_max", 20_000, "000 A.3.1"],
  [FORGE, 22, "trainer.completion_length_max", 4096, "000 A.3.1"],
  [FORGE, 22, "prompts_per_update", 16, "000 A.3.1"],
  [/^forge(?:$|-(?!.*-(?:gpg|gspo)-))/, 18, "trainer.algorithm", "grpo", "000 A.3.1"],
  [/^forge-table-4-gpg/, 2, "trainer.algorithm", "gpg", "000 table 4"],
  [/^forge-table-4-gspo/, 2, "trainer.algorithm", "gspo", "000 table 4"],
  [FORGE_MAIN, 14, "length", "15000", "000 3.3: three stages of 5,000"],
  [FORGE_REPLAY, 10, "policy.replay.cycles", 3, "000 3.3"],
  [FORGE_REPLAY, 10, "policy.replay.instances", "REPLAY_INSTANCES_FRESH", "000 3.3"],
  [/^forge-table-6-1-4-5-shuffle/, 1, "arms[*].weight", [1, 4, 5], "000 table 6"],
  [/^forge-table-6-5-4-1-shuffle/, 1, "arms[*].weight", [5, 4, 1], "000 table 6"],
  [/^forge-table-6-1-1-1-shuffle/, 1, "arms[*].weight", [1], "000 table 6"],
  [/^forge-table-6-1-4-5-curriculum/, 1, "policy.staged.stages[*].share", [0.1, 0.4, 0.5], "000 table 6"],
  [/^forge-table-6-5-4-1-curriculum/, 1, "policy.staged.stages[*].share", [0.5, 0.4, 0.1], "000 table 6"],
  [/^forge-table-4-binary/, 1, "reward_scheme.name", "binary", "000 table 4"],
  [/^forge-table-[46]-without-gt/, 2, "reward_scheme.name", "coarse", "000 table 4, 001 table 4"],
  [NP_ENGINE, 2, "trainer.model", "Qwen/Qwen2.5-7B-Instruct-1M", "001 A.3"],
  [NP_ENGINE, 2, "trainer.algorithm", "grpo", "001 A.3"],
  [NP_ENGINE, 2, "trainer.learning_rate", 4e-7, "001 A.3"],
  [NP_ENGINE, 2, "trainer.batch_size", 8, "001 A.3"],
  [NP_ENGINE, 2, "trainer.mini_batch_size", 256, "001 A.3"],
  [NP_ENGINE, 2, "trainer.micro_batch_size", 64, "001 A.3"],
  [NP_ENGINE, 2, "trainer.kl_coefficient", 0.001, "001 A.3"],
  [NP_ENGINE, 2, "trainer.prompt_length_max", 20_000, "001 A.3"],
  [NP_ENGINE, 2, "trainer.completion_length_max", 4096, "001 A.3"],
  [NP_ENGINE, 2, "prompts_per_update", 8, "001 A.3"],
  [NP_ENGINE, 2, "answer_format", "ANSWER_FORMAT_ANSWER_LINE", "001 3.2"],
  [/^np-engine$/, 1, "trainer.epochs", 3, "001 A.3"],
  [/^np-engine$/, 1, "policy.replay.cycles", 3, "001 3.3"],
  [/^np-engine$/, 1, "policy.replay.instances", "REPLAY_INSTANCES_SAME", "001 3.3"],
  [/^np-engine-one-stage/, 1, "trainer.epochs", 1, "001 4.3.2"],
  [OMNI_ALL, 9, "trainer.model", "Qwen/Qwen2.5-7B-Instruct", "002 5.2"],
  [OMNI_ALL, 9, "trainer.algorithm", "grpo", "002 4.2"],
  [OMNI_ALL, 9, "trainer.optimizer", "adamw", "002 table 3"],
  [OMNI_ALL, 9, "trainer.schedule", "constant", "002 table 3"],
  [OMNI_ALL, 9, "trainer.learning_rate", 1e-6, "002 table 3"],
  [OMNI_ALL, 9, "trainer.gradient_clip", 1, "002 table 3"],
  [OMNI_ALL, 9, "trainer.clip", 0.2, "002 table 3"],
  [OMNI_ALL, 9, "trainer.temperature", 1, "002 table 3"],
  [OMNI_ALL, 9, "trainer.top_p", 1, "002 table 3"],
  [OMNI_ALL, 9, "trainer.top_k", 50, "002 table 3"],
  [OMNI_ALL, 9, "trainer.prompt_length_max", 1024, "002 table 3"],
  [OMNI_ALL, 9, "trainer.completion_length_max", 3072, "002 table 3"],
  [OMNI, 8, "trainer.batch_size", 256 * 6, "002 table 3"],
  [OMNI, 8, "prompts_per_update", 256 * 6, "002 table 3"],
  [OMNI, 8, "trainer.epochs", 3, "002 table 3"],
  [OMNI, 8, "num_generations", 16, "002 table 3"],
  [OMNI_JUDGED, 4, "trainer.judge_model", "gpt-4.1-mini", "002 table 3"],
  [OMNI_JUDGED, 4, "trainer.judge_temperature", 0.4, "002 table 3"],
  [/^omni-thinker-table-(?:1|3-curriculum)/, 2, "arms[*].kl_coefficient", [0], "002 table 3"],
  [/^omni-thinker-table-3-joint/, 1, "arms[*].kl_coefficient", [0.02], "002 table 3"],
  [/^omni-thinker-table-3-st-coding/, 1, "arms[*].kl_coefficient", [0.001], "002 table 3"],
  [/^omni-thinker-table-3-st-math/, 1, "arms[*].kl_coefficient", [0.04], "002 table 3"],
  [/^omni-thinker-(?:table-3-st-qa|figure)/, 2, "arms[*].kl_coefficient", [0.04], "002 table 3"],
  [/^omni-thinker-table-3-st-writing/, 1, "arms[*].kl_coefficient", [0], "002 table 3"],
  [/^omni-thinker-table-3-st-(?:coding|math)/, 2, "length", "36000", "002 5.1: 12,000 rows, three epochs"],
  [/^omni-thinker-(?:table-3-st-qa|figure)/, 2, "length", "16500", "002 5.1: 5,500 rows, three epochs"],
  [/^omni-thinker-table-3-st-writing/, 1, "length", "19950", "002 5.1: 6,650 rows, three epochs"],
  [/^omni-thinker-table-(?:1|3-(?:joint|curriculum))/, 3, "length", "108450", "002 5.1: all rows, three epochs"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[*].trained", ["code", "math", "qa", "writing"], "002 table 2"],
  // The mean over a domain's benchmarks of the ST column less the base model's.
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[0].changes.math", -0.0001, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[0].changes.qa", -0.0083, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[0].changes.writing", -0.0256, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[1].changes.code", 0.0026, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[1].changes.qa", -0.0517, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[1].changes.writing", 0, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[2].changes.code", 0.0085, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[2].changes.math", -0.0082, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[2].changes.writing", -0.1116, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[3].changes.code", 0.0048, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[3].changes.math", -0.006, "002 table 2"],
  [OMNI_ORDERED, 3, "policy.forgetting.transfers[3].changes.qa", 0.0034, "002 table 2"],
  [/^omni-thinker-table-1-reverse/, 1, "policy.forgetting.reversed", true, "002 table 1"],
  [RLOO, 20, "trainer.algorithm", "rloo", "003 3.1"],
  [RLOO, 20, "trainer.optimizer", "adamw", "003 4"],
  [RLOO, 20, "trainer.schedule", "constant", "003 4"],
  [RLOO, 20, "trainer.learning_rate", 1e-6, "003 4"],
  [RLOO, 20, "trainer.batch_size", 8, "003 4"],
  [RLOO, 20, "trainer.gradient_accumulation_steps", 4, "003 4"],
  [RLOO, 20, "prompts_per_update", 8 * 4, "003 4"],
  [RLOO, 20, "num_generations", 4, "003 4"],
  [RLOO, 20, "trainer.entropy_coefficient", 0.001, "003 4"],
  [RLOO, 20, "trainer.kl_coefficient", 0.001, "003 4"],
  [RLOO, 20, "trainer.completion_length_max", 1024, "003 4"],
  [RLOO, 20, "trainer.evaluation_temperature", 0.6, "003 4"],
  [RLOO, 20, "trainer.evaluation_top_p", 0.95, "003 4"],
  [RLOO, 20, "trainer.evaluation_top_k", 20, "003 4"],
  [RLOO, 20, "trainer.evaluation_samples", 16, "003 4"],
  [RLOO, 20, "answer_format", "ANSWER_FORMAT_ANSWER_TAG", "003 3.3"],
  [RLOO, 20, "arms[*].spec.source", ["SOURCE_REAL"], "003 4"],
  [RLOO_SWEEP, 12, "length", `${80 * 32}`, "003 4: 80 steps"],
  [RLOO_SWEEP, 12, "trainer.checkpoint_every", 10, "003 4"],
  [VCC, 14, "trainer.contrast_beta", 0.1, "003 3.3"],
  [/^curriculum-rloo-table-2-.*-vcc/, 2, "trainer.contrast_coefficient", 0.01, "003 3.3"],
  ...[0, 0.005, 0.0075, 0.01, 0.0125, 0.015].map(
    (c) => [sweepOf(`${c}`), 2, "trainer.contrast_coefficient", c, "003 4"] as const,
  ),
  [/^curriculum-rloo$/, 1, "policy.staged.stages[*].share", [0.3, 0.4], "003 3.2"],
  [/^curriculum-rloo$/, 1, "policy.staged.stages[*].ranks.max", [0.3, 0.7, undefined], "003 3.2"],
  [
    /^curriculum-rloo(?:$|-table-1-b|-table-2|-sweep)/,
    18,
    "policy.staged.stages[*].ranks.by",
    ["solutions"],
    "003 3.2",
  ],
  [ADSC, 4, "trainer.model", "asingh15/qwen-sft-countdown-defaultproj", "004 4"],
  [ADSC, 4, "trainer.algorithm", "rloo", "004 3.1"],
  [ADSC, 4, "trainer.importance_level", "sequence", "004 3.1"],
  [ADSC, 4, "trainer.learning_rate", 1e-5, "004 4"],
  [ADSC, 4, "trainer.batch_size", 128, "004 4"],
  [ADSC, 4, "trainer.temperature", 1, "004 4"],
  [ADSC, 4, "trainer.top_p", 1, "004 4"],
  [ADSC, 4, "trainer.top_k", 0, "004 4: top-k = −1, which is off"],
  [ADSC, 4, "trainer.checkpoint_every", 25, "004 4"],
  [ADSC, 4, "trainer.evaluation_samples", 16, "004 4"],
  [ADSC, 4, "prompts_per_update", 128, "004 4"],
  [ADSC, 4, "num_generations", 8, "004 4"],
  [ADSC, 4, "length", `${75 * 128}`, "004 4: 75 steps"],
  [ADSC, 4, "feedback_lag", 0, "004 algorithm 1"],
  [ADSC, 4, "answer_format", "ANSWER_FORMAT_ANSWER_TAG", "004 4"],
  [/^adsc-vanilla/, 1, "policy.staged.stages[*].ranks.by", ["solutions"], "004 4: uniform over the rows"],
  [ADSC_ROUTER, 3, "policy.bandit.ema_softmax.alpha", 0.15, "004 3.3"],
  [ADSC_ROUTER, 3, "policy.bandit.ema_softmax.tau", 0.25, "004 4"],
  [ADSC_ROUTER, 3, "policy.bandit.signal", "BANDIT_SIGNAL_ABSOLUTE_ADVANTAGE", "004 3.3"],
  [ADSC_ROUTER, 3, "policy.constraints.hard_share_min", 0.1, "004 4"],
  [ADSC_SYNTHETIC, 2, "policy.constraints.real_share_min", 0.3, "004 3.3"],
  [ADSC_SYNTHETIC, 2, "policy.constraints.synthetic_share_max", 0.5, "004 3.3"],
];

describe("the papers' figures", () => {
  test.each(FIGURES)("%s (%d runs): %s is %j (%s)", (runs, count, field, value) => {
    const matching = names.filter((name) => runs.test(name));
    expect(matching).toHaveLength(count);
    for (const name of matching) expect(at(configs.get(name), field), `${name}: ${field}`).toEqual(value);
  });

  test("cover every run", () => {
    const ours = ["forgetting"];
    const covered = names.filter((name) => FIGURES.some(([runs]) => runs.test(name)));
    expect([...covered, ...ours].sort()).toEqual([...names].sort());
    for (const name of names) expect(at(configs.get(name), "trainer.model"), name).toBeDefined();
  });

  test("of what is no run stand in the README", () => {
    const said = [
      "10,000 rows, 1,000 of each task",
      "ratio above 0.5",
      "2 epochs",
      "learning rate 1e-5",
      "128 self-samples",
    ];
    const more = [
      "batch 128",
      "learning rate 2.5e-6, cosine",
      "TIES with λ = 1",
      "50 held-out rows",
      "50 of 5 numbers",
    ];
    const out = ["KOR-Bench", "IFEval", "BigCodeBench", "Math500", "OlympiadBench", "GPQA"];
    for (const words of [...said, ...more, ...out]) expect(readme).toContain(words);
    const guide = readFileSync(resolve(folder, "../docs/guides/evaluation.md"), "utf8");
    for (const words of out) expect(guide).toContain(words);
  });
});
