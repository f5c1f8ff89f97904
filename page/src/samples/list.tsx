/**
 * Lists samples in a table, filtered: the newest of a run, or those of an evaluation. Each links to its whole group.
 */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { address, hrefOf, refine } from "../address.ts";
import { gradus } from "../connection.ts";
import { LIST_MS, useAnswer } from "../answers.ts";
import { outcomeTone, verdictWords } from "../outcomes/verdict.ts";
import { visible } from "../outcomes/visible.ts";
import { Answered, Failure, Search, Select, Tag } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";
import { sorted, type SortValues } from "../ui/sorting.tsx";
import { counted, signed } from "../words.ts";
import { filterOf, outcomeChoices } from "./filter.ts";
import { type Further, type Load, loadSome, type Page, type Row, useFurther } from "./pages.ts";
import { useListed } from "./steps.tsx";

interface SamplesProps {
  readonly load: Load;
  /** Name of the column that groups samples: "arm" or "part". */
  readonly kindName: string;
  readonly kinds: readonly string[];
  readonly noteName: string;
  readonly of: string;
  readonly empty: string;
  /** Further filters, which `load` reads from the address. */
  readonly filters?: ComponentChildren;
}

const FURTHER_MS = 60_000;

export function Samples({ load, kindName, kinds, noteName, of, empty, filters }: SamplesProps) {
  const { query } = address.value;
  const kind = query[kindName] ?? "";
  const filter = filterOf(query);
  const isFurther = useRef(false);
  const answer = useAnswer(
    (client, { signal }) => loadSome((token) => load(client, filter, kind, token, signal), ""),
    [of, kind, JSON.stringify(filter)],
    // Do not refresh while the reader has scrolled, because new samples would push the others down.
    { everyMs: LIST_MS, holds: () => isFurther.current || (document.querySelector(".rows")?.scrollTop ?? 0) > 0 },
  );
  const further = useFurther(answer.value, (token) =>
    load(gradus.value, filter, kind, token, AbortSignal.timeout(FURTHER_MS)),
  );
  isFurther.current = further.rows.length > 0 || further.waiting || further.error !== undefined;
  return (
    <>
      <Filters kindName={kindName} kinds={kinds} kind={kind} query={query} onLook={answer.again}>
        {filters}
      </Filters>
      <Answered answer={answer}>
        {(first) => (
          <Listed first={first} further={further} isStale={answer.waiting} empty={empty}>
            {(rows) => <Table rows={rows} kindName={kindName} noteName={noteName} />}
          </Listed>
        )}
      </Answered>
    </>
  );
}

interface ListedProps {
  readonly first: Page;
  readonly further: Further;
  /** True if the rows shown are of a previous filter or of an earlier time. */
  readonly isStale: boolean;
  readonly empty: string;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}

function Listed({ first, further, isStale, empty, children }: ListedProps) {
  const rows = [...first.rows, ...further.rows];
  const hasMore = further.next !== "";
  return (
    <>
      <p class="note" role="status">
        {counted(rows.length, "sample")}
        {hasMore && ", and more"}
        {hasMore && address.value.query["sort"] !== undefined && ". Only these are sorted"}
      </p>
      {rows.length === 0 ? <p class="empty">{empty}</p> : children(rows)}
      {further.error !== undefined && <Failure error={further.error} again={further.goOn} />}
      {further.error === undefined && hasMore && (
        <button type="button" disabled={further.waiting || isStale} onClick={further.goOn}>
          Show more
        </button>
      )}
    </>
  );
}

interface FiltersProps {
  readonly kindName: string;
  readonly kinds: readonly string[];
  readonly kind: string;
  readonly query: Readonly<Record<string, string>>;
  readonly onLook: () => void;
  readonly children: ComponentChildren;
}

function Filters({ kindName, kinds, kind, query, onLook, children }: FiltersProps) {
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
        options={named(outcomeChoices(query["outcome"] ?? ""))}
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
      {children}
      <Template template={query["template"] ?? ""} />
      <button type="button" onClick={onLook}>
        Look again
      </button>
    </div>
  );
}

/**
 * Shows the template by which violations are filtered (a violation without its numbers and names), as a button that
 * removes the filter. Shows nothing if the template is empty.
 */
function Template({ template }: { readonly template: string }) {
  if (template === "") return null;
  return (
    <div class="field">
      <span>violation</span>
      <button type="button" title="Removes this filter" onClick={() => refine({ template: "" })}>
        <Clipped text={template} /> ✕
      </button>
    </div>
  );
}

/** Returns what is wrong with a sample's answer, or why the sample has no reward. */
function wrongIn({ outcome }: Row): string {
  return outcome.kind === "scored" ? outcome.violation : outcome.detail;
}

const values = {
  sample: ({ name }: Row) => name,
  reward: ({ outcome }: Row) => (outcome.kind === "scored" ? outcome.reward : undefined),
  verdict: ({ outcome }: Row) => verdictWords(outcome),
  answer: ({ answer }: Row) => answer,
  "what is wrong": wrongIn,
} satisfies SortValues<Row>;

interface TableProps {
  readonly rows: readonly Row[];
  readonly kindName: string;
  readonly noteName: string;
}

function Table({ rows: all, kindName, noteName }: TableProps) {
  const { path, query } = address.value;
  const sortable: SortValues<Row> = { ...values, [kindName]: ({ kind }) => kind };
  const rows = sorted(all, sortable);
  useListed(rows.map(({ named }) => named));
  return (
    <Rows
      label="Samples"
      columns={["sample", kindName, "reward", "verdict", "answer", "what is wrong", noteName]}
      words={[0, 1, 3, 4, 5]}
      sortable={Object.keys(sortable)}
      count={rows.length}
      keyOf={(at) => rows[at]?.key ?? at}
      row={(at) => {
        const row = rows[at] as Row;
        const { name, named, kind, outcome, answer, note } = row;
        return [
          <a href={hrefOf(path, { ...query, ...named })}>{name}</a>,
          kind,
          outcome.kind === "scored" ? signed(outcome.reward) : "–",
          <Tag tone={outcomeTone(outcome)}>{verdictWords(outcome)}</Tag>,
          <Clipped text={answer} />,
          <Clipped text={wrongIn(row)} />,
          note,
        ];
      }}
    />
  );
}

function Clipped({ text }: { readonly text: string }) {
  return (
    <span class="clipped" title={visible(text)}>
      {visible(text)}
    </span>
  );
}
