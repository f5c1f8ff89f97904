/**
 * Lists the arms of a run, with search and sorting. Lays out only the visible rows, so that there may be any number.
 */
import { useMemo } from "preact/hooks";
import { type ArmState, lengthFigure, lengthWords } from "../../../clients/ts/src/public.ts";
import { address, hrefOf, named, refine } from "../address.ts";
import { Search, Select, Share, Tag } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";
import { count, counted, figure, percent } from "../words.ts";
import { taskHref } from "../tasks/choice.ts";
import { levelOf } from "./run-config.tsx";
import { familiesOf, type ReadRun } from "./state.ts";
import { RECENT_GROUPS } from "./why.ts";

interface Row {
  readonly arm: ArmState;
  readonly family: string;
}

interface Order {
  readonly text: string;
  readonly of: (row: Row) => number;
}

const orders: Readonly<Record<string, Order>> = {
  probability: { text: "probability", of: ({ arm }) => arm.probability },
  value: { text: "value", of: ({ arm }) => arm.value },
  solved: { text: "solved share", of: ({ arm }) => arm.recentSolvedShare ?? -1 },
  reward: { text: "mean reward", of: ({ arm }) => arm.recentRewardMean ?? Number.NEGATIVE_INFINITY },
  issued: { text: "tasks issued", of: ({ arm }) => Number(arm.issued) },
  length: { text: "mean length", of: ({ arm }) => lengthFigure(arm.lengths)?.mean ?? -1 },
  spent: { text: "tokens spent", of: ({ arm }) => lengthFigure(arm.lengths)?.total ?? -1 },
};

export function Arms({ run }: { readonly run: ReadRun }) {
  const { q = "", sort = "probability" } = address.value.query;
  const order = named(orders, sort);
  const sorted = useMemo(() => sortedArms(run, q, order), [run, q, order]);
  const most = run.state.arms.reduce((so, { probability }) => Math.max(so, probability), 1e-9);
  return (
    <>
      <div class="toolbar" role="search">
        <Search label="Search arms" value={q} onType={(text) => refine({ q: text })} />
        <Select
          label="Order"
          value={order === undefined ? "environment" : sort}
          options={[
            ...Object.entries(orders).map(([value, { text }]) => ({ value, text })),
            { value: "environment", text: "environment" },
          ]}
          onChoose={(value) => refine({ sort: value })}
        />
        <p class="note" role="status">
          {counted(sorted.length, "arm")}. Solved and reward are means over the last {RECENT_GROUPS} closed groups of an
          arm.
        </p>
      </div>
      <Rows
        label="Arms"
        columns={[
          ...["arm", "environment", "probability", "value", "solved", "reward", "weight", "issued", "groups"],
          ...["mean length", "spent", ""],
        ]}
        count={sorted.length}
        keyOf={(at) => sorted[at]?.arm.armId ?? at}
        row={(at) => cellsOf(sorted[at] as Row, most, run)}
      />
    </>
  );
}

function sortedArms(run: ReadRun, q: string, order: Order | undefined): readonly Row[] {
  const families = familiesOf(run);
  const wanted = q.toLowerCase();
  const found = run.state.arms
    .map((arm, at) => ({ arm, family: families[at] ?? "" }))
    .filter(({ arm, family }) => `${arm.armId} ${family}`.toLowerCase().includes(wanted));
  return order === undefined ? grouped(found) : found.sort((a, b) => order.of(b) - order.of(a));
}

/** Groups rows of arms by environment, in the order of the configuration. */
function grouped(rows: readonly Row[]): readonly Row[] {
  const names = [...new Set(rows.map(({ family }) => family))];
  return names.flatMap((name) => rows.filter(({ family }) => family === name));
}

/** Returns how far an arm that grows has come, e.g. "6 → 23 vertices of 40, 4 solved". Empty: the arm does not grow. */
function growthWords({ growth }: ArmState): string {
  if (growth === undefined) return "";
  const { axis, frontier, cap, levels } = growth;
  const solved = levels.filter(({ retired }) => retired).length;
  return `${levels[0]?.value ?? frontier} → ${frontier} ${axis} of ${cap}${solved === 0 ? "" : `, ${solved} solved`}`;
}

function cellsOf({ arm, family }: Row, most: number, run: ReadRun) {
  const { armId, probability, value, weight, issued, groups, recentSolvedShare, recentRewardMean } = arm;
  const length = lengthFigure(arm.lengths);
  const hasRows = run.config.arms.find(({ id }) => id === armId)?.rows !== undefined;
  return [
    <a href={hrefOf(["runs", run.runId, "samples"], { arm: armId })}>{armId}</a>,
    <a href={taskHref(family, { level: levelOf(run.config, armId) })}>{family}</a>,
    <Share value={probability / most} label={percent(probability)} />,
    figure(value),
    recentSolvedShare === undefined ? (
      "–"
    ) : (
      <Share value={recentSolvedShare} label={percent(recentSolvedShare)} tone="good" />
    ),
    figure(recentRewardMean),
    figure(weight),
    count(issued),
    count(groups),
    length === undefined ? "–" : `${count(Math.round(length.mean))} ${lengthWords(length)}`,
    length === undefined ? "–" : count(length.total),
    <>
      {growthWords(arm)}
      {hasRows && (
        <a href={hrefOf(["runs", run.runId, "rows"], { arm: armId })} aria-label={`Rows of ${armId}`}>
          rows
        </a>
      )}{" "}
      {arm.removed && <Tag>removed</Tag>}
      {!arm.removed && weight === 0 && <Tag tone="poor">weight 0</Tag>}
      {arm.maskedReason !== undefined && <Tag tone="bad">{`masked: ${arm.maskedReason}`}</Tag>}
    </>,
  ];
}
