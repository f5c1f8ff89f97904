/**
 * Shows a run as lines of text: its state, with a bar for each arm, and what it drew. The lines fit a terminal of 66
 * columns or more.
 */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type FormatWarning, lengthFigure, type RunConfig, type RunState } from "../../clients/ts/src/public.ts";
import type { Series, Step } from "./series.ts";
import { topArms, topOf } from "./top-arms.ts";

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const HEIGHTS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const NAME_MAX = 22;

const percent = (value: number | undefined): string => (value === undefined ? "–" : `${Math.round(100 * value)}%`);

/** Draws a share in [0, 1] as a bar, padded to `columns`. */
export function bar(share: number, columns: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * columns * 8);
  const full = "█".repeat(Math.floor(eighths / 8));
  return (full + (EIGHTHS[eighths % 8] ?? "")).padEnd(columns);
}

/** Draws values as columns side by side. The value `highest` is a full column. */
function sparkline(values: readonly number[], highest: number): string {
  const step = (value: number): number => Math.min(7, Math.max(0, Math.ceil((8 * value) / highest) - 1));
  return values.map((value) => (value <= 0 ? " " : (HEIGHTS[step(value)] ?? "█"))).join("");
}

function clipped(text: string, columns: number): string {
  return text.length <= columns ? text.padEnd(columns) : `${text.slice(0, columns - 1)}…`;
}

/** Shortens a long id to its beginning and its end, because ids of arms often begin alike. */
function clippedId(id: string, columns: number): string {
  const end = Math.floor(columns / 2);
  return id.length <= columns ? id.padEnd(columns) : `${id.slice(0, columns - 1 - end)}…${id.slice(-end)}`;
}

function small(value: number): string {
  return Math.abs(value) >= 1000 ? value.toFixed(0) : value.toFixed(3);
}

/**
 * Returns a run's progress, e.g. "40 of 200 tasks" if `tasks` is " tasks". The length is that of the run's present
 * shape, which may differ from its configuration. With dynamic sampling the length counts the tasks to train on, and
 * more are drawn.
 */
export function tasksText(config: RunConfig | undefined, { cursor, shape }: RunState, tasks = ""): string {
  const { length } = shape ?? config ?? { length: 0n };
  if (length === 0n) return `${cursor}${tasks}`;
  const isAll = config?.dynamicSampling === undefined;
  return isAll ? `${cursor} of ${length}${tasks}` : `${cursor}${tasks} for ${length} to train on`;
}

/** Returns whether a run is done or paused, with who paused it and since when. Empty if it goes on. */
export function standingText({ done, paused, pausedBy, pausedAt }: RunState): string {
  if (done || !paused) return done ? "done" : "";
  const by = pausedBy === "" ? "" : ` by ${pausedBy}`;
  return `paused${by}${pausedAt === undefined ? "" : ` since ${timestampDate(pausedAt).toISOString()}`}`;
}

/** Returns the run's state in two lines. */
export function headLines(config: RunConfig | undefined, state: RunState): readonly string[] {
  const { runId, batchesDrawn, batchesClosed, groupsOutstanding, samplesRecorded, epoch, policy } = state;
  return [
    [runId, policy?.kind.case ?? "", standingText(state)].filter((word) => word !== "").join("  "),
    `${tasksText(config, state, " tasks")}, ${batchesDrawn} update batches (${batchesClosed} closed), ${groupsOutstanding} groups open, ${samplesRecorded} samples` +
      (epoch === 0 ? "" : `, epoch ${epoch}`),
  ];
}

/**
 * Returns a heading and a line for each arm. A line has bars for probability and success, and the arm's value, reward
 * and tasks drawn. Of many arms, the most probable are shown.
 */
