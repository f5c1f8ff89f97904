/**
 * Computes the backward-transfer matrix (Omni-Thinker 4.3): how training on one domain changes the scores of the
 * others. Pure.
 */
import type { Report, ReportRow } from "../../../clients/ts/src/public.ts";
import { domainOrder } from "../../../server/curriculum/policies/forgetting.ts";

export interface DomainReports {
  readonly domain: string;
  /** Reports on the model after training on the domain. */
  readonly reports: readonly Report[];
}

export interface MatrixInput {
  /** Reports on the model before any training. */
  readonly base: readonly Report[];
  readonly after: readonly DomainReports[];
  /**
   * Report rows of each domain, whose mean is the domain's score. A domain that is missing uses the row of its own
   * name.
   */
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** Name of the report's statistic to use as the score. If undefined, the first of FIGURES that a row has. */
  readonly figure: string | undefined;
}

export interface TransferRow {
  readonly trained: string;
  /** Change of each domain's score, in the order of the domains. Includes the domain that was trained on. */
  readonly changes: readonly number[];
}

export interface Matrix {
  readonly domains: readonly string[];
  /** Score of each domain before any training. */
  readonly base: readonly number[];
  readonly transfers: readonly TransferRow[];
  /**
   * For each domain, the mean change of its score when the model is trained on another domain. A negative value is
   * forgetting.
   */
  readonly means: readonly number[];
  /** Domains, the least forgotten first, as a run's forgetting policy orders them. */
  readonly order: readonly string[];
}

