/** Scores a completion of a task: finds the answer, reads it, verifies it and has it priced. */
import { type Located, locateAnswers, type LocatedSpan, type Thinking, trusting } from "./answers/locate.ts";
import { stripAnswer } from "./answers/strip.ts";
import { scanCompletion, type ScannedCompletion } from "./commit.ts";
import type { AsyncEnvironment, Baseline, Environment, SyncEnvironment, VerifyContext } from "./environment.ts";
import { type Failed, type Findings, type GradedFacts, malformed, type Parsed } from "./facts.ts";
import type { AnswerFormat } from "./prompt.ts";
import { assertNever } from "./lib/assert-never.ts";
import { clipUtf8, codePointOffsets } from "./lib/text.ts";
import { escaped, isPlain } from "./lib/words.ts";
import { improvementOf, isOptimal, qualityRatio, type RewardComponent } from "./reward/scheme.ts";
import type { ResolvedScheme } from "./reward/schemes.ts";
import { tidinessOf } from "./reward/tidiness.ts";

/** What scoring needs to know of a task. */
interface Scoring<E, Instance> {
  readonly environment: E;
  readonly instance: Instance;
  readonly format: AnswerFormat;
  /** Unset: required. */
  readonly thinking?: Thinking;
  readonly scheme: ResolvedScheme;
  /** The version that the task was given out under; unset: the environment's. */
  readonly version?: number;
  /** Unset: the environment has nothing to optimise, or no solver. */
  readonly baseline?: Baseline;
  /** Whether the trainer says that the completion was cut: then an answer that no closing mark or line break ends is none. */
  readonly wasCut?: boolean;
}

export type ScoreTask<Instance = unknown> = Scoring<SyncEnvironment<Instance>, Instance>;
export type AsyncScoreTask<Instance = unknown> = Scoring<AsyncEnvironment<Instance>, Instance>;
/** Whichever of the two. */
export type AnyScoreTask<Instance = unknown> = Scoring<Environment<Instance>, Instance>;

export type Verdict = Findings["kind"];

/** One marked answer; offsets are Unicode code points, without the marks. */
export interface ScoredSpan {
  readonly start: number;
  readonly end: number;
  /** Past its closing mark; set where the scheme scans for commits. */
  readonly markedEnd?: number;
  readonly verdict: Verdict;
  readonly solved: boolean;
}

/** A completion's worth; the fields mean what those of gradus.v1.Score mean. */
export interface Score {
  readonly reward: number;
  readonly components: readonly RewardComponent[];
  readonly verdict: Verdict;
  readonly solved: boolean;
  readonly objective: number | undefined;
  readonly baseline: Baseline | undefined;
  /** In [0, 1]. */
  readonly ratio: number | undefined;
  /** How good the answer is, in [0, 1]: its ratio, or the component that it is judged by, or whether it is right. */
  readonly quality: number;
  /** What is wrong, at most VIOLATION_BYTES_MAX bytes of UTF-8; empty where nothing is. */
  readonly violation: string;
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly spans: readonly ScoredSpan[];
  readonly info: Readonly<Record<string, string>>;
  /** Set where the scheme scans for commits. */
  readonly scan?: ScoredScan;
}

/** What a scheme that scans for commits found in a completion. */
export interface ScoredScan extends Pick<ScannedCompletion, "answers" | "length" | "complete" | "commit"> {
  /** Contrast pairs that its group gives at most. */
  readonly pairsMax: number;
}

export const VIOLATION_BYTES_MAX = 512;

const NO_INFO: Readonly<Record<string, string>> = Object.freeze({});
const NO_SPANS: readonly ScoredSpan[] = Object.freeze([]);

/** The score of a completion. Never throws for what the completion holds; a throw is a bug of the environment. */
export function score<Instance>(task: ScoreTask<Instance>, completion: string): Score {
  try {
    const found = locateAnswers(completion, task.format, task.thinking, task.wasCut);
    const located = isDoubtRight(task, found) ? trusting(found) : found;
    if (task.scheme.scheme.scan !== undefined) return scoreScanned(task, completion, located, found);
    const findings = located.spans.map((span) => examine(task, span.text));
    const counts = located.problem === undefined ? (findings.at(-1) as Findings) : malformed(located.problem);
    if (failureOf(task, counts) !== undefined) throw new Error("it fails, though it asks nobody");
    return scoreOf(task, completion, located, { counts, spans: located.spans, findings });
  } catch (cause) {
    throw named(task.environment, cause);
  }
}

function isDoubtRight<Instance>(task: ScoreTask<Instance>, { doubtful }: Located): boolean {
  return task.wasCut !== true && doubtful !== undefined && removesDoubt(examine(task, doubtful.text));
}

