/** Scores a completion of a task: locates the answer, reads it, verifies it, and computes the reward. */
import { type Located, locateAnswers, type LocatedSpan, type Thinking, trusting } from "./answers/locate.ts";
import { withRemedy } from "./answers/remedy.ts";
import { stripAnswer } from "./answers/strip.ts";
import { scanCompletion, type ScannedCompletion } from "./commit.ts";
import type { AsyncEnvironment, Baseline, Environment, SyncEnvironment } from "./environment.ts";
import type { VerifyContext } from "./resource.ts";
import { type Failed, type Findings, type GradedFacts, type Malformed, malformed, type Parsed } from "./facts.ts";
import type { AnswerFormat } from "./prompt.ts";
import { assertNever } from "./lib/assert-never.ts";
import { clipUtf8, codePointOffsets } from "./lib/text.ts";
import { escaped, isPlain } from "./lib/escape.ts";
import { improvementOf, isOptimal, qualityRatio, type RewardComponent } from "./reward/scheme.ts";
import type { ResolvedScheme } from "./reward/schemes.ts";
import { tidinessOf } from "./reward/tidiness.ts";

/** Data about a task that scoring its completions needs. */
interface Scoring<E, Instance> {
  readonly environment: E;
  readonly instance: Instance;
  readonly format: AnswerFormat;
  /** How much of its thinking the completion contains. Defaults to "required". */
  readonly thinking?: Thinking;
  readonly scheme: ResolvedScheme;
  /** Version under which the task was issued. Defaults to the environment's version. */
  readonly version?: number;
  /** Best known objective, and its bound. Unset if the environment has nothing to optimise, or no solver. */
  readonly baseline?: Baseline;
  /**
   * True if the trainer says that the completion was cut off. An answer then counts only if a closing mark or a line
   * break follows it.
   */
  readonly wasCut?: boolean;
  /**
   * Whether a completion without an answer gets a violation text that suggests run settings under which its answer
   * would be found. Defaults to false.
   */
  readonly hasRemedies?: boolean;
}

export type ScoreTask<Instance = unknown> = Scoring<SyncEnvironment<Instance>, Instance>;
export type AsyncScoreTask<Instance = unknown> = Scoring<AsyncEnvironment<Instance>, Instance>;
/** Data for scoring a completion of any environment, synchronous or asynchronous. */
export type AnyScoreTask<Instance = unknown> = Scoring<Environment<Instance>, Instance>;

export type Verdict = Findings["kind"];

/** One marked answer. Offsets count Unicode code points and exclude the marks. */
export interface ScoredSpan {
  readonly start: number;
  readonly end: number;
  /** Offset after the closing mark. Set if the scheme scans for commits (first correct answers). */
  readonly markedEnd?: number;
  readonly verdict: Verdict;
  readonly solved: boolean;
}

/** Score of a completion. The fields mean the same as in gradus.v1.Score. */
export interface Score {
  readonly reward: number;
  readonly components: readonly RewardComponent[];
  readonly verdict: Verdict;
  readonly solved: boolean;
  readonly objective: number | undefined;
  readonly baseline: Baseline | undefined;
  /** Quality ratio: how near the objective is to the baseline's, in [0, 1]. */
  readonly ratio: number | undefined;
  /** Quality of the answer, in [0, 1]: its ratio, its primary component, or 1 if it is correct and else 0. */
  readonly quality: number;
  /** Description of what is wrong with the answer, at most VIOLATION_BYTES_MAX bytes of UTF-8. Empty if there is none. */
  readonly violation: string;
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly spans: readonly ScoredSpan[];
  readonly info: Readonly<Record<string, string>>;
  /** Findings of the scan. Set if the scheme scans for commits (first correct answers). */
  readonly scan?: ScoredScan;
  /** Why the episode ended, and its number of calls. Set if the task has turns. */
  readonly episode?: { readonly stop: StopReason; readonly calls: number };
}

/** Reason why an episode ended. The contract's StopReason uses the same words. */
export type StopReason = "goal" | "budget" | "ended" | "truncated";

/** Findings of a scheme that scans a completion for its commit, the first correct answer. */
export interface ScoredScan extends Pick<ScannedCompletion, "answers" | "length" | "complete" | "commit"> {
  /** Maximum number of contrast pairs (a preferred and a rejected text) of the completion's group. */
  readonly pairsMax: number;
}

export const VIOLATION_BYTES_MAX = 512;

