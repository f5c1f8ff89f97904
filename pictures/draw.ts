/** Draws tasks and answers as SVG documents. The command line and the web page call these functions. */
import { locateAnswers, type Thinking } from "../envs/answers/locate.ts";
import type { Baseline, Environment, Solution } from "../envs/environment.ts";
import type { Facts, Parsed } from "../envs/facts.ts";
import type { AnswerFormat } from "../envs/prompt.ts";
import { assertNever } from "../envs/lib/assert-never.ts";
import { drawingOf } from "./drawings.ts";
import { framed, type Headline } from "./lib/frame.ts";
import { isOptimal, qualityRatio } from "../envs/reward/scheme.ts";
import { parseAnswer } from "../envs/score.ts";

/**
 * Result for an answer that only an external service, such as the sandbox, can judge: its verdict as text, or why there
 * is none.
 */
export interface OutsideVerdict {
  readonly solved: boolean;
  readonly words: string;
  /** Further facts of the score, e.g. a judge's verdicts. */
  readonly info?: Readonly<Record<string, string>>;
}

export interface DrawOptions {
  /**
   * Result for an answer that only an external service can judge. If omitted, the picture says nothing about the
   * result.
   */
  readonly verdict?: OutsideVerdict | undefined;
  /**
   * Baseline to compare the answer's objective with, without drawing a best answer. With an undefined baseline, nothing
   * is compared. If `against` is omitted, the solver runs, and its answer is drawn in grey beside an answer that is not
   * the best.
   */
  readonly against?: { readonly baseline: Baseline | undefined };
}

/**
 * Returns the SVG of a task, with an answer if one is given. Returns undefined if the environment has no pictures.
 * `answerText` is the text between the answer's marks. It may be any text and never causes an error. The solver runs
 * only if there is an answer to compare.
 */
export function drawTask<Instance>(
  environment: Environment<Instance>,
  instance: Instance,
  answerText?: string,
  options: DrawOptions = {},
): string | undefined {
  const draw = drawingOf(environment);
  if (draw === undefined) return undefined;
  if (answerText === undefined) return framed(draw(instance), [titleOf(environment, instance)]);
  return drawAnswer(environment, instance, parseAnswer(environment, answerText, instance), options);
}

/**
 * Returns an SVG picture of the task with the answer that is marked in a completion. Any text may be the completion.
 * Undefined if the environment has no pictures.
 */
export function drawCompletion<Instance>(
  environment: Environment<Instance>,
  instance: Instance,
  format: AnswerFormat,
  completion: string,
  thinking?: Thinking,
  options: DrawOptions = {},
): string | undefined {
  const { answer, problem } = locateAnswers(completion, format, thinking);
  if (answer !== undefined && problem === undefined) return drawTask(environment, instance, answer, options);
  return drawAnswer(environment, instance, { kind: "malformed", reason: problem ?? "no answer" }, options);
}

/** Objective value of the best known answer, with that answer if it may be shown. */
type Known = Baseline & Partial<Pick<Solution<unknown>, "answer">>;

function drawAnswer<Instance>(
  environment: Environment<Instance>,
  instance: Instance,
  parsed: Parsed<unknown>,
  { verdict, against }: DrawOptions,
): string | undefined {
  const draw = drawingOf(environment);
  if (draw === undefined) return undefined;
  const title = titleOf(environment, instance);
  const solution: Known | undefined = against === undefined ? environment.solver?.solve(instance) : against.baseline;
  if (parsed.kind === "malformed") {
    const headlines = [title, bad(`malformed: ${parsed.reason}`), ...baselineLine(environment, solution)];
    return framed(draw(instance), headlines);
  }
  // Show the given verdict, if there is one, because only an external service can judge such an answer.
  if (environment.resource !== undefined)
    return framed(draw(instance, parsed.answer), [title, ...outsideVerdictLines(verdict)]);
  const facts = environment.verify(instance, parsed.answer);
  const isBest = isBestAnswer(environment, facts, solution);
  const picture = draw(instance, parsed.answer, isBest ? undefined : solution?.answer);
  return framed(picture, [title, ...verdictLines(environment, facts, solution)]);
}

/** Returns a title such as "np/tsp, cities 12. Find the shortest …". */
function titleOf<Instance>(environment: Environment<Instance>, instance: Instance): Headline {
  const facts = Object.entries(environment.metadata(instance)).map(([name, value]) => `${name} ${value}`);
  return { text: `${[environment.id, ...facts].join(", ")}. ${environment.description}`, tone: "title" };
}

function isBestAnswer<Instance>(
  { goal }: Environment<Instance>,
  facts: Facts,
  baseline: Baseline | undefined,
): boolean {
  if (facts.kind === "infeasible") return false;
  if (facts.kind === "graded") return facts.solved;
  if (goal === "satisfy") return true;
  return baseline !== undefined && facts.objective === baseline.value;
}

function verdictLines<Instance>(
  environment: Environment<Instance>,
  facts: Facts,
  solution: Baseline | undefined,
): readonly Headline[] {
  switch (facts.kind) {
    case "infeasible":
      return [bad(`infeasible: ${facts.violation}`), ...baselineLine(environment, solution)];
    case "feasible":
      return [feasibleLine(environment, facts.objective, solution)];
    case "graded":
      return [facts.solved ? { text: "✓ right", tone: "good" } : bad(facts.violation ?? "wrong")];
    default:
      return assertNever(facts);
  }
}

function outsideVerdictLines(verdict: OutsideVerdict | undefined): readonly Headline[] {
  if (verdict === undefined) return [];
  const more = Object.entries(verdict.info ?? {}).map(([name, value]): Headline => ({
    text: `${name.replaceAll("_", " ")}: ${value}`,
    tone: "plain",
  }));
  return [verdict.solved ? { text: "✓ right", tone: "good" } : bad(verdict.words), ...more];
}

/** Returns a line that compares an answer's objective with the best known one. */
function feasibleLine<Instance>(
  { goal }: Environment<Instance>,
  objective: number | undefined,
  baseline: Baseline | undefined,
): Headline {
  if (goal === "satisfy") return { text: "✓ right", tone: "good" };
  if (objective === undefined || baseline === undefined) return { text: "✓ feasible", tone: "good" };
  if (isOptimal(objective, baseline)) return { text: `✓ feasible and optimal: ${objective}`, tone: "good" };
  const ratio = qualityRatio(goal, objective, baseline).toPrecision(3);
  return { text: `✓ feasible: ${objective}; ${baselineWords(baseline)}; ratio ${ratio}`, tone: "plain" };
}

function baselineLine<Instance>({ goal }: Environment<Instance>, solution: Baseline | undefined): readonly Headline[] {
  if (solution === undefined || goal === "satisfy") return [];
  return [{ text: baselineWords(solution), tone: "plain" }];
}

function baselineWords({ value, bound, proven }: Baseline): string {
  return proven ? `the optimum is ${value}` : `the best known is ${value}, and none is better than ${bound}`;
}

function bad(words: string): Headline {
  return { text: `✗ ${words}`, tone: "bad" };
}
