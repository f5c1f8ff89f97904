/** Where the models are that the server asks, and how it asks them. */
import type { OptionValues } from "./options.ts";
import { ConfigProblem, isWebAddress } from "./values.ts";

/** The model that is asked for tasks. */
export interface TeacherConfig {
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
  readonly timeoutMs: number;
}

/** The model that compares texts. */
export interface JudgeConfig extends TeacherConfig {
  readonly concurrency: number;
  readonly temperature: number;
  /** Dollars for a million tokens; undefined: not known. */
  readonly prices: { readonly input: number; readonly output: number } | undefined;
}

export function readTeacher(values: OptionValues): TeacherConfig | undefined {
  const { teacherUrl, teacherModel, teacherKey: key, teacherTimeoutMs: timeoutMs } = values;
  const at = readEndpoint("teacher", teacherUrl, teacherModel);
  return at && Object.freeze({ ...at, key, timeoutMs });
}

export function readJudge(values: OptionValues): JudgeConfig | undefined {
  const { judgeUrl, judgeModel, judgeKey: key, judgeTimeoutMs: timeoutMs } = values;
  const { judgeConcurrency: concurrency, judgeTemperature: temperature } = values;
  const { judgePriceIn: input, judgePriceOut: output } = values;
  const at = readEndpoint("judge", judgeUrl, judgeModel);
  if ((input === undefined) !== (output === undefined))
    throw new ConfigProblem("--judge-price-in and --judge-price-out must be given together");
  const prices = input === undefined || output === undefined ? undefined : { input, output };
  return at && Object.freeze({ ...at, key, timeoutMs, concurrency, temperature, prices });
}

/** Where a model is; undefined: there is none. */
function readEndpoint(name: string, url: string | undefined, model: string | undefined) {
  if (url === undefined && model === undefined) return undefined;
  if (url === undefined || model === undefined)
    throw new ConfigProblem(`--${name}-url and --${name}-model must be given together`);
  if (!isWebAddress(url))
    throw new ConfigProblem(
      `--${name}-url must be an http or https URL without a password: the key has its own option`,
    );
  return { url, model };
}
