/** What was submitted, read again. */
import type { SamplePlace, StoredSample } from "../stores/evaluations/store.ts";
import type { SampleResult } from "../tasks/scorer.ts";
import type { Context, OpenEvaluation, Sample, SamplePage } from "./evaluations.ts";
import { present } from "./pending.ts";
import type { Result } from "./results.ts";
import type { SuiteTask } from "./tasks.ts";

/** The outcome as it was when it was scored. */
export function resultOf({ result }: StoredSample): SampleResult {
  return JSON.parse(result) as SampleResult;
}

export async function listSamples(
  context: Context,
  open: OpenEvaluation,
  after: SamplePlace,
  limit: number,
): Promise<Result<SamplePage>> {
  const found = await context.store.samples(open.key, after, limit + 1);
  const shown = found.slice(0, limit);
  const samples: Sample[] = [];
  for (const [ordinal, ofTask] of Map.groupBy(shown, (sample) => sample.ordinal)) {
    const [task] = await context.tasks.made(open.of, ordinal, ordinal + 1);
    if (task === undefined) throw new Error(`task ${ordinal} has samples, and was never made`);
    samples.push(...ofTask.map((sample) => shownSample(context, open, task, sample)));
  }
  const last = shown.at(-1);
  const next = found.length > limit && last ? { ordinal: last.ordinal, index: last.index } : undefined;
  return { kind: "ok", value: { samples, next } };
}

function shownSample(context: Context, open: OpenEvaluation, task: SuiteTask, sample: StoredSample): Sample {
  const { ordinal, index, completion } = sample;
  const { category, part } = task;
  const shown = { ordinal, index, completion, category, part: part.name };
  return { ...shown, task: present(context, open, task), result: resultOf(sample) };
}
