/** Options and error texts of the judge, a model that compares two texts. */
import {
  ConfigProblem,
  decimal,
  integer,
  optionalText,
  optionTable,
  type ValuesOf,
} from "../../runtime/option-values.ts";
import { type PortKind, readEndpoint } from "../port-kind.ts";
import type { JudgeConfig } from "./judge.ts";

const options = optionTable({
  judgeUrl: optionalText({
    placeholder: "url",
    description:
      "base URL of an OpenAI-compatible endpoint whose model compares texts for writing, e.g. https://api.openai.com/v1",
  }),
  judgeModel: optionalText({
    placeholder: "name",
    description: "the model that is asked there; the paper's is gpt-4.1-mini",
  }),
  judgeKey: optionalText({
    placeholder: "key",
    description: "the endpoint's key; better by its variable, for others see flags",
    secret: true,
  }),
  judgeTimeoutMs: integer({
    description: "longest that judging one completion may take, in both orders and with what is asked again, in ms",
    range: [10, 3_600_000],
    defaultValue: 60_000,
  }),
  judgeConcurrency: integer({
    description: "completions that are judged at once, by two requests each; further ones wait",
    range: [1, 4096],
    defaultValue: 16,
  }),
  judgeTemperature: decimal({ description: "temperature of the judge", range: [0, 2], defaultValue: 0.4 }),
  judgePriceIn: decimal({
    description: "dollars for a million tokens of the judge's prompts, for /metrics",
    range: [0, 1e6],
    defaultValue: undefined,
  }),
  judgePriceOut: decimal({
    description: "dollars for a million tokens of the judge's replies, for /metrics",
    range: [0, 1e6],
    defaultValue: undefined,
  }),
});

const start = "start it with --judge-url and --judge-model (and GRADUS_JUDGE_KEY)";

export const judge = {
  options,
  words: {
    missing: `this server has no judge: ${start}`,
    missingHere:
      "there is no judge: set GRADUS_JUDGE_URL and GRADUS_JUDGE_MODEL (and GRADUS_JUDGE_KEY), or give --server",
    needs: `a judge: ${start}`,
  },
  read(values: ValuesOf<typeof options>): JudgeConfig | undefined {
    const { judgeKey: key, judgeTimeoutMs: timeoutMs, judgeConcurrency: concurrency } = values;
    const { judgeTemperature: temperature, judgePriceIn: input, judgePriceOut: output } = values;
    const at = readEndpoint("judge", values.judgeUrl, values.judgeModel);
    if ((input === undefined) !== (output === undefined))
      throw new ConfigProblem("--judge-price-in and --judge-price-out must be given together");
    const prices = input === undefined || output === undefined ? undefined : { input, output };
    return at && Object.freeze({ ...at, key, timeoutMs, concurrency, temperature, prices });
  },
  limits: ({ concurrency, timeoutMs }: JudgeConfig) => ({ concurrencyMax: concurrency, timeLimitMs: timeoutMs }),
  open: async (config: JudgeConfig, context) => (await import("./judge.ts")).openJudge(config, context),
} as const satisfies PortKind<JudgeConfig>;
