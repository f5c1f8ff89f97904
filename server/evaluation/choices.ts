/** What is asked of an evaluation, checked against the suites that are here and what was asked for before. */
import type { AnswerFormat } from "../../envs/environment.ts";
import { didYouMean } from "../../envs/lib/did-you-mean.ts";
import type { EvaluationChoice } from "./evaluations.ts";
import type { Refusal, Result } from "./results.ts";
import type { Suite, SuiteDefinition, openSuite } from "./suite.ts";

export interface Opened {
  readonly definition: SuiteDefinition;
  readonly result: ReturnType<typeof openSuite>;
}

/** Version 0 is the newest. */
export function findSuite(opened: readonly Opened[], id: string, version: number): Result<Suite> {
  const versions = opened
    .filter(({ definition }) => definition.id === id)
    .sort((a, b) => b.definition.version - a.definition.version);
  if (versions.length === 0) {
    const ids = opened.flatMap(({ definition, result }) => (result.kind === "open" ? [definition.id] : []));
    const message = `suite: there is no suite '${id.slice(0, 128)}' here${didYouMean(id, ids)}; there is: ${ids.join(", ")}`;
    return { kind: "not_found", message };
  }
  const found = version === 0 ? versions[0] : versions.find(({ definition }) => definition.version === version);
  if (found === undefined) {
    const numbers = versions.map(({ definition }) => definition.version).join(", ");
    return { kind: "not_found", message: `suite_version: '${id}' has no version ${version} here; it has: ${numbers}` };
  }
  const { result } = found;
  return result.kind === "open"
    ? { kind: "ok", value: result.suite }
    : { kind: "not_found", message: `suite: ${result.message}` };
}

export function formatProblem(suite: Suite, format: AnswerFormat | undefined): Refusal | undefined {
  const part = suite.parts.find(({ definition }) => format !== undefined && !definition.answerFormats.includes(format));
  if (part === undefined) return undefined;
  const message = `${part.environment} takes ${part.definition.answerFormats.join(", ")}`;
  return { kind: "invalid", field: "answer_format", message };
}

/** An id stands for one evaluation: to ask for it with other choices is a mistake. */
export function difference(open: EvaluationChoice, asked: EvaluationChoice): Refusal | undefined {
  const fields = [
    ["suite", open.suite, asked.suite],
    ["suite_version", open.suiteVersion, asked.suiteVersion],
    ["samples_per_task", open.samplesPerTask, asked.samplesPerTask],
    ["model", open.model, asked.model],
    ["answer_format", open.answerFormat ?? "the default", asked.answerFormat ?? "the default"],
  ] as const;
  const other = fields.find(([, was, now]) => was !== now);
  if (other === undefined) return undefined;
  const [field, was, now] = other;
  const message = `${field}: the evaluation of this id has ${was}, and ${now} was asked for: choose another evaluation_id`;
  return { kind: "already_exists", field, message };
}