export function armLines({ arms: all }: RunState, width: number): readonly string[] {
  const arms = topOf(all.map(({ probability }) => probability)).flatMap((place) => all[place] ?? []);
  const name = Math.min(NAME_MAX, Math.max(3, ...arms.map(({ armId }) => armId.length)));
  // Width of the two bars: what the other columns leave. With their spaces, the columns of numbers take: probability 5,
  // value 7, solved 5, reward 7, tasks 8, and lengths 18, which a narrow terminal leaves out.
  const lengths = width - name - 38 - 18 < 8 ? undefined : lengthColumns(arms);
  const forBars = Math.max(8, width - name - 38 - (lengths === undefined ? 0 : 18));
  const [wide, narrow] = [Math.ceil(forBars * 0.6), Math.floor(forBars * 0.4)];
  const row = (cells: readonly [string, string, string, string, string, string, string, string]): string => {
    const [id, p, pText, value, solved, solvedText, reward, tasks] = cells;
    const parts = [
      clippedId(id, name),
      clipped(p, wide),
      pText.padStart(4),
      value.padStart(7),
      clipped(solved, narrow),
    ];
    return [...parts, solvedText.padStart(4), reward.padStart(7), tasks.padStart(7)].join(" ").trimEnd();
  };
  const head = row(["arm", "probability", "", "value", "solved", "", "reward", "tasks"]) + (lengths?.head ?? "");
  const rows = arms.map(({ armId, probability, value, recentSolvedShare, recentRewardMean, issued, ...arm }, i) => {
    if (arm.removed) return `${clippedId(armId, name)} removed, after ${issued} tasks`.slice(0, width);
    if (arm.maskedReason !== undefined)
      return `${clippedId(armId, name)} not drawn: ${arm.maskedReason}`.slice(0, width);
    const cells = row([
      ...([armId, bar(probability, wide), percent(probability), small(value)] as const),
      ...([bar(recentSolvedShare ?? 0, narrow), percent(recentSolvedShare)] as const),
      ...([recentRewardMean === undefined ? "–" : small(recentRewardMean), String(issued)] as const),
    ]);
    return cells + (lengths?.rows[i] ?? "");
  });
  const left = all.length - arms.length;
  return [head, ...rows, ...(left === 0 ? [] : [`and ${left} arms that are less probable`])];
}

/** Formats a number for a narrow column, e.g. "812" or "1.3M". */
function brief(value: number): string {
  const [unit, size] = value >= 1e9 ? ["G", 1e9] : value >= 1e6 ? ["M", 1e6] : value >= 1e4 ? ["k", 1e3] : ["", 1];
  return `${unit === "" ? Math.round(value) : Number((value / size).toPrecision(3))}${unit}`;
}

/**
 * Returns the heading and the cells of two columns: the mean length of each arm's completions, and their sum. Arms
 * whose lengths have another unit than the heading's get a dash. Undefined: no arm has lengths.
 */
function lengthColumns(arms: RunState["arms"]) {
  const figures = arms.map(({ lengths }) => lengthFigure(lengths));
  const units = figures.flatMap((figure) => figure?.unit ?? []);
  const unit = units.includes("tokens") ? "tokens" : units[0];
  if (unit === undefined) return undefined;
  const cells = (mean: string, spent: string): string => ` ${mean.padStart(10)} ${spent.padStart(6)}`;
  const rows = figures.map((of) => (of?.unit === unit ? cells(brief(of.mean), brief(of.total)) : cells("–", "–")));
  return { head: cells(unit, "spent"), rows };
}

/** Returns a line for each arm that grows, e.g. "clique: 6 → 23 vertices of 40, 4 levels solved". */
function growthLines({ arms }: RunState): readonly string[] {
  return arms.flatMap(({ armId, growth, removed }) => {
    if (growth === undefined || removed) return [];
    const { axis, frontier, cap, levels } = growth;
    const solved = levels.filter(({ retired }) => retired).length;
    const words = solved === 0 ? "" : `, ${solved} ${solved === 1 ? "level" : "levels"} solved`;
    return [`${armId}: ${levels[0]?.value ?? frontier} → ${frontier} ${axis} of ${cap}${words}`];
  });
}

/** Returns a line for each evaluation arm, with the results of its latest round (one pass over the arm's tasks). */
export function evaluationLines({ evaluations }: RunState): readonly string[] {
  return evaluations.map(({ armId, round, cursor, tasks, samples, solvedShare, rewardMean, closed }) => {
    const means = `solved ${percent(solvedShare)}, reward ${rewardMean === undefined ? "–" : small(rewardMean)}`;
    const soFar = closed ? "" : `, ${samples} samples so far`;
    return `${armId}, round ${round} at task ${cursor}: ${means} (${tasks} tasks${soFar})`;
  });
}

/** Returns a warning that nearly all samples of a run are malformed, with the most frequent reason. */
export function formatWarningText({ samples, malformed, violation }: FormatWarning): string {
  return `${malformed} of ${samples} samples are malformed, most of them so: ${violation || "(no violation is known)"}`;
}

