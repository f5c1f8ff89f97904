/** Converts suites, evaluations, samples and reports to protobuf messages. */
import { placeOfHash, type Pool } from "../../../envs/pool.ts";
import { poolDigest } from "../../rows/digest.ts";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Evaluation, EvaluationChoice, ListedEvaluation, Sample } from "../../evaluation/evaluation.ts";
import type { EvaluationReport } from "../../evaluation/evaluations.ts";
import type { ReportRow } from "../../evaluation/report.ts";
import type { OpenPart, Suite } from "../../evaluation/open-suite.ts";
import { FinishReason } from "../../../proto/gen/gradus/v1/environment_pb.js";
import * as wire from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { answerFormats, splits, thinkings } from "../enums.ts";
import { conversationToWire } from "../conversations.ts";
import { answerLine, outcomeToWire } from "../write-outcome.ts";
import type { ServiceDeps } from "../deps.ts";
import { type PresentDeps, presentTask } from "../write-task.ts";

export function suiteToWire({ definition, parts, tasks }: Suite): wire.Suite {
  const { id, version, description } = definition;
  return create(wire.SuiteSchema, { id, version, description, tasks, parts: parts.map(partToWire) });
}

function partToWire({ name, tasks, spec }: OpenPart) {
  const { environment, version, level, parameters, split, calls = 0, tools = [] } = spec;
  return {
    name,
    tasks,
    environment,
    version,
    level,
    parameters: { values: { ...parameters } },
    split: splits.toWire[split],
    calls,
    tools: [...tools],
  };
}

export function evaluationToWire(evaluation: Evaluation): wire.Evaluation {
  const { id, samplesTotal, samplesScored, createdAtMs } = evaluation;
  return create(wire.EvaluationSchema, {
    ...choiceToWire(id, evaluation),
    samplesTotal: BigInt(samplesTotal),
    samplesScored: BigInt(samplesScored),
    ...(createdAtMs !== undefined && { createTime: timestampFromMs(createdAtMs) }),
  });
}

export function listedToWire(item: ListedEvaluation): wire.Evaluation {
  if (item.kind === "evaluation") return evaluationToWire(item.evaluation);
  return create(wire.EvaluationSchema, { ...choiceToWire(item.id, item.choice), unreadable: item.message });
}

function choiceToWire(evaluationId: string, choice: EvaluationChoice) {
  const { suite, suiteVersion, samplesPerTask, model, answerFormat, thinking = "required" } = choice;
  return {
    evaluationId,
    suite,
    suiteVersion,
    samplesPerTask,
    model,
    ...(answerFormat && { answerFormat: answerFormats.toWire[answerFormat] }),
    thinking: thinkings.toWire[thinking],
  };
}

export function sampleToWire(
  deps: PresentDeps & Pick<ServiceDeps, "pools">,
  { spec, task, index, completion, conversation, result, isCut, part, category }: Sample,
  brief = false,
): wire.Sample {
  const shown = presentTask(deps, spec, task);
  const { origin } = task.key;
  return create(wire.SampleSchema, {
    task: brief ? { ...shown, prompt: [] } : shown,
    sampleIndex: index,
    completion: brief ? "" : completion,
    answer: answerLine(completion, result),
    ...conversationToWire(conversation, brief),
    part,
    category,
    outcome: outcomeToWire(index, result),
    ...(isCut && { finishReason: FinishReason.LENGTH }),
    ...(origin.kind === "row" && { pool: origin.pool, ...numbered(deps.pools.get(origin.pool), task.key.hash) }),
  });
}

/**
 * Finds a row of a pool by its hash. Returns the row's present number and the pool's digest, or {} if the pool no
 * longer has the row.
 */
function numbered(pool: Pool | undefined, hash: string) {
  const place = pool === undefined ? -1 : placeOfHash(pool, hash);
  return pool === undefined || place < 0 ? {} : { row: pool.columns.rows[place] ?? 0, poolDigest: poolDigest(pool) };
}

export function reportToWire({ evaluation, suite, report }: EvaluationReport): wire.Report {
  const { parts, environments, categories, overall, baseline, warnings } = report;
  return create(wire.ReportSchema, {
    evaluation: evaluationToWire(evaluation),
    suite: suiteToWire(suite),
    parts: parts.map(rowToWire),
    environments: environments.map(rowToWire),
    categories: categories.map(rowToWire),
    overall: rowToWire(overall),
    baseline,
    warnings: [...warnings],
  });
}

function rowToWire(row: ReportRow) {
  const { name, samples, samplesExpected, tasks, tasksInEverySplit, figures, standardErrors } = row;
  const leftOut = Object.entries(row.tasksLeftOut).map(([figure, count]) => [figure, BigInt(count)] as const);
  return create(wire.ReportRowSchema, {
    name,
    figures: { ...figures },
    standardErrors: { ...standardErrors },
    tasksLeftOut: Object.fromEntries(leftOut),
    samples: BigInt(samples),
    samplesWithoutReward: BigInt(row.samplesWithoutReward),
    tasks: BigInt(tasks),
    tasksInEverySplit: BigInt(tasksInEverySplit),
    samplesExpected: BigInt(samplesExpected),
  });
}
