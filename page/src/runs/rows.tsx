/** Shows what the run knows of the rows of each arm that chooses among its rows. */
import { useMemo, useState } from "preact/hooks";
import type { RowState } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { ArmRows } from "../../../clients/ts/src/public.ts";
import { address, named, refine } from "../address.ts";
import { LIST_MS, useAnswer } from "../answers.ts";
import { roleAtLeast } from "../caller.ts";
import { Answered, Panel, Search, Select, Share, Tag } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";
import { count, counted, figure, percent } from "../words.ts";
import { RatingDialog } from "./rating.tsx";
import type { ReadRun } from "./state.ts";

/**
 * Returns the arms that choose among their rows by pass rates. Includes all arms that were added after the run's
 * creation, because the page does not know how they choose.
 */
export function armsWithRows({ config, state }: Pick<ReadRun, "config" | "state">): readonly string[] {
  const created = new Map(config.arms.map((arm) => [arm.id, arm]));
  const mayHave = (id: string) => !created.has(id) || created.get(id)?.rows !== undefined;
  return state.arms.map(({ armId }) => armId).filter(mayHave);
}

export function RowsOfRun({ run }: { readonly run: ReadRun }) {
  const arms = armsWithRows(run);
  const { arm = arms[0] } = address.value.query;
  const answer = useAnswer(
    arm === undefined ? undefined : (client, options) => client.run(run.runId).rows(arm, options),
    [run.runId, arm],
    { everyMs: 2 * LIST_MS },
  );
  const [isRating, setRating] = useState(false);
  if (arm === undefined) return <p class="empty">No arm of this run chooses among its rows.</p>;
  const leave = () => {
    setRating(false);
    answer.again();
  };
  return (
    <>
      <div class="toolbar">
        <Select
          label="Arm"
          value={arm}
          options={arms.map((value) => ({ value, text: value }))}
          onChoose={(value) => refine({ arm: value })}
        />
        <button type="button" onClick={answer.again}>
          Look again
        </button>
        {roleAtLeast("trainer") && (
          <button type="button" aria-haspopup="dialog" onClick={() => setRating(true)}>
            Rate rows
          </button>
        )}
      </div>
      <Answered answer={answer}>{(known) => <Known known={known} />}</Answered>
      {isRating && <RatingDialog run={run} armId={arm} onClose={leave} />}
    </>
  );
}

interface Kind {
  readonly text: string;
  readonly has: (row: RowState) => boolean;
}

const every: Kind = { text: "all", has: () => true };

const kinds: Readonly<Record<string, Kind>> = {
  every,
  seen: { text: "seen or rated", has: ({ samples }) => samples > 0 },
  unseen: { text: "not seen", has: ({ samples }) => samples === 0 },
  retired: { text: "retired", has: ({ retired }) => retired },
};

type Order = (one: RowState, other: RowState) => number;

/**
 * Orders in which the table can be sorted, by their names in the address. Without a function, rows keep the arm's
 * order.
 */
const orders: Readonly<Record<string, readonly [text: string, order?: Order]>> = {
  row: ["row"],
  lowest: ["lowest pass rate", (one, other) => one.passRate - other.passRate],
  highest: ["highest pass rate", (one, other) => other.passRate - one.passRate],
  samples: ["samples", (one, other) => other.samples - one.samples],
};

function Known({ known: { rows, histogram, retired } }: { readonly known: ArmRows }) {
  const { which = "every", sort = "row", row = "" } = address.value.query;
  const shown = useMemo(() => {
    const { has } = named(kinds, which) ?? every;
    const found = rows.filter((each) => has(each) && String(each.row).includes(row.trim()));
    const order = named(orders, sort)?.[1];
    return order === undefined ? found : found.sort(order);
  }, [rows, which, sort, row]);
  return (
    <div class="stack">
      <Panel
        title="How many rows are expected to pass how often"
        note={`${counted(rows.length, "row")}, ${count(rows.filter(kinds["seen"]?.has ?? every.has).length)} of them seen or rated, ${count(retired)} retired`}
      >
        <Histogram counts={histogram} />
      </Panel>
      <div class="toolbar" role="search">
        <Search label="Row" value={row} onType={(text) => refine({ row: text })} />
        <Select
          label="Which"
          value={which}
          options={Object.entries(kinds).map(([value, { text }]) => ({ value, text }))}
          onChoose={(value) => refine({ which: value })}
        />
        <Select
          label="Order"
          value={sort}
          options={Object.entries(orders).map(([value, [text]]) => ({ value, text }))}
          onChoose={(value) => refine({ sort: value })}
        />
        <p class="note" role="status">
          {counted(shown.length, "row")}
        </p>
      </div>
      <Rows
        label="Rows"
        columns={["row", "expected to pass", "samples it is worth", "solved in a row", ""]}
        words={[0]}
        count={shown.length}
        keyOf={(at) => shown[at]?.row ?? at}
        row={(at) => cellsOf(shown[at] as RowState)}
      />
    </div>
  );
}

function cellsOf({ row, passRate, samples, solvedStreak, retired }: RowState) {
  return [
    String(row),
    <Share value={passRate} label={percent(passRate)} tone="good" />,
    figure(samples),
    count(solvedStreak),
    retired && <Tag>retired</Tag>,
  ];
}

const HEIGHT = 40;

/** Draws a histogram of shares, with a bar for each of equally wide intervals from 0 to 1. */
function Histogram({ counts }: { readonly counts: readonly number[] }) {
  const most = Math.max(1, ...counts);
  const peak = percent((counts.indexOf(most) + 0.5) / counts.length);
  return (
    <>
      <svg
        class="histogram"
        viewBox={`0 0 ${counts.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Bars from 0% to 100% of attempts: ${counts.includes(most) ? `most rows, ${count(most)}, near ${peak}` : "no rows"}`}
      >
        {counts.map((rows, at) => {
          const height = (HEIGHT * rows) / most;
          return <rect key={at} x={at + 0.08} y={HEIGHT - height} width={0.84} height={height} />;
        })}
      </svg>
      <p class="note ends" aria-hidden="true">
        <span>0%</span>
        <span>of attempts solve it</span>
        <span>100%</span>
      </p>
    </>
  );
}
