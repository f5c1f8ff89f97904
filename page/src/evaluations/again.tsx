/**
 * Scores the completions of an evaluation again under other settings, e.g. another reward scheme, and shows what
 * changes. The evaluation stays as it is.
 */
import { useState } from "preact/hooks";
import { answerFormatNames, thinkingNames } from "../../../clients/ts/src/choices.ts";
import type { Report } from "../../../clients/ts/src/public.ts";
import { reportOf, type RescoredSample, type RescoreReport } from "../../../clients/ts/src/rescore-report.ts";
import { present } from "../../../clients/ts/src/reply.ts";
import { address, hrefOf, refine } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { Answered, Failure, Panel, Select, Share } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";
import { count, counted, figure, formatWords } from "../words.ts";
import { type Offers, offersOf, PARAMETER, type Place, rowsOf, settingsIn } from "./rescored.ts";

/** Minimum share of the completions between two updates of the progress bar. */
const STEP = 0.01;

interface AgainProps {
  readonly id: string;
  readonly report: Report;
}

export function Again({ id, report: { evaluation, suite } }: AgainProps) {
  const offers = useAnswer(
    async (gradus, options) => offersOf(present(suite, "suite"), await gradus.listEnvironments({}, options)),
    [id],
  );
  return (
    <Answered answer={offers}>
      {(known) => (
        <>
          <Settings offers={known} />
          <Rescored id={id} total={Number(evaluation?.samplesScored ?? 0n)} isDear={!known.isDeterministic} />
        </>
      )}
    </Answered>
  );
}

function Settings({ offers: { schemes, versions } }: { readonly offers: Offers }) {
  const { query } = address.value;
  const { scheme = "" } = query;
  const { parameters = [] } = schemes.find(({ name }) => name === scheme) ?? schemes[0] ?? {};
  const none = Object.fromEntries(
    Object.keys(query).flatMap((name) => (name.startsWith(PARAMETER) ? [[name, undefined]] : [])),
  );
  const choice = (label: string, name: string, values: readonly string[]) => (
    <Select
      label={label}
      value={query[name] ?? ""}
      options={["", ...values].map((value) => ({
        value,
        text: value === "" ? "as before" : (formatWords[value] ?? value),
      }))}
      onChoose={(value) => refine({ ...(name === "scheme" && none), [name]: value })}
    />
  );
  return (
    <div class="toolbar">
      {choice(
        "Reward scheme",
        "scheme",
        schemes.map(({ name }) => name),
      )}
      {parameters.map(({ name, description, defaultValue }) => (
        <label key={name} class="field narrow" title={description}>
          <span>{name.replaceAll("_", " ")}</span>
          <input
            type="number"
            step="any"
            placeholder={scheme === "" ? "as before" : figure(defaultValue)}
            value={query[PARAMETER + name] ?? ""}
            onChange={(event) => refine({ [PARAMETER + name]: event.currentTarget.value })}
          />
        </label>
      ))}
      {versions.length > 1 && choice("Version", "version", versions.map(String))}
      {choice("Answer format", "format", answerFormatNames)}
      {choice("Thinking", "thinking", thinkingNames)}
    </div>
  );
}

interface RescoredProps {
  readonly id: string;
  /** Number of completions. */
  readonly total: number;
  /** True if each completion may ask a judge or run a program. Then the reader is asked first. */
  readonly isDear: boolean;
}

function Rescored({ id, total, isDear }: RescoredProps) {
  const settings = settingsIn(address.value.query);
  const key = JSON.stringify(settings);
  const [allowed, setAllowed] = useState("");
  const [done, setDone] = useState(0);
  const mayBegin = settings !== undefined && (!isDear || allowed === key);
  const answer = useAnswer(
    mayBegin
      ? async (gradus, { signal }) => {
          const rows: RescoredSample<Place>[] = [];
          setDone(0);
          for await (const group of gradus.rescore({ evaluationId: id }, settings, { signal })) {
            const before = rows.push(...rowsOf(group)) - group.before.length;
            const steps = (of: number) => Math.floor(of / (STEP * total));
            if (steps(rows.length) > steps(before)) setDone(rows.length);
          }
          return reportOf(rows);
        }
      : undefined,
    [id, key],
  );
  if (settings === undefined)
    return (
      <p class="note">Choose what differs: the completions are scored again, and the evaluation stays as it is.</p>
    );
  if (!mayBegin)
    return (
      <button type="button" class="main" onClick={() => setAllowed(key)}>
        Score {counted(total, "completion")} again, which may ask a judge or run a program for each
      </button>
    );
  if (answer.waiting)
    return (
      <p class="waiting" role="status">
        <Share value={done / Math.max(1, total)} label={`${count(done)} of ${count(total)} scored`} />
      </p>
    );
  if (answer.error !== undefined) return <Failure error={answer.error} again={answer.again} />;
  return answer.value === undefined ? null : <Changes id={id} report={answer.value} />;
}

const shown = (value: number | null) => figure(value ?? undefined);

function Changes({ id, report: { arms, changes } }: { readonly id: string; readonly report: RescoreReport<Place> }) {
  return (
    <div class="stack">
      <Panel title="Scores before and now">
        <Table
          label="Scores before and now"
          columns={["part", "completions", "changed", "no reward", "mean reward before", "now", "solved before", "now"]}
          words={1}
        >
          {arms.map((each) => (
            <tr key={each.arm}>
              <th scope="row">{each.arm}</th>
              <td>{count(each.completions)}</td>
              <td>{count(each.changed)}</td>
              <td>{count(each.without_reward)}</td>
              <td>{shown(each.reward_before)}</td>
              <td>{shown(each.reward)}</td>
              <td>{shown(each.solved_before)}</td>
              <td>{shown(each.solved)}</td>
            </tr>
          ))}
        </Table>
      </Panel>
      <Panel title="What changed">
        {changes.length === 0 ? (
          <p class="empty">Nothing changed.</p>
        ) : (
          <Table
            label="What changed"
            columns={["part", "verdict before", "now", "for example", "completions", "mean reward before", "now"]}
            words={4}
          >
            {changes.map((each) => (
              <tr key={`${each.arm} ${each.from} ${each.to}`}>
                <th scope="row">{each.arm}</th>
                <td class="words">{each.from}</td>
                <td class="words">{each.to}</td>
                <td class="words">
                  {each.samples.map(({ part, instance, sampleIndex }) => (
                    <span key={`${instance} ${sampleIndex}`}>
                      <a href={sampleHref(id, part, instance, sampleIndex)}>
                        {`${instance.slice(0, 8)}.${sampleIndex}`}
                      </a>{" "}
                    </span>
                  ))}
                </td>
                <td>{count(each.completions)}</td>
                <td>{shown(each.reward_before)}</td>
                <td>{shown(each.reward)}</td>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
    </div>
  );
}

function sampleHref(id: string, of: string, instance: string, sampleIndex: number): string {
  return hrefOf(["evaluations", id, "samples"], { of, instance, sample: String(sampleIndex) });
}
