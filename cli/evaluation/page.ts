/**
 * Writes report.html, the report of an evaluation: a self-contained page without scripts, for light and dark screens.
 */
import type { Report, ReportRow } from "../../clients/ts/src/public.ts";
import {
  type Exactness,
  figureBars,
  lineColour,
  linesStyle,
  outcomeBars,
  outcomeKindsOf,
  passCurves,
  ratioHistograms,
} from "./charts.ts";
import { type Column, cellOf, columnsOf } from "./figures.ts";
import { style } from "./page-style.ts";
import type { Picture } from "./pictures.ts";
import { type Summary, rowsOf, remarksOf } from "./summary.ts";

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? "");

interface Legend {
  readonly title: string;
  readonly colour: string;
}

function legend(entries: readonly Legend[]): string {
  const items = entries.map(({ title, colour }) => `<li><i style="background:${colour}"></i>${escape(title)}</li>`);
  return `<ul class="legend">${items.join("")}</ul>`;
}

function section(title: string, words: string, ...content: readonly string[]): string {
  return `<section><h2>${escape(title)}</h2><p>${escape(words)}</p>${content.join("")}</section>`;
}

const chart = (svg: string): string => `<figure>${svg}</figure>`;

const scored = (rows: readonly ReportRow[]): readonly ReportRow[] => rows.filter(({ samples }) => samples > 0);

/** Returns the most important columns of a report. Of the pass@k columns, only the one with the largest k remains. */
function leading(columns: readonly Column[]): readonly Column[] {
  const isPass = ({ figure }: Column): boolean => /^pass@\d+$/.test(figure);
  const most = columns.findLast(isPass);
  return columns.filter((column) => !isPass(column) || column === most);
}

function tiles(report: Report): string {
  const { overall } = report;
  if (overall === undefined) return "";
  const shown = leading(columnsOf([overall])).slice(0, 4);
  const tile = (title: string, value: string, words: string): string =>
    `<li><b>${escape(value)}</b><span>${escape(title)}</span><small>${escape(words)}</small></li>`;
  const figures = shown.map((column) => tile(column.title, cellOf(overall, column), column.meaning));
  const missing = overall.samplesExpected - overall.samples;
  const words = missing === 0n ? "the whole suite" : `${missing} are missing: statistics may change`;
  return `<ul class="tiles">${figures.join("")}${tile("samples", String(overall.samples), words)}</ul>`;
}

function figuresTable(report: Report): string {
  const groups = rowsOf(report).map(scored);
  const columns = columnsOf(groups.flat());
  const head = columns.map(({ title, meaning }) => `<th title="${escape(meaning)}">${escape(title)}</th>`);
  const body = groups.map((rows) => {
    const lines = rows.map((row) => {
      const cells = columns.map((column) => `<td>${escape(cellOf(row, column))}</td>`);
      return `<tr><th>${escape(row.name)}</th><td>${row.samples}</td>${cells.join("")}</tr>`;
    });
    return `<tbody>${lines.join("")}</tbody>`;
  });
  const table = `<table><thead><tr><th></th><th>samples</th>${head.join("")}</tr></thead>${body.join("")}</table>`;
  const meanings = columns.map(({ title, meaning }) => `<li><b>${escape(title)}</b> ${escape(meaning)}</li>`);
  return `<div class="wide">${table}</div><ul class="meanings">${meanings.join("")}</ul>`;
}

const srAndQr = [
  { figure: "success_rate", title: "SR", colour: "var(--series-0)" },
  { figure: "quality_ratio", title: "QR", colour: "var(--series-1)" },
] as const;

/** Returns the page's sections for answers with a quality, i.e. a ratio to the best answer. */
function qualitySections({ report, parts }: Summary): readonly string[] {
  const withRatio = parts.filter(({ part }) =>
    report.parts.some(({ name, figures }) => name === part && "quality_ratio" in figures),
  );
  if (withRatio.length === 0) return [];
  const rows = scored(report.categories).filter(({ figures }) => "quality_ratio" in figures);
  return [
    section(
      "By category",
      "SR is the share of answers that meet every constraint; QR how near they come to the optimum.",
      legend(srAndQr.map(({ title, colour }) => ({ title, colour }))),
      chart(figureBars("Success rate and quality ratio by category", rows, srAndQr)),
    ),
    section(
      "How good feasible answers are",
      "Samples by ratio to the baseline, 1 at the right; answers that are not feasible are left out.",
      chart(ratioHistograms("Ratios of feasible answers by part", withRatio)),
    ),
  ];
}