/** An answer that solves its task, or is feasible, was whole; one that is wrong may have gone on to another. */
function removesDoubt(findings: Findings): boolean {
  return findings.kind === "graded" ? findings.solved : findings.kind === "feasible";
}

/** The answer that counts is the same as without a scan; what is told of is what the scan found. */
function scoreScanned<Instance>(
  task: ScoreTask<Instance>,
  completion: string,
  located: Located,
  { doubtful }: Located,
): Score {
  const { scheme, parameters } = task.scheme;
  const counts = located.problem === undefined ? examine(task, located.answer as string) : malformed(located.problem);
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

/** A completion whose answer was read and is to be verified. */
export interface Verification {
  readonly kind: "verification";
  /** May be tried several times. */
  readonly verify: (context: VerifyContext) => Promise<Findings | Failed>;
  /** The score that the findings give; Failed where the primary component failed. */
  finish(findings: Findings): AsyncScore;
}

export type AsyncScore = { readonly kind: "score"; readonly score: Score } | Failed;

/**
 * The same for an environment that must ask the outside. One that cannot be read is scored at once, for there is nothing
 * to ask; of several answers only the one that counts is verified.
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
    const unread = (): AsyncScore => scored(found, malformed(found.problem ?? "there is no answer"));
    const span = located.spans.at(-1);
    if (located.problem !== undefined || span === undefined) return unread();
    const isDoubtful = found.problem !== undefined;
    const parsed = parseAnswer(environment, span.text, instance);
    if (parsed.kind === "malformed") return isDoubtful ? unread() : scored(located, parsed, [span]);
    return {
      kind: "verification",
      verify: (context) => environment.verify(instance, parsed.answer, context),
      finish: (findings) =>
        failureOf(task, findings) ??
        (isDoubtful && !removesDoubt(findings) ? unread() : scored(located, findings, [span])),
    };
  } catch (cause) {
    throw named(environment, cause);
  }
}

function named({ id, version }: Environment, cause: unknown): Error {
  return new Error(`${id} version ${version}: ${cause instanceof Error ? cause.message : "failed"}`, { cause });
}

/** Reads an answer's text, without what people put around it, unless it counts as it stands. */
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

/** Without the component that the answer is judged by there is no reward, where that is our fault. */
function failureOf<Instance>({ environment }: AnyScoreTask<Instance>, findings: Findings): Failed | undefined {
  if (findings.kind !== "graded") return undefined;
  const primary = primaryOf(environment, findings);
  return primary?.value === undefined ? primary?.failure : undefined;
}

/** What was found about each answer that is told of, and about the one that counts. */
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

function infoOf<Instance>(task: AnyScoreTask<Instance>, findings: Findings): Readonly<Record<string, string>> {
  const found = findings.kind === "malformed" ? undefined : findings.info;
  const { environment, version = environment.version } = task;
  const judgedBy = `version ${environment.version}: the task is of version ${version}, which gave some answers other verdicts`;
  const info = version === environment.version ? found : { ...found, judged_by: judgedBy };
  if (info === undefined) return NO_INFO;
  // Most facts are numbers and plain words, and stay as they are.
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

/** Whether the goal is reached: a right answer, or an objective that equals a proven optimum. */
function isSolved<Instance>({ environment, baseline }: AnyScoreTask<Instance>, findings: Findings): boolean {
  if (findings.kind === "graded") return findings.solved;
  if (findings.kind !== "feasible") return false;
  if (environment.goal === "satisfy") return true;
  return baseline !== undefined && findings.objective !== undefined && isOptimal(findings.objective, baseline);
}

function ratioOf<Instance>(
  { environment, baseline }: AnyScoreTask<Instance>,
  objective: number | undefined,
): number | undefined {
  if (environment.goal === "satisfy" || baseline === undefined || objective === undefined) return undefined;
  return qualityRatio(environment.goal, objective, baseline);
}

/** The component that graded answers are judged by. */
function primaryOf({ grading }: Pick<Environment, "grading">, { components }: GradedFacts) {
  return components.find(({ name }) => name === grading?.primary);
}

function gradeOf<Instance>({ environment }: AnyScoreTask<Instance>, findings: GradedFacts): number {
  return Math.min(1, Math.max(0, primaryOf(environment, findings)?.value ?? 0));
}

/**
 * Numbers that a score has beside its reward, by name: `component:` the parts of the reward that have a value, `metadata:`
 * what the environment says of the instance, as far as it is a number, and `improvement` how far the answer is from the
 * trivial one to the optimum, in [0, 1], where both are known: 0 for one that is not feasible.
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

function violationOf(findings: Findings): string {
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
