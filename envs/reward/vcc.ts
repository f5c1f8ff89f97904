/**
 * Defines the reward scheme "verification commit contrast" (Curriculum RLOO 3.3). It rewards the last answer, and how
 * soon the completion ends after its first correct answer.
 */
import type { ParameterInfo, Parameters } from "../environment.ts";
import type { Findings } from "../facts.ts";
import { isRight, type Price, type RewardScheme } from "./scheme.ts";

function weight(name: string, description: string, defaultValue: number): ParameterInfo {
  return { name, description: `Weight: ${description}`, min: 0, max: 1, defaultValue, integer: false };
}

/** Maximum number of answers of a completion that a request may ask to verify. 1,024 long answers take 33 ms. */
const ANSWERS_MAX = 1024;

/**
 * Default number of answers of a completion to verify. The paper's completions of 1,024 tokens hold at most half as
 * many, and about four on average.
 */
const ANSWERS_DEFAULT = 256;

/** Maximum number of contrast pairs (a preferred and a rejected text) of a group. */
const PAIRS_MAX = 64;

/**
 * Default number of contrast pairs of a group. The paper limits the pairs without giving a number; 4 is the number of
 * completions in its groups.
 */
const PAIRS_DEFAULT = 4;

const parameters: readonly ParameterInfo[] = [
  {
    name: "format_score",
    description:
      "Reward of an answer that can be read but is wrong, and minimum of e/L (see commit) if an answer is right.",
    min: 0,
    max: 1,
    defaultValue: 0.1,
    integer: false,
  },
  weight("correctness", "whether the last answer is right, as in 'graded'.", 1),
  weight(
    "commit",
    "e/L, where e is the offset at which the first right answer ends, and L the completion's length, in code points.",
    0,
  ),
  {
    name: "answers_max",
    description:
      "Maximum number of answers to verify, counted from the first. The first right one among them is the commit.",
    min: 1,
    max: ANSWERS_MAX,
    defaultValue: ANSWERS_DEFAULT,
    integer: true,
  },
  {
    name: "pairs_max",
    description: "Maximum number of contrast pairs (a preferred and a rejected text) of a group.",
    min: 0,
    max: PAIRS_MAX,
    defaultValue: PAIRS_DEFAULT,
    integer: true,
  },
];

function price(findings: Findings, commit: number | undefined, of: Parameters): Price {
  const formatScore = of["format_score"] as number;
  const wrong = findings.kind === "malformed" ? 0 : formatScore;
  const correctness = isRight(findings) ? 1 : wrong;
  // The paper's 1 − (L − e)/L is e/L, the share of the completion up to the end e of the first correct answer. Without
  // a correct answer among those verified, a completion gets the value of a wrong one.
  const committed = commit === undefined ? wrong : Math.max(commit, formatScore);
  const [correctnessWeight, commitWeight] = [of["correctness"] as number, of["commit"] as number];
  return {
    reward: correctnessWeight * correctness + commitWeight * committed,
    components: [
      { name: "correctness", value: correctness, weight: correctnessWeight },
      { name: "commit", value: committed, weight: commitWeight },
    ],
  };
}

/**
 * Reward scheme `vcc`. Its default weights are those of the paper's best variant: the reward equals that of the scheme
 * `graded`, and groups also get contrast pairs (a preferred and a rejected text).
 */
export const vcc: RewardScheme = {
  name: "vcc",
  description:
    "As graded, for completions that go on past their first answer. Every answer is verified, and the first right one is the commit. Contrast pairs prefer completions that stop there.",
  parameters,
  usesTrivial: false,
  scan: {
    answersMax: (of) => of["answers_max"] as number,
    pairsMax: (of) => of["pairs_max"] as number,
  },
  range: (of) => ({ min: 0, max: (of["correctness"] as number) + (of["commit"] as number) }),
  price: ({ findings, commit, parameters: of }) => price(findings, commit, of),
};