/** Returns the page's sections for answers that are only right or wrong. */
function exactSections({ report }: Summary): readonly string[] {
  const rows = scored(report.categories).filter(({ figures }) => "pass@1" in figures);
  const several = rows.some(({ figures }) => "pass@2" in figures);
  if (rows.length === 0) return [];
  const names = rows.map(({ name }) => name);
  const svg = several
    ? linesStyle(names) +
      legend(names.map((title, i) => ({ title, colour: lineColour(i) }))) +
      chart(passCurves("pass@k by category", rows))
    : chart(
        figureBars("Exact rate by category", rows, [
          { figure: "exact_rate", title: "exact", colour: "var(--series-0)" },
        ]),
      );
  const words = several
    ? "The chance that at least one of k samples of a task is right."
    : "The share of samples that are right.";
  return [section(several ? "pass@k" : "Right answers", words, svg)];
}

function exactnessOf(haveQuality: readonly boolean[]): Exactness {
  if (!haveQuality.includes(true)) return "exact";
  return haveQuality.includes(false) ? "mixed" : "quality";
}

function outcomeSection({ parts, report }: Summary): string {
  const qualities = scored(report.parts).map(({ figures }) => "quality_ratio" in figures);
  const kinds = outcomeKindsOf(parts, exactnessOf(qualities));
  const svg = outcomeBars("Outcomes by part", parts, kinds);
  return section("What became of the answers", "Shares of each part's samples.", legend(kinds), chart(svg));
}

function violationSection({ violations }: Summary): string {
  if (violations.length === 0) return "";
  const rows = violations.map(
    ({ part, violation, count }) =>
      `<tr><td>${count}</td><th>${escape(part)}</th><td class="words">${escape(violation)}</td></tr>`,
  );
  const table = `<table><thead><tr><th>samples</th><th></th><th class="words">first violation</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
  const words = "Each number is shown as …, so that similar failures are counted together.";
  return section("Why answers failed", words, `<div class="wide">${table}</div>`);
}

/**
 * Returns the page's section of pictures. Each is an image of its own, so that its style and content cannot affect the
 * page.
 */
function pictureSection(pictures: readonly Picture[] | undefined): string {
  const title = "What falls short";
  if (pictures === undefined)
    return section(
      title,
      "No pictures: drawing them needs the keys that signed the task ids: give --key-file or --data-dir.",
    );
  if (pictures.length === 0) return "";
  const items = pictures.map(({ part, words, svg }) => {
    const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
    const caption = `<figcaption><b>${escape(part)}</b> ${escape(words)}</figcaption>`;
    return `<figure>${caption}<img loading="lazy" alt="${escape(`${part}: ${words}`)}" src="${source}"></figure>`;
  });
  const words =
    "Of each part the first answer that breaks a constraint, and the feasible one farthest from the best. The best answer is in grey.";
  return section(title, words, `<div class="pictures">${items.join("")}</div>`);
}

function settingsSection({ report, settings }: Summary): string {
  const { evaluation, suite } = report;
  const all = {
    evaluation: evaluation?.evaluationId,
    suite: `${suite?.id} version ${suite?.version}`,
    "samples per task": evaluation?.samplesPerTask,
    ...settings,
  };
  const rows = Object.entries(all).map(
    ([name, value]) =>
      `<tr><th>${escape(name)}</th><td class="words">${escape(typeof value === "string" ? value : JSON.stringify(value ?? ""))}</td></tr>`,
  );
  return section("How it was made", suite?.description ?? "", `<table><tbody>${rows.join("")}</tbody></table>`);
}

/** Returns the report page of an evaluation. `pictures` is undefined if this process cannot draw them. */
export function reportPage(summary: Summary, pictures?: readonly Picture[]): string {
  const { report } = summary;
  const { evaluation, suite } = report;
  const [title, model] = [suite?.id ?? "", evaluation?.model ?? ""];
  const sections = [
    ...qualitySections(summary),
    ...exactSections(summary),
    ...(summary.parts.length === 0 ? [] : [outcomeSection(summary)]),
    section("All figures", "A task counts once, however many samples it has.", figuresTable(report)),
    violationSection(summary),
    pictureSection(pictures),
    settingsSection(summary),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(`${title} · ${model}`)}</title>
<style>${style}</style>
</head>
<body>
<header><p>${escape(title)}</p><h1>${escape(model)}</h1>${report.warnings.map((words) => `<p class="warning">${escape(words)}</p>`).join("")}${tiles(report)}<p class="note">${escape(remarksOf(report).join(" "))}</p></header>
<main>
${sections.filter((text) => text !== "").join("\n")}
</main>
</body>
</html>
`;
}