export type MatrixResult =
  | {
      readonly kind: "ok";
      readonly matrix: Matrix;
      /** Warnings about report rows with missing samples. The scores of these rows may still change. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: "invalid"; readonly message: string };

/**
 * Statistics of a report from which a score is taken by default: the first that the row has. The quality of answers
 * comes before the share of acceptable ones.
 */
const FIGURES = ["quality_ratio", "exact_rate", "mean_score", "success_rate"];

/**
 * Number of decimals to which changes of scores are rounded. The order of domains is computed from the rounded changes,
 * so that the printed policy gives the same order.
 */
const DECIMALS = 4;

type Score =
  | {
      readonly kind: "score";
      readonly name: string;
      readonly score: number;
      /** Suite in words, e.g. "suite forge-bench version 2". Empty if the report does not say. */
      readonly suite: string;
      readonly missing: bigint;
      /** Warnings of the report. Empty if there are none. */
      readonly warned: string;
    }
  | { readonly kind: "none"; readonly message: string };

/** Scores of the domains before training, or after training on one domain. */
interface Stage {
  readonly kind: "ok";
  /** Scores in the order of the domains. */
  readonly scores: readonly number[];
  /** Suite from which each report row comes that was used for a score. */
  readonly suites: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

export function transferMatrix(input: MatrixInput): MatrixResult {
  const { base, after } = input;
  const domains = after.map(({ domain }) => domain);
  const before = scoresOf("--base", base, domains, input);
  if (before.kind === "invalid") return before;
  const transfers: TransferRow[] = [];
  const warnings = [...before.warnings];
  for (const { domain, reports } of after) {
    const scores = scoresOf(`--after ${domain}`, reports, domains, input);
    if (scores.kind === "invalid") return scores;
    const message = otherSuite(`--after ${domain}`, scores.suites, before.suites);
    if (message !== undefined) return { kind: "invalid", message };
    warnings.push(...scores.warnings);
    transfers.push({
      trained: domain,
      changes: scores.scores.map((score, i) => rounded(score - (before.scores[i] ?? 0))),
    });
  }
  const means = domains.map((domain, i) => {
    const others = transfers.filter(({ trained }) => trained !== domain);
    return others.reduce((sum, { changes }) => sum + (changes[i] ?? 0), 0) / others.length;
  });
  const order = domainOrder({
    domains: domains.map((name) => ({ name, weights: {}, share: undefined })),
    transfers: transfers.map(({ trained, changes }) => ({
      trained,
      changes: Object.fromEntries(domains.map((domain, i) => [domain, changes[i] ?? 0])),
    })),
    reversed: false,
  }).map(({ name }) => name);
  return { kind: "ok", matrix: { domains, base: before.scores, transfers, means, order }, warnings };
}

function rounded(change: number): number {
  // Adding 0 turns −0 into 0.
  return Number(change.toFixed(DECIMALS)) + 0;
}

function scoresOf(
  stage: string,
  reports: readonly Report[],
  domains: readonly string[],
  input: MatrixInput,
): Stage | { readonly kind: "invalid"; readonly message: string } {
  const scores: number[] = [];
  const suites = new Map<string, string>();
  const warnings: string[] = [];
  for (const domain of domains) {
    const names = input.rows.get(domain) ?? [domain];
    const found = names.map((name) => scoreOf(stage, reports, name, input.figure));
    const missing = found.find((score) => score.kind === "none");
    if (missing?.kind === "none") return { kind: "invalid", message: missing.message };
    const known = found.flatMap((score) => (score.kind === "score" ? [score] : []));
    scores.push(known.reduce((total, { score }) => total + score, 0) / known.length);
    for (const { name, suite, missing, warned } of known) {
      suites.set(name, suite);
      if (warned) warnings.push(`${stage}: row '${name}': ${warned}`);
      if (missing > 0n) warnings.push(`${stage}: row '${name}' lacks ${missing} samples: its score may change`);
    }
  }
  return { kind: "ok", scores, suites, warnings };
}

/**
 * Returns in words how a row's suite differs from the suite before training. Scores on other tasks cannot be compared.
 * Undefined if all suites are equal.
 */
function otherSuite(
  stage: string,
  suites: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string>,
): string | undefined {
  const name = [...suites.keys()].find((row) => suites.get(row) !== before.get(row));
  if (name === undefined) return undefined;
  return `${stage}: row '${name}' comes from ${suites.get(name)}, but at --base from ${before.get(name)}: evaluate both on one suite`;
}

/**
 * Returns the score of a named report row. The name is that of an environment, a category, a part, or a suite as a
 * whole.
 */
function scoreOf(stage: string, reports: readonly Report[], name: string, figure: string | undefined): Score {
  const [found, ...others] = reports.flatMap((report) => {
    const row = rowOf(report, name);
    return row === undefined ? [] : [{ row, suite: suiteText(report), warned: report.warnings.join(" ") }];
  });
  // Refuse a name that several reports have, because the first one might come from different reports before and after
  // training.
  if (others.length > 0)
    return {
      kind: "none",
      message: `${stage}: several reports have a row '${name}': choose rows by --domain that only one report has`,
    };
  if (found === undefined) {
    const names = [...new Set(reports.flatMap(namesOf))].join(", ");
    const remedy = `give its rows by --domain NAME=ROW,ROW; there are ${names}`;
    return { kind: "none", message: `${stage}: no report has a row '${name}': ${remedy}` };
  }
  const { row, suite, warned } = found;
  const chosen = figure ?? FIGURES.find((candidate) => candidate in row.figures);
  const score = chosen === undefined ? undefined : row.figures[chosen];
  if (score !== undefined)
    return { kind: "score", name, score, suite, warned, missing: row.samplesExpected - row.samples };
  const figures = Object.keys(row.figures).sort();
  const has = figures.length === 0 ? "none, because it has no samples" : figures.join(", ");
  return { kind: "none", message: `${stage}: row '${name}' has no statistic '${chosen ?? FIGURES[0]}'; it has ${has}` };
}

const suiteText = ({ suite }: Report): string =>
  suite === undefined ? "" : `suite ${suite.id} version ${suite.version}`;

function rowOf({ environments, categories, parts, overall, suite }: Report, name: string): ReportRow | undefined {
  const found = [...environments, ...categories, ...parts].find((row) => row.name === name);
  return found ?? (suite?.id === name ? overall : undefined);
}

function namesOf({ environments, categories, parts, suite }: Report): readonly string[] {
  return [
    ...[...environments, ...categories, ...parts].map(({ name }) => name),
    ...(suite === undefined ? [] : [suite.id]),
  ];
}

/**
 * Returns the policy as text for a run file. Each domain has one arm of its own name, which the user replaces by the
 * real arms.
 */
export function policyText({ domains, transfers }: Matrix): string {
  const quoted = (name: string): string => (/^[a-zA-Z][\w/.-]*$/.test(name) ? name : JSON.stringify(name));
  return [
    "policy:",
    "  forgetting:",
    "    domains: # in place of each weights: the arms of the domain",
    ...domains.map((name) => `      - { name: ${quoted(name)}, weights: { ${quoted(name)}: 1 } }`),
    "    transfers:",
    ...transfers.map(({ trained, changes }) => {
      const entries = domains.flatMap((domain, i) =>
        domain === trained ? [] : [`${quoted(domain)}: ${changes[i] ?? 0}`],
      );
      return `      - { trained: ${quoted(trained)}, changes: { ${entries.join(", ")} } }`;
    }),
  ].join("\n");
}
