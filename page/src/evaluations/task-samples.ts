/** Loads the samples of one task of an evaluation, and links to them. */
import { toJson } from "@bufbuild/protobuf";
import { EvaluationService, type Sample, SampleSchema } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { outcomeOf } from "../../../clients/ts/src/outcomes.ts";
import { eachOfPages, present } from "../../../clients/ts/src/reply.ts";
import { hrefOf } from "../address.ts";
import type { Gradus } from "../connection.ts";
import type { GroupSample } from "../samples/group.tsx";

export interface EvaluatedTask {
  readonly id: string;
  /** Part of the suite to which the task belongs. */
  readonly part: string;
  /** Hash of the task's instance. */
  readonly instance: string;
}

/** Returns the link to the samples of a task, or to one of them. */
export function taskSamplesHref({ id, part, instance }: EvaluatedTask, sampleIndex?: number): string {
  return hrefOf(["evaluations", id, "samples"], { of: part, instance, sample: sampleIndex?.toString() });
}

/**
 * Returns the samples of a task in order, at most `most`. Reads page by page until `most` samples are found. The first
 * pages may be empty, because the server skips the samples of other tasks.
 */
export async function loadTaskSamples(
  client: Gradus,
  options: { readonly signal: AbortSignal },
  { id: evaluationId, part, instance: instanceHash }: EvaluatedTask,
  most: number,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  if (most === 0) return samples;
  const asked = { evaluationId, instanceHash, part, pageSize: 1000 };
  const read = (pageToken: string) =>
    client.unary(EvaluationService.method.listSamples, { ...asked, pageToken }, options);
  for await (const sample of eachOfPages(read, (page) => page.samples)) if (samples.push(sample) === most) break;
  return samples;
}

export function groupSample(sample: Sample): GroupSample {
  return {
    ...sample,
    taskId: sample.task?.taskId ?? "",
    outcome: outcomeOf(present(sample.outcome, "outcome")),
    json: () => toJson(SampleSchema, sample),
  };
}
