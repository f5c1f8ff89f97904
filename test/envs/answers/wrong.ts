/** Wrong answers, and texts that hold a right one and must never count. */
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import type { Question } from "../../../envs/qa/question.ts";
import { score } from "../../../envs/score.ts";
import { type Case, cases, type Issued, issue, scoreTask } from "../every.ts";
import { rightText } from "./right.ts";
import { isRoute, SPACES } from "./spellings.ts";
import { DOUBTFUL, LABELS, MARKINGS, type Way, WRAPPINGS } from "./wrappings.ts";

/**
 * One in SHARE of a text's wrappings and compositions is tried, another one for each text and environment. A fault in
 * one wrapping shows in many texts, so a share suffices. HOSTILE_SHARE=1 tries all.
 */
const SHARE = Number(process.env["HOSTILE_SHARE"] ?? 9);
/** Compositions of each text and format. */
const COMPOSITIONS = Math.ceil(6 / SHARE);

/** A task with a right answer and a wrong one. */
export interface Subject {
  readonly instance: unknown;
  readonly right: string;
  /** Can be read, and is infeasible. */
  readonly wrong: string;
  readonly isTaken: (format: AnswerFormat, completion: string) => boolean;
}

/** The solver's answer with one number changed, so that it is wrong. */
function wrongOf(environment: SyncEnvironment, instance: unknown, right: string): string {
  for (const digits of right.match(/\d+/g) ?? []) {
    for (const other of ["997", right.match(/\d+/)?.[0] ?? "0"]) {
      const wrong = right.replace(digits, other);
      const parsed = environment.parse(wrong, instance);
      const facts = parsed.kind === "answer" ? environment.verify(instance, parsed.answer) : undefined;
      if (facts?.kind === "infeasible" || (facts?.kind === "graded" && !facts.solved)) return wrong;
    }
  }
  throw new Error(`no wrong answer near ${right}`);
}

/** A task of the first level that is not small: a text cut short may be right by chance where there are few answers. */
export function issuedOf(environment: SyncEnvironment): Issued {
  return issue(
    cases.find((each) => each.environment === environment && each.level.small !== true) as Case,
    3n,
    "train",
  );
}

export function subjectOf(environment: SyncEnvironment): Subject {
  const issued = issuedOf(environment);
  const { instance } = issued;
  const right = rightText(environment, instance);
  const isGraded = environment.grading !== undefined;
  const isTaken = (format: AnswerFormat, text: string): boolean => {
    const { verdict, solved } = score(scoreTask(environment, issued, format), text);
    return isGraded ? solved : verdict === "feasible";
  };
  return { instance, right, wrong: wrongText(environment, instance, right), isTaken };
}

function wrongText(environment: SyncEnvironment, instance: unknown, right: string): string {
  if (environment.id === "np/coloring") return right.replaceAll(/\d+/g, "1");
  if (environment.id === "qa/letter") return right === "A" ? "B" : "A";
  // A way with one move less ends elsewhere.
  if (environment.id === "games/maze") return right.replace(/\w+, /, "");
  if (environment.id !== "qa") return wrongOf(environment, instance, right);
  return (instance as Question).options.find((option) => option !== right) as string;
}

/** Changes the first number, or the first direction. */
const first = (text: string, to: (digits: string) => string): string => text.replace(/\d+|north|east|south|west/, to);

/** Digits of other scripts and shapes: for the first digit of a number, never the same number. */
const LOOK_ALIKES = ["٣", "३", "³", "₃", "𝟛", "𝟑", "③", "Ⅲ", "3\u20e3", "З", "l", "O", "〇", "三", "½"];

