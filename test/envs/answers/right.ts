/** Right answers of every environment, and completions that give them in many ways. */
import { locateAnswers, trusting } from "../../../envs/answers/locate.ts";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import type { Environment } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import type { Rng } from "../../../envs/lib/rng.ts";
import { parseAnswer, score } from "../../../envs/score.ts";
import { type Case, casesOf, type Issued, issue, scoreTask } from "../every.ts";
import { spellingsOf } from "./spellings.ts";
import { DOUBTFUL, LABELS, MARKINGS, type Way, WRAPPINGS } from "./wrappings.ts";

/** Tasks of an environment, one of each of its first levels. */
const TASKS = 3;

export interface Right {
  readonly text: string;
  /** Returns the reason why a completion with this answer is not scored as right; undefined if it is. */
  readonly problem: (format: AnswerFormat, completion: string) => string | undefined;
}

/** A way to write a right answer in a format. */
export interface Trial {
  readonly format: AnswerFormat;
  readonly completion: string;
  readonly what: string;
}

export function rightAnswers(environment: Environment): readonly Right[] {
  const own = casesOf(environment).filter(({ level }) => level.evaluationOnly !== true);
  return Array.from({ length: TASKS }, (_, i) =>
    rightOf(environment, issue(own[i % own.length] as Case, BigInt(i), "train")),
  );
}

/** The solver's answer; of a row its own. */
export function rightText(environment: Environment, instance: unknown): string {
  const { id, solver } = environment;
  const text = solver === undefined ? environment.reference?.(instance) : solver.format(solver.solve(instance).answer);
  if (text === undefined) throw new Error(`${id} has neither a solver nor an answer of its own`);
  return text;
}

function rightOf(environment: Environment, issued: Issued): Right {
  const { instance } = issued;
  const text = rightText(environment, instance);
  if (environment.resource !== undefined) return { text, problem: problemOfReading(environment, instance, text) };
  const problem = (format: AnswerFormat, completion: string): string | undefined => {
    const { solved, violation } = score(scoreTask(environment, issued, format), completion);
    return solved ? undefined : violation;
  };
  return { text, problem };
}

/** Returns a check for environments with a judge or sandbox: the text read must equal the plain answer's. */
function problemOfReading(environment: Environment, instance: unknown, text: string): Right["problem"] {
  const read = (format: AnswerFormat, completion: string): unknown => {
    const { answer, problem } = trusting(locateAnswers(completion, format));
    if (answer === undefined || problem !== undefined) return problem;
    const parsed = parseAnswer(environment, answer, instance);
    return parsed.kind === "answer" ? JSON.stringify(parsed.answer) : parsed.reason;
  };
  return (format, completion) => {
    const plain = read(format, wrapAnswer(text, format));
    return read(format, completion) === plain ? undefined : "it is read as another text";
  };
}

/** Ways of writing an answer that some environments refuse, and the reason. */
interface Exception {
  readonly environments: readonly string[];
  readonly ways: ReadonlySet<Way>;
  readonly reason: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    environments: ["writing"],
    ways: new Set([...WRAPPINGS.slice(1), ...LABELS].filter(isNoSpace)),
    reason: "what stands between the marks is the text that is judged: a label or a quote is part of it",
  },
  {
    environments: ["code"],
    ways: new Set([...WRAPPINGS.slice(1), ...LABELS.filter(({ name }) => name.includes("…"))].filter(isNoSpace)),
    reason: "a program is asked for in a fence of its own, which is read by itself: what else is in its lines is not",
  },
];

function isNoSpace({ name }: Way): boolean {
  return !name.startsWith("white space");
}

function isTaken({ id }: Environment, way: Way): boolean {
  return !EXCEPTIONS.some(({ environments, ways }) => environments.includes(id) && ways.has(way));
}

/** Returns an answer in one way of writing it, or unchanged if the way does not apply. */
export const written = (text: string, ...ways: readonly Way[]): string =>
  ways.reduce((inner, { write }) => write(inner) ?? inner, text);

/** Each wrapping, label, spelling and marking alone. */
export function* single(environment: Environment, { text }: Right, format: AnswerFormat): Generator<Trial> {
  for (const way of [...WRAPPINGS, ...LABELS, ...spellingsOf(environment.id)])
    if (isTaken(environment, way)) yield { format, completion: wrapAnswer(written(text, way), format), what: way.name };
  for (const way of [...MARKINGS[format], ...DOUBTFUL[format]])
    yield { format, completion: written(text, way), what: way.name };
}

/**
 * Composes a completion of one spelling in one marking, with one to three wrappings, and a label in one case of four.
 */
export function composed(environment: Environment, { text }: Right, format: AnswerFormat, rng: Rng): Trial {
  const wrappingsTaken = WRAPPINGS.filter((way) => isTaken(environment, way));
  const labelsTaken = LABELS.filter((way) => isTaken(environment, way));
  // The stars of two nested bold labels with bold around them can be paired in more ways than one.
  const spellings = spellingsOf(environment.id).filter(({ name }) => !name.startsWith("**"));
  const spelling = rng.pick([...spellings, ...WRAPPINGS.slice(0, 1)]);
  const wrappings = Array.from({ length: rng.int(1, 3) }, () => rng.pick(wrappingsTaken));
  // In answer_line, a label at the start of a line is the format's own mark, so the text around it must go elsewhere.
  if (rng.int(0, 3) === 0 && labelsTaken.length > 0)
    wrappings.splice(format === "answer_line" ? wrappings.length : rng.int(0, 3), 0, rng.pick(labelsTaken));
  const marking = rng.pick(MARKINGS[format]);
  // When bold marks stand around a label and behind it without a space, nothing tells which mark belongs to the label.
  const isRiddle = wrappings.some(({ name }) => /[は是为為、](?:…|$)/.test(name));
  const ways = [spelling, ...wrappings.filter(({ name }) => !(isRiddle && /^[*_]/.test(name))), marking];
  return { format, completion: written(text, ...ways), what: ways.map(({ name }) => name).join(" + ") };
}
