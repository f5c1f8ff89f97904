/** The options of the model that compares texts; part of the one table. */
import { decimal, integer, optionalText, type OptionSpec } from "./values.ts";

export const judgeOptions = {
  judgeUrl: optionalText({
    flag: "judge-url",
    placeholder: "url",
    description:
      "base URL of an OpenAI-compatible endpoint whose model compares texts for writing, e.g. https://api.openai.com/v1",
  }),
  judgeModel: optionalText({
    flag: "judge-model",
    placeholder: "name",
    description: "the model that is asked there; the paper's is gpt-4.1-mini",
  }),
  judgeKey: optionalText({
    flag: "judge-key",
    placeholder: "key",
    description: "the endpoint's key; better by its variable, for others see flags",
    secret: true,
  }),
  judgeTimeoutMs: integer({
    flag: "judge-timeout-ms",
    description: "longest that judging one completion may take, in both orders and with what is asked again, in ms",
    min: 10,
    max: 3_600_000,
    defaultValue: 60_000,
  }),
  judgeConcurrency: integer({
    flag: "judge-concurrency",
    description: "completions that are judged at once, by two requests each; further ones wait",
    min: 1,
    max: 4096,
    defaultValue: 16,
  }),
  judgeTemperature: decimal({
    flag: "judge-temperature",
    description: "temperature of the judge",
    min: 0,
    max: 2,
    defaultValue: 0.4,
  }),
  judgePriceIn: decimal({
    flag: "judge-price-in",
    description: "dollars for a million tokens of the judge's prompts, for /metrics",
    min: 0,
    max: 1e6,
    defaultValue: undefined,
  }),
  judgePriceOut: decimal({
    flag: "judge-price-out",
    description: "dollars for a million tokens of the judge's replies, for /metrics",
    min: 0,
    max: 1e6,
    defaultValue: undefined,
  }),
} as const satisfies Readonly<Record<string, OptionSpec<unknown>>>;