const NO_INFO: Readonly<Record<string, string>> = Object.freeze({});
const NO_SPANS: readonly ScoredSpan[] = Object.freeze([]);

/** Scores a completion. Throws only for a bug of the environment, never because of the completion's content. */
export function score<Instance>(task: ScoreTask<Instance>, completion: string): Score {
  try {
    const found = locateAnswers(completion, task.format, task.thinking, task.wasCut);
    const located = isDoubtRight(task, found) ? trusting(found) : found;
    if (task.scheme.scheme.scan !== undefined) return scoreScanned(task, completion, located, found);
    const findings = located.spans.map((span) => examine(task, span.text));
    const counts = located.problem === undefined ? (findings.at(-1) as Findings) : unread(task, completion, located);
    if (failureOf(task, counts) !== undefined)
      throw new Error("bug of the environment: a verifier that asks no resource must not return a failure");
    return scoreOf(task, completion, located, { counts, spans: located.spans, findings });
  } catch (cause) {
    throw named(task.environment, cause);
  }
}

function isDoubtRight<Instance>(task: ScoreTask<Instance>, { doubtful }: Located): boolean {
  return task.wasCut !== true && doubtful !== undefined && removesDoubt(examine(task, doubtful.text));
}

/**
 * Returns whether the findings show that a doubtful (not properly marked) answer was complete. A feasible or solving
 * answer is complete; a wrong one may be only the start of the intended answer.
 */
function removesDoubt(findings: Findings): boolean {
  return findings.kind === "graded" ? findings.solved : findings.kind === "feasible";
}

/**
 * Scores a completion under a scheme that scans for commits. The scan does not change which answer counts. The score's
 * spans are those of the scan.
 */
function scoreScanned<Instance>(
  task: ScoreTask<Instance>,
  completion: string,
  located: Located,
  { doubtful }: Located,
): Score {
  const { scheme, parameters } = task.scheme;
  const counts =
    located.problem === undefined ? examine(task, located.answer as string) : unread(task, completion, located);
  const isTrusted = located.problem === undefined && doubtful !== undefined;
  const scanned = scanCompletion(completion, {
    format: task.format,
    wasCut: task.wasCut === true,
    unmarked: isTrusted ? { ...doubtful, markedEnd: doubtful.end } : undefined,
    answersMax: scheme.scan?.answersMax(parameters) ?? 0,
    examine: (text) => (located.problem === undefined && text === located.answer ? counts : examine(task, text)),
    isRight: (findings) => isSolved(task, findings),
  });
  const { answers, length, complete, commit } = scanned;
  const scored = scoreOf(task, completion, located, { counts, spans: [], findings: [] }, scanned);
  return { ...scored, scan: { answers, length, complete, commit, pairsMax: scheme.scan?.pairsMax(parameters) ?? 0 } };
}

/** Returns the findings about a completion without an answer: malformed, and why. */
function unread(task: AnyScoreTask, completion: string, { problem = "there is no answer" }: Located): Malformed {
  return malformed(task.hasRemedies === true ? withRemedy(task, completion, problem) : problem);
}

/** Completion whose answer was read and awaits verification. */
export interface Verification {
  readonly kind: "verification";
  /** Verifies the answer. May be called several times. */
  readonly verify: (context: VerifyContext) => Promise<Findings | Failed>;
  /** Returns the score for the findings, or Failed if the primary component failed. */
  finish(findings: Findings): AsyncScore;
}

export type AsyncScore = { readonly kind: "score"; readonly score: Score } | Failed;

/**
 * Begins to score a completion for an environment that must ask a resource. A completion without a readable answer is
 * scored at once. Of several answers, only the one that counts is verified.
 */
export function beginScore<Instance>(task: AsyncScoreTask<Instance>, completion: string): AsyncScore | Verification {
  const { environment, instance, wasCut } = task;
  try {
    const found = locateAnswers(completion, task.format, task.thinking, wasCut);
    const located = wasCut === true ? found : trusting(found);
    const scored = (as: Located, counts: Findings, spans: readonly LocatedSpan[] = []): AsyncScore => {
      const examined = { counts, spans, findings: spans.map(() => counts) };
      return { kind: "score", score: scoreOf(task, completion, as, examined) };
    };
    const asUnread = (): AsyncScore => scored(found, unread(task, completion, found));
    const span = located.spans.at(-1);
    if (located.problem !== undefined || span === undefined) return asUnread();
    const isDoubtful = found.problem !== undefined;
    const parsed = parseAnswer(environment, span.text, instance);
    if (parsed.kind === "malformed") return isDoubtful ? asUnread() : scored(located, parsed, [span]);
    return {
      kind: "verification",
      verify: (context) => environment.verify(instance, parsed.answer, context),
      finish: (findings) =>
        failureOf(task, findings) ??
        (isDoubtful && !removesDoubt(findings) ? asUnread() : scored(located, findings, [span])),
    };
  } catch (cause) {
    throw named(environment, cause);
  }
}

