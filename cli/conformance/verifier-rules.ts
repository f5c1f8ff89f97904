/**
 * Rules for verifiers whose checks score many answers. Only `gradus env check` applies these rules. It starts a second
 * process of the environment for them.
 */
import { isDeepStrictEqual } from "node:util";
import {
  type Instances,
  type MadeInstance,
  NONSENSE,
  type Subject,
  verify,
  worth,
} from "../../server/outside/mounted/call-rules.ts";
import { type Examined, timed } from "../../server/outside/mounted/examine-level.ts";
import { isRight } from "../../server/outside/mounted/read-facts.ts";
import { NOTHING, type VerifyResult } from "../../server/outside/mounted/provider.ts";
import { firstOf, type Rule, rule } from "../../server/outside/mounted/rules.ts";

/** Maximum number of instances on which answers are tried. */
const INSTANCES_MAX = 2;
/** Number of times that one process verifies each of a few answers. Fewer if this takes more than REPEATED_MS_MAX. */
const REPEATS = 12;
const REPEATED_MS_MAX = 20_000;
const GUESSES = [NONSENSE, "0", "1", "yes", "a"];
/**
 * Exit status in an answer that is written as code. If the verifier's process ends with this status, the verifier has
 * run the answer.
 */
const STATUS = 73;

const EXIT = `__import__('os')._exit(${STATUS})`;

export async function* tryVerifier(subject: Subject, made: Instances): AsyncGenerator<Examined> {
  yield timed("Remembering", ON_REMEMBERING, remember(subject, made));
  yield timed("Containing", ON_CONTAINING, contain(subject, made));
  if (!subject.described.runsAnswers) yield timed("Running", ON_RUNNING, run(subject, made));
}

const quoted = (text: string): string => `'${text.slice(0, 60)}'`;
const referencesOf = (made: readonly MadeInstance[]): readonly string[] =>
  made.flatMap(({ instance: { reference } }) => reference ?? []);

// The rules below test whether a verifier remembers earlier answers.

/**
 * Verdicts on one answer to one task. The last verdict is by a fresh process, the others by one process that verified
 * other answers before.
 */
interface Repeated {
  readonly text: string;
  readonly found: readonly VerifyResult[];
}

async function remember(subject: Subject, made: Instances): Promise<readonly Repeated[]> {
  const texts = [...new Set([...GUESSES, ...referencesOf(made.slice(0, 4))])];
  const repeated: Repeated[] = [];
  for (const each of made.slice(0, INSTANCES_MAX)) {
    const beganMs = performance.now();
    const found = texts.map((): VerifyResult[] => []);
    for (let round = 0; round < REPEATS; round++) {
      if (round > 1 && performance.now() - beganMs > (REPEATED_MS_MAX / REPEATS) * round) break;
      const order = round % 2 === 0 ? texts : texts.toReversed();
      for (const [i, verified] of (await verify(subject, each, order)).entries())
        found[texts.indexOf(order[i] ?? "")]?.push(verified);
    }
    const fresh = await verify(subject, each, texts, { fresh: true });
    repeated.push(...texts.map((text, i) => ({ text, found: [...(found[i] ?? []), fresh[i] ?? NOTHING] })));
  }
  return repeated;
}

function difference({ text, found }: Repeated): string | undefined {
  const results = found.filter((each) => each.kind === "facts" || each.failure !== "unavailable");
  const [first] = results;
  const other = results.find((each) => !isDeepStrictEqual(each, first));
  if (first === undefined || other === undefined) return undefined;
  const where = other === found.at(-1) ? " by a fresh process" : "";
  return `${wordsOf(first)}, and ${wordsOf(other)}${where}, for ${quoted(text)}`;
}

const wordsOf = (verified: VerifyResult): string =>
  verified.kind === "facts" && verified.facts.violation !== ""
    ? `${worth(verified)} (${verified.facts.violation})`
    : worth(verified);

const ON_REMEMBERING: readonly Rule<readonly Repeated[]>[] = [
  rule(
    "EnvironmentProvider.Verify",
    "must give equal results for an answer, whatever the process verified before",
    (repeated) => firstOf(repeated.map(difference)),
  ),
];

// The rules below test whether a verifier accepts a list that merely contains the right answer.

/** Functions that make texts in which the reference (the right answer) stands between wrong answers. */
const LISTS: readonly ((wrong: readonly string[], right: string) => string)[] = [
  ([one = "", two = "", ...rest], right) => [one, two, right, ...rest, one].join(", "),
  ([one = "", two = ""], right) => [one, right, two].join("\n"),
  ([one = "", two = ""], right) => `It may be ${one} or ${right} or ${two}.`,
];

/** Returns the lists of answers that the verifier accepts as right although they also contain wrong answers. */
async function contain(subject: Subject, made: Instances): Promise<readonly string[]> {
  const { described } = subject;
  const taken: string[] = [];
  // Skip environments that optimise an objective, because there a list may rightly be an answer.
  if (described.goal !== "satisfy") return taken;
  for (const each of made.slice(0, INSTANCES_MAX)) {
    const { reference } = each.instance;
    if (reference === undefined) continue;
    const guesses = [...new Set([...referencesOf(made), ...GUESSES])].filter((text) => !text.includes(reference));
    const verdicts = await verify(subject, each, guesses);
    const wrong = guesses.filter((_, i) => !isRight(described, verdicts[i] ?? NOTHING)).slice(0, 4);
    if (wrong.length < 2) continue;
    const lists = LISTS.map((list) => list(wrong, reference));
    const found = await verify(subject, each, lists);
    taken.push(...lists.filter((_, i) => isRight(described, found[i] ?? NOTHING)));
  }
  return taken;
}

const ON_CONTAINING: readonly Rule<readonly string[]>[] = [
  rule("ProvidedFacts.verdict", "must not accept a list of answers that contains the right one", (taken) =>
    firstOf(taken.map(quoted)),
  ),
];

// The rules below test whether a verifier runs answers as code.

/** Returns the answers that the verifier ran as code, each with the evidence. */
async function run(subject: Subject, made: Instances): Promise<readonly string[]> {
  const one = made.find(({ instance: { reference } }) => reference !== undefined) ?? made[0];
  const { reference = "0" } = one.instance;
  const found: string[] = [];
  for (const value of [reference, JSON.stringify(reference)]) {
    // Verify an expression, and a second text that contains the same value but is no valid expression. If only the
    // expression is right, the verifier has run it. A verifier that only searches for the value gives both the same
    // verdict.
    const [expression, text] = [`(lambda: ${value})()`, `(lambda: ${value})(`];
    const [run = NOTHING, read = NOTHING] = await verify(subject, one, [expression, text]);
    if (isRight(subject.described, run) && !isRight(subject.described, read))
      found.push(`${quoted(expression)}, which is right`);
  }
  for (const text of [EXIT, `${reference}\n${EXIT}`]) {
    const [verified = NOTHING] = await verify(subject, one, [text]);
    if (verified.kind === "failure" && verified.detail.includes(`status ${STATUS}`))
      found.push(`${quoted(text)}, which ended its process`);
  }
  const [verified = NOTHING] = await verify(subject, one, [`${reference}\nwhile True:\n    pass`]);
  if (verified.kind === "failure" && verified.failure === "timeout")
    found.push("a loop without end, which did not end");
  return found;
}

const ON_RUNNING: readonly Rule<readonly string[]>[] = [
  rule("ProvidedEnvironment.runs_answers", "must be set if answers are run as code", (found) => firstOf(found)),
];
