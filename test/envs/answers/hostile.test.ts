/**
 * Wrong answers in every wrapping, environment and answer format: none gets in. Texts that must never count, such as two
 * answers in one block, and mutations of right answers, which may count only where an oracle that shares no code with
 * the parsers finds that their digits spell a right one.
 */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { score } from "../../../envs/score.ts";
import { type Case, cases, issue, scoreTask, ungraded } from "../every.ts";
import { mutated } from "../mutated.ts";
import { isReallyFeasible } from "./oracle.ts";
import { SPACES } from "./spellings.ts";
import { LABELS, MARKINGS, type Way, WRAPPINGS } from "./wrappings.ts";

const MUTATIONS = 60;
/** Compositions of each text and format. */
const COMPOSITIONS = 6;

interface Subject {
  readonly instance: unknown;
  readonly right: string;
  /** Can be read, and is infeasible. */
  readonly wrong: string;
  readonly verdictOf: (format: AnswerFormat, completion: string) => string;
}

/** The solver's answer with one number changed, so that it is wrong. */
function wrongOf(environment: SyncEnvironment, instance: unknown, right: string): string {
  for (const digits of right.match(/\d+/g) ?? []) {
    for (const other of ["997", right.match(/\d+/)?.[0] ?? "0"]) {
      const wrong = right.replace(digits, other);
      const parsed = environment.parse(wrong, instance);
      if (parsed.kind === "answer" && environment.verify(instance, parsed.answer).kind === "infeasible") return wrong;
    }
  }
  throw new Error(`no wrong answer near ${right}`);
}

function subjectOf(environment: SyncEnvironment): Subject {
  const given = cases.find((each) => each.environment === environment) as Case;
  const issued = issue(given, 3n, "train");
  const { instance } = issued;
  const { solver } = environment;
  if (solver === undefined) throw new Error(`${environment.id} has no solver`);
  const right = solver.format(solver.solve(instance).answer);
  const wrong =
    environment.id === "np/coloring" ? right.replaceAll(/\d+/g, "1") : wrongOf(environment, instance, right);
  const verdictOf = (format: AnswerFormat, text: string): string =>
    score(scoreTask(environment, issued, format), text).verdict;
  return { instance, right, wrong, verdictOf };
}

const first = (text: string, to: (digits: string) => string): string => text.replace(/\d+/, to);

/** Digits of other scripts and shapes: for the first digit of a number, never the same number. */
const LOOK_ALIKES = ["٣", "३", "³", "₃", "𝟛", "𝟑", "③", "Ⅲ", "3\u20e3", "З", "l", "O", "〇", "三", "½"];

