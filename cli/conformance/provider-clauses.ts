/** What any provider of environments does (proto/gradus/v1/provider.proto), as clauses. */
import { Verdict } from "../../proto/gen/gradus/v1/outcome_pb.js";
import type { ProvidedEnvironment, ProvidedInstance } from "../../proto/gen/gradus/v1/provider_pb.js";
import {
  ITEM_LIMITS,
  type AskedEnvironment,
  type Generated,
  type Provider,
  type Verified,
} from "../../server/outside/mounted/provider.ts";
import { type Clause, inPart, fail, type Finding, pass, skip, unless } from "./clause.ts";

export interface ProvidedSubject {
  readonly provider: Provider;
  readonly environment: ProvidedEnvironment;
  readonly level: string;
}

const SEEDS = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n] as const;
const HOSTILE = ["", "\u0000", "9**9**9", "__import__('os').getcwd()", "x".repeat(2 ** 20)] as const;

const options = () => ({ signal: AbortSignal.timeout(10 * 60 * 1000) });

function asked({ id, version, digest, limits }: ProvidedEnvironment): AskedEnvironment {
  return {
    id,
    version,
    digest,
    limits: {
      generateMs: limits?.generateMs || ITEM_LIMITS.generateMs,
      verifyMs: limits?.verifyMs || ITEM_LIMITS.verifyMs,
    },
  };
}

function generate(
  { provider, environment, level }: ProvidedSubject,
  seeds: readonly bigint[],
): Promise<readonly Generated[]> {
  const { parametersJson = "{}" } = environment.levels.find(({ name }) => name === level) ?? {};
  return provider.generate(asked(environment), { level, parametersJson, seeds }, options());
}

function verify({ provider, environment }: ProvidedSubject, made: ProvidedInstance, answer: string): Promise<Verified> {
  return provider.verify(asked(environment), { instance: made.instance, answer }, options());
}

async function instances(subject: ProvidedSubject): Promise<readonly ProvidedInstance[]> {
  return (await generate(subject, SEEDS)).flatMap((result) => (result.kind === "made" ? [result.instance] : []));
}

/** As they are compared: bytes, prompt and canonical text. */
function printed(results: readonly Generated[]): readonly string[] {
  return results.map((result) => {
    if (result.kind !== "made") return result.kind;
    const { instance, prompt, canonical } = result.instance;
    return [Buffer.from(instance).toString("hex"), ...prompt.map(({ content }) => content), canonical].join("|");
  });
}

/** As the server takes it: of an answer that is right or wrong the verdict says it, of a graded one `solved`. */
const isRight = (verified: Verified): boolean =>
  verified.kind === "facts" && (verified.facts.solved || verified.facts.verdict === Verdict.FEASIBLE);

const sameAs = (a: readonly string[], b: readonly string[], words: string): Finding =>
  unless(a.join("\n") === b.join("\n") ? undefined : words);

export const ofProvider: readonly Clause<Provider>[] = inPart<Provider>("The provider", [
  {
    says: "Each environment has an id of its own, a version, a digest of 64 hex digits, and a level at least.",
    check: async ({ described: { environments } }) => {
      const wrong = environments.find(
        ({ id, version, digest, levels }) =>
          id === "" || version < 1 || !/^[0-9a-f]{64}$/.test(digest) || levels.length === 0,
      );
      if (wrong !== undefined) return fail(`'${wrong.id}', version ${wrong.version}, lacks one of these`);
      const ids = environments.map(({ id, version }) => `${id} ${version}`);
      return unless(new Set(ids).size === ids.length ? undefined : "two have the same id and version");
    },
  },
  {
    says: "What is left out is named with its reason.",
    check: async ({ described: { leftOut } }) => {
      const silent = leftOut.find(({ name, reason }) => name === "" || reason === "");
      return unless(silent && `'${silent.name}' has no reason`);
    },
  },
]);

export const ofProvided: readonly Clause<ProvidedSubject>[] = [
  ...inPart<ProvidedSubject>("Instances", [
    {
      says: "The same level and seed give the same instance, prompt and canonical text.",
      check: async (subject) =>
        sameAs(
          printed(await generate(subject, SEEDS)),
          printed(await generate(subject, SEEDS)),
          "another came the second time",
        ),
    },
    {
      says: "What a seed gives does not depend on what was asked before it.",
      check: async (subject) => {
        const once = printed(await generate(subject, SEEDS));
        const turned = printed(await generate(subject, SEEDS.toReversed())).toReversed();
        return sameAs(once, turned, "in another order other instances came");
      },
    },
    {
      says: "An instance has a prompt, and seeds that differ give instances that differ.",
      check: async (subject) => {
        const made = await instances(subject);
        if (made.length === 0) return fail("none of eight seeds gives an instance");
        if (made.some(({ prompt }) => prompt.every(({ content }) => content === ""))) return fail("one has no prompt");
        if (made.length === 1) return skip("only one of eight seeds gives an instance");
        return unless(
          new Set(made.map(({ canonical }) => canonical)).size > 1 ? undefined : "eight seeds give one instance",
        );
      },
    },
  ]),
  ...inPart<ProvidedSubject>("Answers", [
    {
      says: "The reference answer solves its instance.",
      check: async (subject) => {
        const [made] = (await instances(subject)).filter(({ reference }) => reference !== undefined);
        if (made?.reference === undefined) return skip("it gives no reference answers");
        const verified = await verify(subject, made, made.reference);
        if (verified.kind !== "facts") return fail(`${verified.failure}: ${verified.detail}`);
        return unless(isRight(verified) ? undefined : verified.facts.violation || "it is not solved");
      },
    },
    {
      says: "Nonsense does not solve an instance.",
      check: async (subject) => {
        const [made] = await instances(subject);
        if (made === undefined) return skip("there is no instance");
        const verified = await verify(subject, made, "I do not know.");
        return unless(isRight(verified) ? "it counts as solved" : undefined);
      },
    },
    {
      says: "Empty, hostile and long answers are told in time, none as solved, and the next answer is told as well.",
      check: async (subject) => {
        const [made] = await instances(subject);
        if (made === undefined) return skip("there is no instance");
        for (const answer of HOSTILE) {
          const verified = await verify(subject, made, answer);
          if (isRight(verified)) return fail(`${JSON.stringify(answer.slice(0, 40))} counts as solved`);
        }
        const after = await verify(subject, made, "I do not know.");
        return after.kind === "facts" ? pass : fail(`after them: ${after.failure}: ${after.detail}`);
      },
    },
  ]),
  ...inPart<ProvidedSubject>("Versions", [
    {
      says: "Instances of another digest are refused, and neither made nor told.",
      check: async (subject) => {
        const environment = { ...subject.environment, digest: "0".repeat(64) };
        const [result] = await generate({ ...subject, environment }, [1n]);
        return unless(result?.kind === "made" ? "it makes an instance of a digest that it does not have" : undefined);
      },
    },
  ]),
];
