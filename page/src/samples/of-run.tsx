/** Shows the stored completions of a run. */
import { toJson } from "@bufbuild/protobuf";
import { CurriculumService, type RunSample, RunSampleSchema } from "../../../clients/ts/src/public.ts";
import { outcomeOf } from "../../../clients/ts/src/outcomes.ts";
import { allPages, present } from "../../../clients/ts/src/reply.ts";
import { address, refine } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { roleAtLeast, serverInfo } from "../caller.ts";
import type { ReadRun } from "../runs/state.ts";
import { Answered } from "../ui/parts.tsx";
import { clock } from "../words.ts";
import { Deletion } from "./deletion.tsx";
import { Group } from "./group.tsx";
import { Samples } from "./list.tsx";
import type { Load, Row } from "./pages.ts";

const { listRunSamples } = CurriculumService.method;

export function SamplesOfRun({ run }: { readonly run: ReadRun }) {
  const { group } = address.value.query;
  return group === undefined ? <All run={run} /> : <OneGroup runId={run.runId} groupId={group} />;
}

function rowOf(sample: RunSample): Row {
  const { number, groupId, sampleIndex, armId, outcome, time, cursor, answer } = sample;
  return {
    key: String(number),
    name: `${cursor}.${sampleIndex}`,
    named: { group: groupId, sample: String(sampleIndex) },
    kind: armId,
    outcome: outcomeOf(present(outcome, "outcome")),
    answer,
    note: time === undefined ? "" : clock(new Date(Number(time.seconds) * 1000)),
  };
}

function All({ run: { runId, state, config } }: { readonly run: ReadRun }) {
  const { batch = "" } = address.value.query;
  const updateBatch = /^\d{1,15}$/.test(batch) ? BigInt(batch) : undefined;
  const load: Load = async (gradus, filter, armId, pageToken, signal) => {
    const ofBatch = updateBatch !== undefined && { updateBatch };
    const asked = { runId, filter, armId, ...ofBatch, pageToken, pageSize: 50, brief: true };
    const { samples, nextPageToken } = await gradus.unary(listRunSamples, asked, { signal });
    return { rows: samples.map(rowOf), next: nextPageToken };
  };
  const keeps = (serverInfo.value?.keepSamplesBytes ?? 0n) > 0n;
  return (
    <>
      <Samples
        load={load}
        of={`${runId} ${updateBatch ?? ""}`}
        kindName="arm"
        kinds={[...state.arms, ...config.evaluationArms.map(({ id }) => ({ armId: id }))].map(({ armId }) => armId)}
        noteName="scored"
        filters={
          <label class="field narrow">
            <span>update batch</span>
            <input
              inputMode="numeric"
              value={batch}
              onChange={(event) => refine({ batch: event.currentTarget.value.trim() })}
            />
          </label>
        }
        empty={
          keeps
            ? "None that are kept are like this."
            : "This server keeps no completions of runs: start it with --keep-samples, the megabytes to keep of each run."
        }
      />
      {roleAtLeast("operator") && keeps && <Deletion runId={runId} />}
    </>
  );
}

function OneGroup({ runId, groupId }: { readonly runId: string; readonly groupId: string }) {
  const answer = useAnswer(
    async (gradus, options) => {
      const asked = { runId, groupId, tasks: true, pageSize: 1000 };
      const samples = await allPages(
        (pageToken) => gradus.unary(listRunSamples, { ...asked, pageToken }, options),
        (page) => page.samples,
      );
      return [...samples].sort((a, b) => a.sampleIndex - b.sampleIndex);
    },
    [runId, groupId],
  );
  return (
    <Answered answer={answer}>
      {(samples) => (
        <Group
          title={`group ${groupId}`}
          task={samples[0]?.task}
          samples={samples.map((sample) => {
            const { outcome, armId, policyVersion, ...shown } = sample;
            return {
              ...shown,
              outcome: outcomeOf(present(outcome, "outcome")),
              note: policyVersion === undefined ? armId : `${armId}, by policy version ${policyVersion}`,
              json: () => toJson(RunSampleSchema, sample),
            };
          })}
        />
      )}
    </Answered>
  );
}
