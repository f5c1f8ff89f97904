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
    description: "name of the judge model at the endpoint of --judge-url; the paper on writing tasks uses gpt-4.1-mini",
  }),
  judgeKey: optionalText({
    placeholder: "key",
    description:
      "API key of the endpoint; better set GRADUS_JUDGE_KEY, because other users of the machine can see options",
    secret: true,
  }),
  judgeTimeoutMs: integer({
    description: "maximum time to judge one completion, in ms; includes both orders of the texts, retries and waits",
    range: [10, 3_600_000],
    defaultValue: 60_000,
  }),
  judgeConcurrency: integer({
    description:
      "maximum number of completions that are judged at the same time, by two requests each; further ones wait",
    range: [1, 4096],
    defaultValue: 16,
  }),
  judgeTemperature: decimal({
    description: "sampling temperature of the judge model",
    range: [0, 2],
    defaultValue: 0.4,
  }),
  judgePriceIn: decimal({
    description: "price of the judge's prompts, in dollars per million tokens; only for the cost in /metrics",
    range: [0, 1e6],
    defaultValue: undefined,
  }),
  judgePriceOut: decimal({
    description: "price of the judge's replies, in dollars per million tokens; only for the cost in /metrics",
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