/** Texts that hold a right answer and are none. */
export function neverAnswers({ right, wrong }: Subject): readonly string[] {
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
    // Marks that are opened and not closed, or closed and not opened.
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
    // Spellings that other environments read and this one does not.
    ...[
      first(right, (digits) => `+${digits}`),
      first(right, (digits) => `${digits}.0`),
      first(right, (digits) => `${digits}.`),
    ],
    ...[
      first(right, (digits) => `${digits}e0`),
      first(right, (digits) => `0x${digits}`),
      first(right, (digits) => `"${digits}'`),
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
export function ownTexts(id: string, { right, instance }: Subject): readonly string[] {
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
    ...[`[${right}]`, `(${inner}]`, `[${inner})`, `[${inner}`, `${inner}]`, `[${inner},,]`, `[,${inner}]`],
    // Lists of one-digit numbers need no separator.
    ...(/^(?:sequence|games)\//.test(id) ? [] : [inner.replaceAll(",", "")]),
    ...[`[${inner.replaceAll(",", ";")}]`, `[${inner.replaceAll(", ", "][")}]`],
    ...[
      ...(isRoute(id) ? [] : [`[${inner.replaceAll(", ", " -> ")}]`, inner.replaceAll(", ", " -> ")]),
      `<${inner}>`,
      `|${inner}|`,
      `[${inner}, ...]`,
      inner.replaceAll(", ", " -> ").replace(" -> ", ", "),
    ],
  ].filter((text) => text !== right && text !== `[${inner}]`);
}

/** Returns texts that deny the right answer, in the languages of the labels, and texts that give two answers. */
export function contradictions({ right, wrong }: Subject): readonly string[] {
  return [
    ...[`not ${right}`, `The answer is not ${right}`, `The answer isn't ${right}`, `The answer is not: ${right}`],
    ...[`答案不是${right}`, `答案是：不是${right}`, `La respuesta no es ${right}`, `La réponse n'est pas ${right}`],
    ...[
      `Die Antwort ist nicht ${right}`,
      `Ответ не ${right}`,
      `答えは${right}ではありません`,
      `답은 ${right}이 아닙니다`,
    ],
    ...[`La risposta non è ${right}`, `Risposta sbagliata: ${right}`, `${right} è sbagliato`, `Risposta: non ${right}`],
    ...[`One wrong answer: ${right}`, `A valid answer is not ${right}`, `One possible answer is not ${right}`],
    ...[`${right} не ответ`, `${right} 빼고`, `${right} está errado`, `${right} değil`, `答えは${right}かもしれない`],
    ...[`A resposta não é ${right}`, `wrong answer: ${right}`, `Anything but ${right}`, `The answer is never ${right}`],
    ...[`${right} or ${wrong}`, `${wrong} or ${right}`, `Either ${right} or ${wrong}`, `${wrong}, not ${right}`],
    ...[`answer = ${right}\n${wrong}`, `answer = ${wrong}\n${right}`, `**Final Answer**\n${right}\n${wrong}`],
    ...[`Answer: ${right}\nAnswer: ${wrong}`, `答案：${right}\n答案：${wrong}`, `Answer: ${wrong} Answer: ${right}`],
    ...[`{"answer": ${right}, "answer": ${wrong}}`, `{"answers": [${right}, ${wrong}]}`, `{"not_answer": ${right}}`],
    ...[`{"wrong": ${wrong}, "answer": ${right}}`, `{"answer": {"answer": ${wrong}}}`, `{"answer": ${wrong}}`],
    ...["Previous", "Old", "Rejected", "First", "Example", "Another", "Half the", "Twice the", "Bad"].map(
      (word) => `${word} answer: ${right}`,
    ),
    ...["For example,", "Before checking,", "Based on a wrong assumption,", "We cannot conclude that"].map(
      (words) => `${words} the answer is ${right}`,
    ),
    ...[
      `The answer to a different question is ${right}`,
      `Assume answer = ${right}`,
      `We never get the answer: ${right}`,
    ],
    ...[
      `答えは${right}ですか`,
      `答案是${right}吗`,
      `답은 ${right}인가요`,
      `答案如下：不是${right}`,
      `Ответ будет не ${right}`,
    ],
    ...["I doubt", "Suppose", "I don't think", "It is false that", "Nobody says"].map(
      (words) => `${words} the answer is ${right}`,
    ),
    ...["falsch", "nicht", "nope", "false", "rejected", "нет", "неверно", "incorrecto"].map(
      (word) => `${right} ${word}`,
    ),
    ...["不正确", "错误", "是错的", "でない", "は違う", "は間違い", " 아님", "는 틀렸다"].map((words) => right + words),
    ...[
      `~~${right}~~`,
      `<s>${right}</s>`,
      `<del>${right}</del> ${wrong}`,
      `<sup>${right}</sup>`,
      `<b>${right}</b> or ${wrong}`,
    ],
    ...[`${right};${wrong};`, `\\begin{align}${right}\\end{align*}`, `<|im_start|>${right}`, `${right}</s>${wrong}`],
    ...[`Answer: ${wrong}. It is not ${right}.`, `It is not ${right}`, `It is ${wrong}, and not ${right}`],
  ];
}

/** Completions that hold a right answer where none counts, or before a wrong one. */
export function misplaced({ right, wrong }: Subject, format: AnswerFormat): readonly string[] {
  const [marked, other] = [wrapAnswer(right, format, "", "stripped"), wrapAnswer(wrong, format, "", "stripped")];
  const inThoughts = [
    `<THINK>${marked}</THINK>`,
    `< think >\n${marked}\n</ think >`,
    `<Think lang="en">${marked}</Think >`,
  ];
  const all = [
    ...inThoughts.flatMap((thought) => [thought, `${thought}\nhm`, `${thought}\n${other}`]),
    ...[`<think>hm</think>\n${marked}\nNo.\n${other}`, `<think>hm</think><THINK>${marked}`],
    ...DOUBTFUL[format].flatMap(({ write }) => {
      const [open, closed] = [write(right) ?? "", `<think>hm</think>\n${other}\n`];
      return format === "think_answer" || format === "answer_tag"
        ? [`${closed}${open.replace(/^.*<\/think>/s, "")}`]
        : [`${open}\n${other}`];
    }),
  ];
  if (format === "boxed" || format === "answer_line") return all;
  const [opened, closing] = ["<think>hm</think>", "</answer>"];
  return [
    ...all,
    ...[`${opened}<answer>${right},`, `${opened}<answer>${right} or`, `${opened}<answer>${right}\n${wrong}`],
    ...[
      `${opened}<answer>${right}<answer>${wrong}${closing}`,
      `${opened}<answer>${right} <ANSWER>${wrong}</ANSWER>${closing}`,
    ],
    ...[`${opened}<answers>${right}</answers>`, `${opened}<answer/>${right}${closing}`, `${opened}${right}${closing}`],
    ...[`${opened}<not answer>${right}${closing}`, `${opened}<answer>${wrong}</ANSWER><Answer>${right}`],
    ...[`${opened}<answer>${wrong}<answer/>${right}${closing}`, `${opened}&lt;answer&gt;${right}&lt;/answer&gt;`],
  ];
}

/** Wrappings and labels alone in one format by turns, the markings of all, and compositions from a seed. */
export function* completionsOf(
  environment: SyncEnvironment,
  text: string,
  seed = "1",
): Generator<readonly [AnswerFormat, string]> {
  const formats = environment.answerFormats.filter((format) => !isOfFormat(text, format));
  const written = (...chosen: readonly Way[]): string =>
    chosen.reduce((inner, { write }) => write(inner) ?? inner, text);
  const rng = rngFor("hostile", environment.id, text, seed);
  const [start, first] = [rng.int(0, SHARE - 1), rng.int(0, 3)];
  for (let i = start; i < WAYS.length; i += SHARE) {
    const format = formats[(first + Math.floor(i / SHARE)) % formats.length] as AnswerFormat;
    yield [format, wrapAnswer(written(WAYS[i] as Way), format)];
  }
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
 * Whether a text's own marks may be read as the format's, so that the format holds another text: "Answer:" and the
 * stars around it in answer_line, and unmatched braces in boxed.
 */
function isOfFormat(text: string, format: AnswerFormat): boolean {
  if (format === "answer_line") return /answer[\s\u200b]*[:：]/i.test(text) || /^\*\*|\*\*$/.test(text);
  return format === "boxed" && !hasMatchingBraces(text);
}

function hasMatchingBraces(text: string): boolean {
  let depth = 0;
  for (const [brace] of text.replaceAll(/\\./g, "").matchAll(/[{}]/g))
    if ((depth += brace === "{" ? 1 : -1) < 0) return false;
  return depth === 0;
}
