/**
 * Makes calls to a provider of environments, and checks the results by the rules of provider.proto. Rules about single
 * messages are in message-rules.ts.
 */
import { isDeepStrictEqual } from "node:util";
import { onOneLine } from "../../../envs/lib/escape.ts";
import { Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { ProvidedFacts, ProvidedInstance } from "../../../proto/gen/gradus/v1/provider_pb.js";
import type { Described, DescribedLevel } from "./read-description.ts";
import { problemOfSvg } from "./check-pictures.ts";
import { isRight } from "./read-facts.ts";
import { isBetter, ON_FACTS, ON_INSTANCE, type Terms } from "./message-rules.ts";
import { type AskedEnvironment, type DrawResult, type Failure, type Fresh, type GenerateResult } from "./provider.ts";
import { NOTHING } from "./provider.ts";
import type { Provider, VerifyResult } from "./provider.ts";
import { advice, type Breach, each, firstOf, type Rule, rule } from "./rules.ts";

/** A level (difficulty setting) of a provider's environment, to be examined by the provider rules. */
export interface Subject {
  readonly provider: Provider;
  readonly described: Described;
  readonly level: DescribedLevel;
  readonly signal: AbortSignal;
  /** Number of seeds to make instances from. Undefined: up to four seeds, but after 200 ms no further seed is tried. */
  readonly seeds?: number;
}

/** An instance of a task, and the seed from which it was made. */
export interface MadeInstance {
  readonly seed: bigint;
  readonly instance: ProvidedInstance;
}

export type Instances = readonly [MadeInstance, ...MadeInstance[]];
type Evidence<Gather extends (...args: never[]) => unknown> = Awaited<ReturnType<Gather>>;

const SEEDS = 4;
const CHEAP_MS = 200;
/** Relative difference by which two computations of the same objective value may differ through rounding. */
const ROUNDING = 1e-9;
export const NONSENSE = "gradus: this is no answer";
/**
 * Answers that may confuse a scorer. For example, a scorer that looks for the smallest distance may take "nan" for it.
 */
const HOSTILE = ["nan", "", "\u0000", "9**9", "__import__('os').getcwd()"];

const failureWords = ({ failure, detail }: Failure): string => `${failure}: ${onOneLine(detail)}`;
/** Returns a failed call as a breach of a rule. `words` describe the failure in the breach. */
const failedCall = (found: Failure, words = failureWords(found)): Breach => ({ kind: found.failure, words });

interface CallOptions {
  /** Process to use, if there is one. Defaults to any. */
  readonly fresh?: Fresh;
  /** Fields of the request to replace, e.g. by a wrong level name, to see how the provider refuses them. */
  readonly other?: Partial<AskedEnvironment> & { readonly level?: string };
}

export async function generate(
  { provider, described: { asked }, level, signal }: Subject,
  seeds: readonly bigint[],
  { fresh = false, other: { level: name = level.name, ...other } = {} }: CallOptions = {},
): Promise<readonly GenerateResult[]> {
  const { parametersJson } = level;
  const asking = { level: name, parametersJson, seeds };
  const found = await provider.generate({ ...asked, ...other }, asking, { signal, fresh });
  return seeds.map((_, i) => found[i] ?? NOTHING);
}

/** Verifies several answers to one instance. The calls run at the same time. */
export function verify(
  { provider, described: { asked }, signal }: Subject,
  { instance: { instance } }: MadeInstance,
  answers: readonly string[],
  { fresh = false, other = {} }: CallOptions = {},
): Promise<readonly VerifyResult[]> {
  const asking = { ...asked, ...other };
  return Promise.all(answers.map((answer) => provider.verify(asking, { instance, answer }, { signal, fresh })));
}

// Functions that make instances and check them.

/**
 * Returns `count` seeds, including the smallest and the largest 64-bit number. For a level with data rows, returns
 * indices of rows instead, including that of the last row.
 */
function seedsOf({ rows }: DescribedLevel, count: number): readonly bigint[] {
  if (rows > 0) return [...new Set([...Array(Math.min(count, rows) - 1).keys(), rows - 1])].map(BigInt);
  const mixed = Array.from({ length: count }, (_, i) => BigInt.asUintN(64, 0x9e3779b97f4a7c15n * BigInt(i + 1)));
  return [0n, 2n ** 64n - 1n, ...mixed].slice(0, count);
}

export async function make(subject: Subject) {
  const { level, seeds } = subject;
  const made: MadeInstance[] = [];
  const none = new Map<bigint, string>();
  const beganMs = performance.now();
  let failure: Failure | undefined;
  for (const seed of seedsOf(level, seeds ?? SEEDS)) {
    const [found = NOTHING] = await generate(subject, [seed]);
    if (found.kind === "failure") failure = found;
    else if (found.kind === "made") made.push({ seed, instance: found.instance });
    else none.set(seed, onOneLine(found.message));
    const isLate = seeds === undefined && made.length > 0 && performance.now() - beganMs > CHEAP_MS;
    if (failure !== undefined || isLate) break;
  }
  return { level, goal: subject.described.goal, made, none, failure };
}

export const ON_MAKING: readonly Rule<Evidence<typeof make>>[] = [
  rule(
    "GenerateResponse.result",
    "must be an instance for at least one seed, and never a failure",
    ({ made, none, failure }) => {
      if (failure !== undefined) return failedCall(failure);
      return made.length > 0 ? undefined : [...none.values()].join("; ");
    },
  ),
  rule("ProviderLevel.rows", "must be the number of rows", ({ level: { rows }, made, none }) =>
    rows > 0 && made.length > 0 && none.has(BigInt(rows - 1)) ? `${rows}, but no instance of the last row` : undefined,
  ),
  ...each(
    ({ made }: Evidence<typeof make>) => made.map(({ instance }) => instance),
    ON_INSTANCE,
    (_, making) => making,
  ),
];

// Functions that repeat calls, to see whether the results change.

export const NAMES = ["environment", "version", "digest"] as const;

/** Returns references to environments that the provider does not have: each has a wrong id, version or digest. */
export function namesOfOthers(asked: AskedEnvironment): readonly (readonly [string, AskedEnvironment])[] {
  const digest = asked.digest.replaceAll(/./g, (digit) => (digit === "0" ? "1" : "0"));
  const others = [{ id: `${asked.id}/none` }, { version: asked.version + 1 }, { digest }];
  return others.map((other, i) => [NAMES[i] as string, { ...asked, ...other }]);
}

/**
 * Makes the same instances again: alone, in reverse order, and in a process that has not served the environment yet.
 * The results must equal the first ones. Also requests environments and levels that do not exist, which the provider
 * must refuse.
 */
export async function repeat(subject: Subject, made: Instances) {
  const {
    described: { asked },
    level,
  } = subject;
  const seeds = made.map(({ seed }) => seed);
  const few = subject.seeds === undefined ? seeds.slice(0, 1) : seeds;
  const beganMs = performance.now();
  const again = [...(await generate(subject, few))];
  const isCheap = subject.seeds !== undefined || performance.now() - beganMs <= CHEAP_MS;
  // A server tries thousands of levels, and to start a process for each takes as long as all else.
  const fresh = isCheap
    ? await generate(subject, few, { fresh: subject.seeds === undefined ? "environment" : true })
    : [];
  const turned = await generate(subject, seeds.toReversed());
  const others = namesOfOthers(asked);
  const refused = new Map<string, GenerateResult | VerifyResult>();
  for (const [name, other] of others) {
    refused.set(`GenerateRequest.${name}`, (await generate(subject, few.slice(0, 1), { other }))[0] ?? NOTHING);
    refused.set(`VerifyRequest.${name}`, (await verify(subject, made[0], [NONSENSE], { other }))[0] ?? NOTHING);
  }
  const [elsewhere = NOTHING] = await generate(subject, few.slice(0, 1), { other: { level: "gradus-none" } });
  return { level, made, again, fresh, turned, refused: refused.set("GenerateRequest.level", elsewhere) };
}

const FIELDS = ["instance", "prompt", "canonical", "reference", "baseline", "baselineBound", "metadata"] as const;

/** Returns the first difference between instances and the same instances made again. Undefined: they are equal. */
function difference(before: readonly MadeInstance[], now: readonly GenerateResult[]): Breach | undefined {
  const breaches = now.map((found, i): Breach | undefined => {
    const { seed, instance } = before[i] as MadeInstance;
    if (found.kind === "failure")
      return failedCall(found, `${failureWords(found)}, when seed ${seed} was requested again`);
    if (found.kind === "exhausted") return `no instance for seed ${seed}, which gave one before`;
    const field = FIELDS.find((name) => !isDeepStrictEqual(found.instance[name], instance[name]));
    return field && `a different ${field} for seed ${seed}`;
  });
  return firstOf(breaches);
}

export const ON_REPEATING: readonly Rule<Evidence<typeof repeat>>[] = [
  rule(
    "EnvironmentProvider.Generate",
    "must make equal instances from the same level and seed, in every process",
    (given) => firstOf([difference(given.made, given.again), difference(given.made, given.fresh)]),
  ),
  rule("GenerateResponse.index", "must be the index of the seed in the request", ({ made, turned }) =>
    difference(made.toReversed(), turned),
  ),
  advice(
    rule("ProvidedInstance.canonical", "must be different for different tasks", ({ level: { rows }, made }) => {
      const texts = new Set(made.map(({ instance: { canonical, instance } }) => canonical || String(instance)));
      return rows !== 1 && made.length > 1 && texts.size === 1 ? `the same for ${made.length} seeds` : undefined;
    }),
  ),
  ...[...NAMES.flatMap((name) => [`GenerateRequest.${name}`, `VerifyRequest.${name}`]), "GenerateRequest.level"].map(
    (name) =>
      rule(name, "must be refused if the provider does not have it", ({ refused }: Evidence<typeof repeat>) => {
        const found = refused.get(name) ?? NOTHING;
        const isRefused = found.kind === "failure" && found.failure !== "timeout";
        return isRefused
          ? undefined
          : `one that it does not have, and returned ${found.kind === "failure" ? "no response" : found.kind}`;
      }),
  ),
];

// Functions that verify answers.

/** An answer to an instance, and the provider's result for it. */
interface Checked {
  readonly made: MadeInstance;
  readonly text: string;
  readonly verified: VerifyResult;
}

async function checkAnswers(
  subject: Subject,
  made: MadeInstance,
  texts: readonly string[],
): Promise<readonly Checked[]> {
  return (await verify(subject, made, texts)).map((verified, i) => ({ made, text: texts[i] ?? "", verified }));
}

/**
 * Verifies the reference answer, a meaningless answer and hostile answers. Then verifies some of the answers again,
 * alone and together, to see whether the verdicts change.
 */
export async function answer(subject: Subject, made: Instances) {
  const { described } = subject;
  const [one] = made;
  const checked: Checked[] = [];
  const beganMs = performance.now();
  for (const each of made) {
    for (const text of new Set([NONSENSE, each.instance.reference ?? NONSENSE]))
      checked.push(...(await checkAnswers(subject, each, [text])));
    if (subject.seeds === undefined && performance.now() - beganMs > CHEAP_MS) break;
  }
  const senseless = [...HOSTILE, "x".repeat(described.answerBytesMax)].filter(
    (text) => text !== one.instance.reference,
  );
  const hostile = await checkAnswers(subject, one, senseless);
  const ofFirst = checked.filter((each) => each.made === one);
  const again: Checked[] = [];
  for (const { text } of ofFirst) again.push(...(await checkAnswers(subject, one, [text])));
  // The order is changed on purpose: a provider that mixes up the answers' indices then gives other verdicts.
  const several = [...ofFirst.toReversed(), ...hostile.slice(0, 2)];
  const together = await checkAnswers(
    subject,
    one,
    several.map(({ text }) => text),
  );
  return { terms: described, checked, hostile, ofFirst, again, several, together };
}

/** Returns the parts of a verdict that decide the reward, as text that can be compared. */
export function worth(verified: VerifyResult): string {
  return verified.kind === "failure" ? failureWords(verified) : worthOfFacts(verified.facts);
}

export function worthOfFacts({ verdict, objective, components, solved }: ProvidedFacts): string {
  const grades = components.map(({ name, value }) => `${name} ${value ?? "without a value"}`);
  return onOneLine([Verdict[verdict], objective ?? [], grades, solved ? "solved" : []].flat().join(", "));
}

const inWords = ({ text, verified }: Checked): string => `${worth(verified)} for '${onOneLine(text.slice(0, 60))}'`;
/** Returns a wrong verdict as a breach of a rule. `words` describe the verdict in the breach. */
const breachBy = (checked: Checked, words = inWords(checked)): Breach =>
  checked.verified.kind === "failure" ? failedCall(checked.verified, words) : words;
const breachOf = (checked: Checked | undefined): Breach | undefined => checked && breachBy(checked);
const isReference = ({ text, made }: Checked): boolean => text === made.instance.reference;

/**
 * Compares the verdicts of two verifications of the same answers. Returns the first difference that would change a
 * reward. Undefined: there is none.
 */
export function change(before: readonly Checked[], after: readonly Checked[]): Breach | undefined {
  const isOther = ({ verified }: Checked, i: number): boolean =>
    verified.kind === "facts" && worth(verified) !== worth(after[i]?.verified ?? NOTHING);
  const at = before.findIndex(isOther);
  if (at < 0) return undefined;
  const now = after[at] as Checked;
  return breachBy(now, `${worth((before[at] as Checked).verified)} and then ${inWords(now)}`);
}

/**
 * Returns whether the answer cannot be right, so that a verifier that accepts it is broken. An empty answer counts only
 * if the goal is "satisfy" and the instance has a reference answer, because otherwise it might be right.
 */
const isSenseless = ({ goal }: Terms, { text, made: { instance } }: Checked): boolean =>
  text !== instance.reference && (text !== "" || (goal === "satisfy" && instance.reference !== undefined));

type Answering = Evidence<typeof answer>;

/**
 * Returns the reference answer's objective and the instance's bound, in words, if the objective is better than the
 * bound. Undefined: it is not. A bound claims that no answer is better.
 */
function beyondBound(goal: Described["goal"], { made: { instance }, verified }: Checked): string | undefined {
  const bound = instance.baselineBound ?? instance.baseline;
  const objective = verified.kind === "facts" ? verified.facts.objective : undefined;
  if (goal === "satisfy" || bound === undefined || objective === undefined) return undefined;
  const isPassed =
    isBetter(goal, objective, bound) && Math.abs(objective - bound) > ROUNDING * Math.max(1, Math.abs(bound));
  return isPassed ? `${objective}, and a bound of ${bound}` : undefined;
}

export const ON_ANSWERING: readonly Rule<Answering>[] = [
  rule("VerifyResponse.result", "must be facts, for the reference answer and for a meaningless one", ({ checked }) =>
    breachOf(checked.find(({ verified }) => verified.kind === "failure")),
  ),
  ...each(
    ({ checked, hostile }: Answering) =>
      [...checked, ...hostile].flatMap(({ verified }) => (verified.kind === "facts" ? verified.facts : [])),
    ON_FACTS,
    (_, { terms }) => terms,
  ),
  rule("ProvidedInstance.reference", "must be a right answer", ({ terms, checked }) =>
    breachOf(checked.find((each) => isReference(each) && !isRight(terms, each.verified))),
  ),
  rule("ProvidedFacts.verdict", "must not accept a meaningless answer as right", ({ terms, checked, hostile }) =>
    breachOf([...checked, ...hostile].find((each) => isSenseless(terms, each) && isRight(terms, each.verified))),
  ),
  rule(
    "ProvidedInstance.baseline_bound",
    "must not be worse than the reference answer",
    ({ terms: { goal }, checked }) => firstOf(checked.filter(isReference).map((each) => beyondBound(goal, each))),
  ),
  rule("EnvironmentProvider.Verify", "must give equal results for the same instance and answer", ({ ofFirst, again }) =>
    change(ofFirst, again),
  ),
  rule("VerifyResponse.index", "must be the index of the answer to which the facts belong", ({ several, together }) =>
    change(several, together),
  ),
];

// The function that requests a picture.

export function draw({ provider, described: { asked }, signal }: Subject, [{ instance: made }]: Instances) {
  const { instance, reference = NONSENSE } = made;
  return Promise.all(
    [undefined, reference].map((text) => provider.draw(asked, { instance, answer: text }, { signal })),
  );
}

const SVG_WORDS = "must be a whole SVG document of at most 1 MiB without scripts and references";
const problemOfDrawn = (drawn: DrawResult): Breach | undefined =>
  drawn.kind === "failure" ? failedCall(drawn) : problemOfSvg(drawn.svg);

export const ON_DRAWING: readonly Rule<readonly DrawResult[]>[] = [
  advice(rule("DrawResponse.svg", SVG_WORDS, (all) => firstOf(all.map(problemOfDrawn)))),
];
