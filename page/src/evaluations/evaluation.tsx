/** Shows one evaluation: its report and its completions. */
import { useState } from "preact/hooks";
import { EvaluationService, type Report, type Sample } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { outcomeOf } from "../../../clients/ts/src/outcomes.ts";
import { present } from "../../../clients/ts/src/reply.ts";
import { address, go, hrefOf } from "../address.ts";
import { LIST_MS, useAnswer } from "../answers.ts";
import { mayNot, roleAtLeast } from "../caller.ts";
import { ChangeDialog } from "../runs/change.tsx";
import { Group } from "../samples/group.tsx";
import { Samples } from "../samples/list.tsx";
import type { Load, Row } from "../samples/pages.ts";
import { gradus } from "../connection.ts";
import { Answered, Facts, Heading, NotForRole, Panel, Tabs, Warnings } from "../ui/parts.tsx";
import { count } from "../words.ts";
import { Again } from "./again.tsx";
import { Reports } from "./compare.tsx";
import { groupSample, loadTaskSamples } from "./task-samples.ts";

const { method } = EvaluationService;

const tabs = { report: "Report", samples: "Samples", again: "Score again" };

export function EvaluationPage({ id }: { readonly id: string }) {
  const { path, query } = address.value;
  const current = path[2] ?? "report";
  const report = useAnswer((client, options) => client.evaluation(id).report(options), [id], {
    everyMs: LIST_MS,
  });
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(["evaluations"])}>Evaluations</a> /
      </p>
      <Heading title={id}>{roleAtLeast("operator") && <Deletion id={id} />}</Heading>
      <Answered answer={report}>
        {(found) => (
          <>
            <About report={found} />
            <Warnings words={found.warnings} />
            <Tabs
              label="Of this evaluation"
              current={current}
              tabs={Object.entries(tabs).flatMap(([name, text]) =>
                name === "again" && !roleAtLeast("operator")
                  ? []
                  : [{ name, text, href: hrefOf(["evaluations", id, name]) }],
              )}
            />
            {current === "report" && (
              <Panel title="The report">
                <Reports ids={[id]} reports={[found]} />
              </Panel>
            )}
            {current === "again" &&
              (mayNot("operator") ? (
                <NotForRole role="operator" what="Scoring again is" />
              ) : (
                <Again id={id} report={found} />
              ))}
            {current === "samples" && query["instance"] === undefined && <All id={id} report={found} />}
            {current === "samples" && query["instance"] !== undefined && (
              <OneTask id={id} report={found} instance={query["instance"]} part={query["of"] ?? ""} />
            )}
          </>
        )}
      </Answered>
    </>
  );
}

function About({ report: { evaluation } }: { readonly report: Report }) {
  if (evaluation === undefined) return null;
  const { model, suite, suiteVersion, samplesPerTask, samplesScored, samplesTotal } = evaluation;
  return (
    <div class="progress">
      <Facts
        facts={[
          ["model", model === "" ? "not said" : model],
          ["suite", `${suite}, version ${suiteVersion}`],
          ["samples of a task", samplesPerTask],
          ["scored", `${count(samplesScored)} of ${count(samplesTotal)}`],
        ]}
      />
    </div>
  );
}

function rowOf({ task, sampleIndex, outcome, part, answer }: Sample): Row {
  const instance = task?.instanceHash ?? "";
  return {
    key: `${part} ${instance} ${sampleIndex}`,
    name: `${instance.slice(0, 8)}.${sampleIndex}`,
    named: { of: part, instance, sample: String(sampleIndex) },
    kind: part,
    outcome: outcomeOf(present(outcome, "outcome")),
    answer,
    note: task?.level ?? "",
  };
}

function All({ id, report }: { readonly id: string; readonly report: Report }) {
  const load: Load = async (client, filter, part, pageToken, signal) => {
    const asked = { evaluationId: id, filter, part, pageToken, pageSize: 50, brief: true };
    const { samples, nextPageToken } = await client.unary(method.listSamples, asked, { signal });
    return { rows: samples.map(rowOf), next: nextPageToken };
  };
  return (
    <Samples
      load={load}
      of={id}
      kindName="part"
      kinds={report.parts.map(({ name }) => name)}
      noteName="level"
      empty="None are like this."
    />
  );
}

interface OneTaskProps {
  readonly id: string;
  readonly report: Report;
  readonly instance: string;
  readonly part: string;
}

function OneTask({ id, report, instance, part }: OneTaskProps) {
  const most = report.evaluation?.samplesPerTask ?? 1;
  const answer = useAnswer(
    (client, options) => loadTaskSamples(client, options, { id, part, instance }, most),
    [id, instance, part],
  );
  return (
    <Answered answer={answer}>
      {(samples) => <Group title={`task ${instance}`} task={samples[0]?.task} samples={samples.map(groupSample)} />}
    </Answered>
  );
}

function Deletion({ id }: { readonly id: string }) {
  const [opened, setOpened] = useState(false);
  const change = async (validateOnly: boolean) => {
    if (validateOnly) return { words: ["All of its completions and scores go, and cannot be brought back."] };
    await gradus.value.unary(method.deleteEvaluation, { evaluationId: id });
    go(hrefOf(["evaluations"]));
    return { words: [`${id} is deleted.`] };
  };
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={() => setOpened(true)}>
        Delete
      </button>
      {opened && (
        <ChangeDialog
          title="Delete the evaluation"
          words="gradus export keeps its samples first."
          verb="Delete it"
          tone="bad"
          change={change}
          onClose={() => setOpened(false)}
        />
      )}
    </>
  );
}