export function stateLines(config: RunConfig | undefined, state: RunState, width: number): readonly string[] {
  const cut = (lines: readonly string[]): readonly string[] => lines.map((line) => line.slice(0, width));
  const evaluations = cut(evaluationLines(state));
  const grown = cut(growthLines(state));
  const below = [
    ...(grown.length === 0 ? [] : ["", "grown", ...grown]),
    ...(evaluations.length === 0 ? [] : ["", "evaluated", ...evaluations]),
  ];
  // Wrap the warning instead of cutting it, because its end names what to set.
  const wrapped = new RegExp(`.{1,${width}}(?: |$)|.{1,${width}}`, "g");
  const warning =
    state.formatWarning &&
    formatWarningText(state.formatWarning)
      .match(wrapped)
      ?.map((line) => line.trimEnd());
  return [...cut(headLines(config, state)), ...(warning ?? []), "", ...armLines(state, width), ...below];
}

/** Returns the width of the column of arm ids, which also holds the row name "solved". */
const namesWidth = (arms: readonly string[]): number =>
  Math.min(NAME_MAX, Math.max("solved".length, ...arms.map(({ length }) => length)));

/** Returns a text chart of what a run drew: for each arm its share of the tasks, over the axis of the series. */
export function drawnLines(series: Series, width: number): readonly string[] {
  const { arms, growth, steps, tasks, drawn, axis } = topArms(series);
  const name = namesWidth(arms);
  const columns = drawnColumns(arms, width);
  const row = (id: string, line: string, count: string, share: string): string =>
    `${clippedId(id, name)} ${line.padEnd(columns)} ${count.padStart(8)} ${share.padStart(5)}`;
  const spread = Array.from({ length: columns }, (_, i) => stepAt(steps, (i + 0.5) / columns));
  const highest = Math.max(Number.EPSILON, ...spread.flatMap((step) => step?.shares ?? []));
  const rows = arms.map((arm, i) => {
    const line = sparkline(
      spread.map((step) => step?.shares[i] ?? 0),
      highest,
    );
    return row(arm, line, String(drawn[i] ?? 0), percent(tasks === 0 ? undefined : (drawn[i] ?? 0) / tasks));
  });
  const solved = sparkline(
    spread.map((step) => step?.solvedShare ?? 0),
    1,
  );
  const frontiers = arms.flatMap((arm, i) => {
    const values = spread.map((step) => step?.frontiers[i]);
    const known = values.filter((value) => value !== undefined);
    if (known.length === 0) return [];
    const line = sparkline(
      values.map((value) => value ?? 0),
      Math.max(...known),
    );
    const { begun, axis: grown } = growth[i] ?? { begun: known[0], axis: "" };
    return [row(arm, line, `${begun} → ${known.at(-1)} ${grown}`.trimEnd(), "")];
  });
  const end = axis === undefined ? `${tasks} tasks` : `${Math.round(axis.end)} ${axis.words}`;
  const ends = `0${end.padStart(columns - 1)}`;
  return [
    row("arm", steps.length === 0 ? "share drawn" : `share drawn (█ is ${percent(highest)})`, "tasks", ""),
    ...rows,
    ...(frontiers.length === 0 ? [] : [row("arm", "highest open level", "", ""), ...frontiers]),
    row("solved", solved, "", ""),
    row("", ends, "", ""),
  ].map((line) => line.trimEnd());
}

/**
 * Returns the step at a horizontal position of a chart, given as a share of its width. The width of a step is
 * proportional to its tasks.
 */
function stepAt(steps: readonly Step[], share: number): Step | undefined {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const cursor = first.cursor + share * (last.cursor + last.tasks - first.cursor);
  return steps.findLast((step) => step.cursor <= cursor);
}

/** Returns the number of columns of the text chart that drawnLines makes. */
export function drawnColumns(arms: readonly string[], width: number): number {
  const name = namesWidth(arms);
  return Math.max(26, width - name - 17);
}

/** Returns a run's state in one line, for logs. */
export function plainLine(config: RunConfig | undefined, state: RunState): string {
  const [, standing = ""] = headLines(config, state);
  const there = state.arms.filter(({ removed }) => !removed);
  const arms = there.map(
    ({ armId, probability, recentSolvedShare }) =>
      `${armId}=${percent(probability)}${recentSolvedShare === undefined ? "" : ` (solved ${percent(recentSolvedShare)})`}`,
  );
  return [
    standing,
    arms.join(", "),
    ...growthLines(state),
    ...evaluationLines(state),
    ...(state.paused ? [standingText(state)] : []),
  ].join("; ");
}