/** Texts that hold a right answer and are none. */
function neverAnswers({ right, wrong }: Subject): readonly string[] {
  return [
    // Two answers in one block.
    ...[`${right} ${right}`, `${right}\n${right}`, `${right}\n\n${wrong}`, `${wrong} ${right}`, `${wrong}${right}`],
    ...[
      `${right}, ${wrong}`,
      `${right};${wrong}`,
      `${right} | ${right}`,
      `${right} or ${wrong}`,
      `${wrong} or ${right}`,
    ],
    ...[
      `${right} and ${right}`,
      `**${right}** or **${wrong}**`,
      `$${right}$ or $${wrong}$`,
      `\`${right}\`, \`${wrong}\``,
    ],
    ...[`\\boxed{${right}}, \\boxed{${wrong}}`, `\\text{${right}} \\text{${right}}`, `"${right}" "${wrong}"`],
    ...[`Answer: ${wrong} Answer: ${right}`, `${wrong}. ${right}.`, `(${right})(${right})`],
    // Comments and prose.
    ...[`${right} # ${wrong}`, `${wrong} # ${right}`, `${right} // 3`, `${right} /* or not */`, `<!-- -->${right}`],
    ...[`# ${right}\n${wrong}`, `not ${right}`, `The answer is not ${right}`, `I think ${right}`, `${right} (I think)`],
    ...[`${right}?`, `${right}!`, `x = ${right}`, `${right}; done`, `The best is ${right}`, `${right} is the answer`],
    ...[`So: ${right}`, `1. ${right}`, `- ${right}`, `> ${right}`, `${right} ✓`, `len('${right}') # 7 7 9 3`],
    // Cut, or with something left out.
    ...[`${right}..`, `${right}...`, `${right}…`, `…${right}`, `...${right}`, right.slice(0, -1), right.slice(1)],
    // Marks that are opened and not closed, or the other way round.
    ...[
      `**${right}`,
      `${right}**`,
      `$${right}`,
      `${right}$`,
      `\`\`\`${right}`,
      `${right}\`\`\``,
      `"${right}`,
      `${right}'`,
    ],
    ...[`"${right}'`, `“${right}"`, `\\(${right}`, `\\[${right}\\)`, `\\text{${right}`, `${right}}`, `{{${right}}`],
    ...[
      `\\frac{${right}}`,
      `\\sqrt{${right}}`,
      `\\cancel{${right}}`,
      `\\not{${right}}`,
      `~~${right}~~`,
      `<s>${right}</s>`,
    ],
    // Thoughts within the answer.
    ...[`<think>${right}</think>`, `<think></think>${right}<think>`, `${wrong}<think></think>`],
    // What is read elsewhere and not here.
    ...[
      first(right, (digits) => `+${digits}`),
      first(right, (digits) => `${digits}.0`),
      first(right, (digits) => `${digits}.`),
    ],
    ...[
      first(right, (digits) => `${digits}e0`),
      first(right, (digits) => `0x${digits}`),
      first(right, (digits) => `"${digits}"`),
    ],
    ...[
      first(right, (digits) => `v${digits}`),
      first(right, (digits) => `--${digits}`),
      first(right, (digits) => `${digits}!`),
    ],
    ...[
      first(right, (digits) => `\u202e${digits}`),
      first(right, (digits) => `${digits}%`),
      first(right, (digits) => `${digits}^1`),
    ],
    ...LOOK_ALIKES.map((digit) => first(right, (digits) => digit + digits.slice(1))),
  ];
}

/** Texts of an environment's own that must never count. */
function ownTexts(id: string, { right, instance }: Subject): readonly string[] {
  if (id === "countdown") {
    const { target } = instance as { readonly target: number };
    return [
      ...[`${target}`, `${target} = ${target}`, `${right} + ${target} - ${target}`, `${right} * ${target} / ${target}`],
      ...[
        `${right} + 0`,
        `${right} * 1`,
        `${target} = ${right} = ${target}`,
        `${target + 1} = ${right}`,
        `${right} = ${target + 1}`,
      ],
      ...[
        `${right} = ${right}`,
        `-(${right})`,
        `-${target} = ${right}`,
        `${right} == ${target}`,
        `${right} ≈ ${target}`,
      ],
      ...[
        `${target} := ${right}`,
        `${right} # ${target}`,
        `${right}) * (1`,
        `(${right}]`,
        `${right}**1`,
        `(${right})²`,
      ],
    ];
  }
  if (id === "np/meetings" || id === "np/bisection") {
    const merged = right.slice(0, -1).replaceAll(/[\])]/g, "");
    return [
      `[${right}]`,
      `${right}, ${right}`,
      `${right.slice(0, -1)})`,
      merged,
      `${merged}]`,
      `${right}[]`,
      right.replace(",", ",,"),
    ];
  }
  const inner = right.slice(1, -1);
  return [
    ...[inner, `[${right}]`, `(${inner}]`, `[${inner})`, `[${inner}`, `${inner}]`, `[${inner},,]`, `[,${inner}]`],
    ...[inner.replaceAll(",", ""), `[${inner.replaceAll(",", ";")}]`, `[${inner.replaceAll(", ", "][")}]`],
    ...[`[${inner.replaceAll(", ", " -> ")}]`, `<${inner}>`, `|${inner}|`, `[${inner}, ...]`, `{"answer": ${right}}`],
  ].filter((text) => text !== right && text !== `[${inner}]`);
}

