/** Samples in a table: the newest of a run, or those of an evaluation; filtered, and each with a link to all of its group. */
import { useEffect, useState } from "preact/hooks";
import type { SampleFilter } from "../../../clients/ts/src/public.ts";
import type { Outcome } from "../../../clients/ts/src/outcomes.ts";
import { address, refine } from "../address.ts";
import { type Gradus, gradus, noteFailure } from "../session.ts";
import { useAnswer } from "../answers.ts";
import { outcomeTone, verdictWords } from "../outcomes/verdict.ts";
import { visible } from "../outcomes/visible.ts";
import { Answered, Search, Select, Tag } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";
import { counted, signed } from "../words.ts";
import { filterOf, outcomeChoices } from "./filter.ts";

export interface Row {
  readonly key: string;
  /** What leads to it, e.g. "12.3". */
  readonly name: string;
  readonly href: string;
  /** Its arm, or its part of the suite. */
  readonly kind: string;
  readonly outcome: Outcome;
  /** E.g. when it was scored. */
  readonly note: string;
}

export interface Page {
  readonly rows: readonly Row[];
  readonly next: string;
}

export type Load = (
  gradus: Gradus,
  filter: SampleFilter,
  kind: string,
  pageToken: string,
  signal: AbortSignal,
) => Promise<Page>;

interface SamplesProps {
  readonly load: Load;
  /** What samples are told apart by: "arm" or "part". */
  readonly kindName: string;
  readonly kinds: readonly string[];
  readonly noteName: string;
  readonly of: string;
  readonly empty: string;
}

/** A filter that leaves out much makes pages with nothing on them: so many are asked for before the reader is asked. */
const PAGES_AT_ONCE = 5;
const ROWS_AT_ONCE = 50;

async function loadSome(load: () => Promise<Page>, more: (token: string) => Promise<Page>): Promise<Page> {
  let page = await load();
  const rows = [...page.rows];
  for (let pages = 1; page.next !== "" && rows.length < ROWS_AT_ONCE && pages < PAGES_AT_ONCE; pages++) {
    page = await more(page.next);
    rows.push(...page.rows);
  }
  return { rows, next: page.next };
}

export function Samples({ load, kindName, kinds, noteName, of, empty }: SamplesProps) {
  const { query } = address.value;
  const kind = query[kindName] ?? "";
  const filter = filterOf(query);
  const asked = JSON.stringify([of, kind, filter]);
  const [more, setMore] = useState<Page>();
  useEffect(() => setMore(undefined), [asked]);
  const next = (from: Gradus, signal: AbortSignal) => (token: string) => load(from, filter, kind, token, signal);
  const answer = useAnswer(
    (from, { signal }) => loadSome(() => load(from, filter, kind, "", signal), next(from, signal)),
    [asked],
  );
  const goOn = async (token: string) => {
    const step = next(gradus.value, AbortSignal.timeout(60_000));
    try {
      const page = await loadSome(() => step(token), step);
      setMore((before) => ({ rows: [...(before?.rows ?? []), ...page.rows], next: page.next }));
    } catch (error) {
      noteFailure(error);
    }
  };
  return (
    <>
      <Filters kindName={kindName} kinds={kinds} kind={kind} query={query} onLook={answer.again} />
      <Answered answer={answer}>
        {(first) => {
          const rows = [...first.rows, ...(more?.rows ?? [])];
          const token = more?.next ?? first.next;
          return (
            <>
              <p class="note" role="status">
                {counted(rows.length, "sample")}
                {token !== "" && ", and more"}
              </p>
              {rows.length === 0 ? (
                <p class="empty">{empty}</p>
              ) : (
                <Table rows={rows} kindName={kindName} noteName={noteName} />
              )}
              {token !== "" && (
                <button type="button" onClick={() => void goOn(token)}>
                  Show more
                </button>
              )}
            </>
          );
        }}
      </Answered>
    </>
  );
}

interface FiltersProps {
  readonly kindName: string;
  readonly kinds: readonly string[];
  readonly kind: string;
  readonly query: Readonly<Record<string, string>>;
  readonly onLook: () => void;
}

function Filters({ kindName, kinds, kind, query, onLook }: FiltersProps) {
  const named = (values: readonly string[]) => values.map((value) => ({ value, text: value || "any" }));
  return (
    <div class="toolbar" role="search">
      <Select
        label={kindName}
        value={kind}
        options={named(["", ...kinds])}
        onChoose={(value) => refine({ [kindName]: value })}
      />
      <Select
        label="outcome"
        value={query["outcome"] ?? ""}
        options={named(outcomeChoices)}
        onChoose={(value) => refine({ outcome: value })}
      />
      <Search label="what is wrong" value={query["violation"] ?? ""} onType={(violation) => refine({ violation })} />
      <Search label="text in it" value={query["text"] ?? ""} onType={(text) => refine({ text })} />
      {(["min", "max"] as const).map((end) => (
        <label key={end} class="field narrow">
          <span>{end === "min" ? "reward from" : "to"}</span>
          <input
            type="number"
            step="any"
            value={query[end] ?? ""}
            onChange={(event) => refine({ [end]: event.currentTarget.value })}
          />
        </label>
      ))}
      <button type="button" onClick={onLook}>
        Look again
      </button>
    </div>
  );
}

function Table({
  rows,
  kindName,
  noteName,
}: {
  readonly rows: readonly Row[];
  readonly kindName: string;
  readonly noteName: string;
}) {
  return (
    <Rows
      label="Samples"
      columns={["sample", kindName, "reward", "verdict", "what is wrong", noteName]}
      words={[0, 1, 3, 4]}
      count={rows.length}
      keyOf={(at) => rows[at]?.key ?? at}
      row={(at) => {
        const { name, href, kind, outcome, note } = rows[at] as Row;
        const wrong = outcome.kind === "scored" ? outcome.violation : outcome.detail;
        return [
          <a href={href}>{name}</a>,
          kind,
          outcome.kind === "scored" ? signed(outcome.reward) : "–",
          <Tag tone={outcomeTone(outcome)}>{verdictWords(outcome)}</Tag>,
          <span class="clipped" title={visible(wrong)}>
            {visible(wrong)}
          </span>,
          note,
        ];
      }}
    />
  );
}