function named({ id, version }: Environment, cause: unknown): Error {
  return new Error(`${id} version ${version}: ${cause instanceof Error ? cause.message : "failed"}`, { cause });
}

/**
 * Reads an answer's text. Strips the wrapping that models put around an answer, unless the environment is `verbatim`.
 */
export function parseAnswer<Instance>(
  environment: Environment<Instance>,
  text: string,
  instance: Instance,
): Parsed<unknown> {
  return environment.parse(environment.verbatim === true ? text : stripAnswer(text, environment.answerNames), instance);
}

function examine<Instance>({ environment, instance }: ScoreTask<Instance>, text: string): Findings {
  const parsed = parseAnswer(environment, text, instance);
  return parsed.kind === "malformed" ? parsed : environment.verify(instance, parsed.answer);
}

/**
 * Returns the failure of the primary component, if the server or an external service failed to compute it. The
 * completion then gets no reward.
 */
function failureOf<Instance>({ environment }: AnyScoreTask<Instance>, findings: Findings): Failed | undefined {
  if (findings.kind !== "graded") return undefined;
  const primary = primaryOf(environment, findings);
  return primary?.value === undefined ? primary?.failure : undefined;
}

/** Findings about each answer that the score reports, and about the answer that counts. */
interface Examined {
  readonly counts: Findings;
  readonly spans: readonly LocatedSpan[];
  readonly findings: readonly Findings[];
}

function scoreOf<Instance>(
  task: AnyScoreTask<Instance>,
  completion: string,
  located: Located,
  { counts, spans, findings }: Examined,
  scanned?: ScannedCompletion,
): Score {
  const { reward, components } = price(task, counts, completion, located, scanned);
  const objective = counts.kind === "feasible" ? counts.objective : undefined;
  const ratio = ratioOf(task, objective);
  const solved = isSolved(task, counts);
  return {
    reward,
    components,
    verdict: counts.kind,
    solved,
    objective,
    baseline: task.baseline,
    ratio,
    quality: ratio ?? (counts.kind === "graded" ? gradeOf(task, counts) : Number(solved)),
    violation: clipUtf8(escaped(clipUtf8(violationOf(counts), VIOLATION_BYTES_MAX)), VIOLATION_BYTES_MAX),
    terminated: true,
    truncated: located.truncated || task.wasCut === true,
    spans:
      scanned?.spans.map(({ findings: facts, ...span }) => ({ ...span, ...verdictOf(task, facts) })) ??
      (findings.length === 0 ? NO_SPANS : toScoredSpans(task, completion, spans, findings)),
    info: infoOf(task, counts),
  };
}

/**
 * Returns the environment's own facts about the answer, by name, e.g. "guesses", with unsafe characters escaped. If a
 * newer version of the environment verified the answer, "judged_by" says so.
 */
export function infoOf<Instance>(task: AnyScoreTask<Instance>, findings: Findings): Readonly<Record<string, string>> {
  const found = findings.kind === "malformed" ? undefined : findings.info;
  const { environment, version = environment.version } = task;
  const judgedBy = `version ${environment.version}: the task is of version ${version}, which gave some answers other verdicts`;
  const info = version === environment.version ? found : { ...found, judged_by: judgedBy };
  if (info === undefined) return NO_INFO;
  // Most facts are numbers and plain words, which need no escaping.
  if (Object.values(info).every(isPlain)) return info;
  return Object.fromEntries(Object.entries(info).map(([name, value]) => [name, escaped(value)]));
}

