/** Lists the evaluations of the server, and compares the chosen ones. */
import type { Evaluation } from "../../../clients/ts/src/public.ts";
import { EvaluationService } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { allPages } from "../../../clients/ts/src/reply.ts";
import { address, hrefOf, refine } from "../address.ts";
import { LIST_MS, useAnswer } from "../answers.ts";
import { roleAtLeast } from "../caller.ts";
import { Answered, Heading, Share } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";
import { clock, count } from "../words.ts";
import { Compared } from "./compare.tsx";

export function EvaluationList() {
  const answer = useAnswer(
    (gradus, options) =>
      allPages(
        (pageToken) => gradus.unary(EvaluationService.method.listEvaluations, { pageToken }, options),
        (page) => page.evaluations,
      ),
    [],
    { everyMs: LIST_MS },
  );
  return (
    <>
      <Heading
        title="Evaluations"
        note="A model's completions of a fixed suite. Choose some of one suite to see them side by side."
      />
      <Answered answer={answer}>{(evaluations) => <Listed evaluations={evaluations} />}</Answered>
    </>
  );
}

function Listed({ evaluations }: { readonly evaluations: readonly Evaluation[] }) {
  const there = new Set(evaluations.map(({ evaluationId }) => evaluationId));
  const chosen = (address.value.query["show"] ?? "").split(",").filter((id) => there.has(id));
  if (evaluations.length === 0) return <p class="empty">There are none yet: gradus eval run makes one.</p>;
  const before = evaluationsBefore(evaluations.filter(({ unreadable }) => unreadable === ""));
  const first = evaluations.find(({ evaluationId }) => evaluationId === chosen[0]);
  const choose = (id: string, on: boolean) =>
    refine({ show: (on ? [...chosen, id] : chosen.filter((other) => other !== id)).join(",") });
  return (
    <>
      {first !== undefined && <Compared ids={chosen} />}
      <Table label="Evaluations" columns={["evaluation", "model", "suite", "samples", "created", "links"]} words={3}>
        {evaluations.map((evaluation) => (
          <Row
            key={evaluation.evaluationId}
            evaluation={evaluation}
            before={before.get(evaluation.evaluationId)}
            chosen={chosen.includes(evaluation.evaluationId)}
            fits={first === undefined || first.suite === evaluation.suite}
            onChoose={choose}
          />
        ))}
      </Table>
    </>
  );
}

/** Returns for each evaluation, by its id, the id of the previous evaluation of the same suite. The first has none. */
function evaluationsBefore(evaluations: readonly Evaluation[]): ReadonlyMap<string, string> {
  const [last, before] = [new Map<string, string>(), new Map<string, string>()];
  const seconds = ({ createTime }: Evaluation) => Number(createTime?.seconds ?? 0n);
  for (const { evaluationId, suite, suiteVersion } of evaluations.toSorted((a, b) => seconds(a) - seconds(b))) {
    const key = `${suite} ${suiteVersion}`;
    const earlier = last.get(key);
    if (earlier !== undefined) before.set(evaluationId, earlier);
    last.set(key, evaluationId);
  }
  return before;
}

interface RowProps {
  readonly evaluation: Evaluation;
  /** Id of the evaluation with which the row's link compares this evaluation. Undefined: there is no link. */
  readonly before: string | undefined;
  readonly chosen: boolean;
  /** True if the evaluation can be compared with the chosen ones, because it has the same suite. */
  readonly fits: boolean;
  readonly onChoose: (id: string, on: boolean) => void;
}

function Row({ evaluation, before, chosen, fits, onChoose }: RowProps) {
  const {
    evaluationId: id,
    model,
    suite,
    suiteVersion,
    samplesScored,
    samplesTotal,
    createTime,
    unreadable,
  } = evaluation;
  const scored = Number(samplesScored) / Math.max(1, Number(samplesTotal));
  return (
    <tr>
      <th scope="row">
        <label class="pick">
          <input
            type="checkbox"
            aria-label={`Show ${id} beside the others`}
            checked={chosen}
            disabled={!fits || unreadable !== ""}
            onChange={(event) => onChoose(id, event.currentTarget.checked)}
          />
          <a href={hrefOf(["evaluations", id])}>{id}</a>
        </label>
      </th>
      <td class="words">{model}</td>
      {unreadable === "" ? (
        <>
          <td class="words">{`${suite}, version ${suiteVersion}`}</td>
          <td>
            <Share value={scored} label={`${count(samplesScored)} of ${count(samplesTotal)}`} />
          </td>
          <td>{createTime === undefined ? "–" : clock(new Date(Number(createTime.seconds) * 1000))}</td>
          <td class="words">
            {before !== undefined && (
              <a href={hrefOf(["evaluations", before, "against", id], { show: "second" })}>gains over {before}</a>
            )}{" "}
            {roleAtLeast("operator") && <a href={hrefOf(["evaluations", id, "again"])}>score again</a>}
          </td>
        </>
      ) : (
        <td class="words wraps" colSpan={4}>
          {unreadable}
        </td>
      )}
    </tr>
  );
}
