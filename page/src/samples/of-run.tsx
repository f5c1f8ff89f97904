/** Shows the stored completions of a run. */
import { CurriculumService, type RunSample } from "../../../clients/ts/src/public.ts";
import { outcomeOf } from "../../../clients/ts/src/outcomes.ts";
import { allPages, present } from "../../../clients/ts/src/reply.ts";
import { address } from "../address.ts";
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
  const { number, groupId, sampleIndex, armId, outcome, time, cursor } = sample;
  return {
    key: String(number),
    name: `${cursor}.${sampleIndex}`,
    named: { group: groupId, sample: String(sampleIndex) },
    kind: armId,
    outcome: outcomeOf(present(outcome, "outcome")),
    note: time === undefined ? "" : clock(new Date(Number(time.seconds) * 1000)),
  };
}

function All({ run: { runId, state, config } }: { readonly run: ReadRun }) {
  const load: Load = async (gradus, filter, armId, pageToken, signal) => {
    const asked = { runId, filter, armId, pageToken, pageSize: 50, brief: true };
    const { samples, nextPageToken } = await gradus.unary(listRunSamples, asked, { signal });
    return { rows: samples.map(rowOf), next: nextPageToken };
  };
  const keeps = (serverInfo.value?.keepSamplesBytes ?? 0n) > 0n;
  return (
    <>
      <Samples
        load={load}
        of={runId}
        kindName="arm"
        kinds={[...state.arms, ...config.evaluationArms.map(({ id }) => ({ armId: id }))].map(({ armId }) => armId)}
        noteName="scored"
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
          samples={samples.map(({ outcome, armId, policyVersion, ...sample }) => ({
            ...sample,
            outcome: outcomeOf(present(outcome, "outcome")),
            note: policyVersion === undefined ? armId : `${armId}, by policy version ${policyVersion}`,
          }))}
        />
      )}
    </Answered>
  );
}