let tried = 0;
const accepted: string[] = [];

/** Every wrapping and label alone in one format by turns, the markings of all, and compositions from a seed. */
function* completionsOf(environment: SyncEnvironment, text: string): Generator<readonly [AnswerFormat, string]> {
  const formats = environment.answerFormats.filter((format) => !isOfFormat(text, format));
  const written = (...chosen: readonly Way[]): string =>
    chosen.reduce((inner, { write }) => write(inner) ?? inner, text);
  for (const [i, way] of WAYS.entries()) {
    const format = formats[i % formats.length] as AnswerFormat;
    yield [format, wrapAnswer(written(way), format)];
  }
  const rng = rngFor("hostile", environment.id, text);
  for (const format of formats) {
    for (const marking of MARKINGS[format]) yield [format, written(marking)];
    for (let i = 0; i < COMPOSITIONS; i++) {
      const chosen = Array.from({ length: rng.int(1, 4) }, () => rng.pick(WAYS));
      yield [format, written(...chosen, rng.pick(MARKINGS[format]))];
    }
  }
}

const WAYS: readonly Way[] = [...WRAPPINGS, ...LABELS, ...SPACES];

/**
 * Whether a text's own marks may be read as those of a format, so that it holds another text there: "Answer:" and the
 * stars around it in answer_line, and braces that do not match in boxed.
 */
function isOfFormat(text: string, format: AnswerFormat): boolean {
  if (format === "answer_line") return text.includes("Answer:") || /^\*\*|\*\*$/.test(text);
  return format === "boxed" && !hasMatchingBraces(text);
}

function hasMatchingBraces(text: string): boolean {
  let depth = 0;
  for (const [brace] of text.replaceAll(/\\./g, "").matchAll(/[{}]/g))
    if ((depth += brace === "{" ? 1 : -1) < 0) return false;
  return depth === 0;
}

function tryAll(environment: SyncEnvironment, subject: Subject, text: string): void {
  for (const [format, completion] of completionsOf(environment, text)) {
    tried++;
    if (subject.verdictOf(format, completion) === "feasible") {
      accepted.push(`${environment.id}, ${format}: ${JSON.stringify(text)} as ${JSON.stringify(completion)}`);
    }
  }
}

describe.each(ungraded.map((environment) => [environment.id, environment] as const))("%s", (id, environment) => {
  const subject = subjectOf(environment);

  test("the oracle knows the right answer from the wrong one", () => {
    expect(isReallyFeasible(environment, subject.instance, subject.right)).toBe(true);
    expect(isReallyFeasible(environment, subject.instance, subject.wrong)).toBe(false);
  });

  test("what is no answer gets in by no wrapping", () => {
    const before = accepted.length;
    for (const text of [...neverAnswers(subject), ...ownTexts(id, subject)]) tryAll(environment, subject, text);
    expect(accepted.slice(before)).toEqual([]);
  });

  test("nor does what is infeasible, by the oracle", () => {
    const before = accepted.length;
    const mutations = fc.sample(mutated(subject.right), { numRuns: MUTATIONS, seed: 8 });
    const wrong = mutations.filter((text) => !isReallyFeasible(environment, subject.instance, text));
    expect(wrong.length).toBeGreaterThan(MUTATIONS / 10);
    for (const text of [subject.wrong, ...wrong]) tryAll(environment, subject, text);
    expect(accepted.slice(before)).toEqual([]);
  });
});

afterAll(() => {
  console.log(`hostile: ${tried} wrong answers tried, ${accepted.length} accepted`);
  expect(tried).toBeGreaterThan(100_000);
  expect(accepted).toEqual([]);
});