function price<Instance>(
  task: AnyScoreTask<Instance>,
  findings: Findings,
  completion: string,
  located: Located,
  scanned: ScannedCompletion | undefined,
) {
  const { environment, instance, baseline } = task;
  const { scheme, parameters } = task.scheme;
  const trivial = scheme.usesTrivial ? environment.trivial?.(instance) : undefined;
  const tidiness =
    scheme.usesTidiness === true ? tidinessOf(completion, located, task.format, task.thinking) : undefined;
  const commit = scanned?.commit && scanned.commit.end / scanned.length;
  const known = { goal: environment.goal, findings, formatValid: located.formatValid, baseline, parameters };
  return scheme.price({ ...known, trivial, tidiness, commit });
}

/** Returns whether the answer reaches the goal: it is correct, or its objective equals a proven optimum. */
export function isSolved<Instance>({ environment, baseline }: AnyScoreTask<Instance>, findings: Findings): boolean {
  if (findings.kind === "graded") return findings.solved;
  if (findings.kind !== "feasible") return false;
  if (environment.goal === "satisfy") return true;
  return baseline !== undefined && findings.objective !== undefined && isOptimal(findings.objective, baseline);
}

/** Returns the quality ratio of an objective. Undefined if there is none, or nothing to compare it with. */
export function ratioOf<Instance>(
  { environment, baseline }: AnyScoreTask<Instance>,
  objective: number | undefined,
): number | undefined {
  if (environment.goal === "satisfy" || baseline === undefined || objective === undefined) return undefined;
  return qualityRatio(environment.goal, objective, baseline);
}

/**
 * Returns the primary component, which decides the quality of a graded answer. Undefined if the facts do not have it.
 */
function primaryOf({ grading }: Pick<Environment, "grading">, { components }: GradedFacts) {
  return components.find(({ name }) => name === grading?.primary);
}

/**
 * Returns the quality of a graded answer: the value of its primary component, limited to [0, 1], or 0 if it has none.
 */
export function gradeOf<Instance>({ environment }: AnyScoreTask<Instance>, findings: GradedFacts): number {
  return Math.min(1, Math.max(0, primaryOf(environment, findings)?.value ?? 0));
}

/**
 * Returns the numbers beside the reward that a run's policy may read, by name.
 * - `component:…` are the parts of the reward that have a value.
 * - `metadata:…` are the environment's facts about the instance that are numbers.
 * - `improvement` is the answer's share of the way from the trivial answer to the optimum, in [0, 1], if both are
 * known. An infeasible answer has 0.
 */
export function factsOf<Instance>(
  { environment, instance, baseline }: Pick<AnyScoreTask<Instance>, "environment" | "instance" | "baseline">,
  { components, objective }: Pick<Score, "components" | "objective">,
): Readonly<Record<string, number>> {
  const facts: Record<string, number> = {};
  for (const { name, value } of components) if (value !== undefined) facts[`component:${name}`] = value;
  for (const [name, text] of Object.entries(environment.metadata(instance))) {
    const value = text.trim() === "" ? NaN : Number(text);
    if (Number.isFinite(value)) facts[`metadata:${name}`] = value;
  }
  const { goal } = environment;
  const trivial = goal === "satisfy" ? undefined : environment.trivial?.(instance);
  if (baseline !== undefined && trivial !== undefined)
    facts.improvement = improvementOf({ goal, baseline, trivial }, objective) ?? 0;
  return facts;
}

/** Returns what is wrong with an answer, in words. Empty if nothing is. */
export function violationOf(findings: Findings): string {
  switch (findings.kind) {
    case "feasible":
      return "";
    case "infeasible":
      return findings.violation;
    case "graded":
      return findings.violation ?? "";
    case "malformed":
      return findings.reason;
    default:
      return assertNever(findings);
  }
}

function toScoredSpans<Instance>(
  task: AnyScoreTask<Instance>,
  completion: string,
  spans: readonly LocatedSpan[],
  findings: readonly Findings[],
): readonly ScoredSpan[] {
  const ends = new Array<number>(2 * spans.length);
  for (let i = 0; i < spans.length; i++) {
    const { start, end } = spans[i] as LocatedSpan;
    ends[2 * i] = start;
    ends[2 * i + 1] = end;
  }
  const offsets = codePointOffsets(completion, ends);
  return findings.map((facts, i) => ({
    start: offsets[2 * i] as number,
    end: offsets[2 * i + 1] as number,
    ...verdictOf(task, facts),
  }));
}

function verdictOf<Instance>(task: AnyScoreTask<Instance>, facts: Findings): Pick<ScoredSpan, "verdict" | "solved"> {
  return { verdict: facts.kind, solved: isSolved(task, facts) };
}
