/**
 * Makes a provider's environment usable like a built-in one. What the provider's description contains is taken from it;
 * everything else is requested from the provider.
 */
import { formatInstruction } from "../../../envs/answers/wording.ts";
import { defineEnvironment } from "../../../envs/define.ts";
import type { AsyncEnvironment, GrowthAxis, ParameterInfo } from "../../../envs/environment.ts";
import type { Resource } from "../../../envs/resource.ts";
import { instanceHash, splitOf } from "../../../envs/splits.ts";
import { type Failed, malformed, type Parsed, unavailable } from "../../../envs/facts.ts";
import type { AnswerFormat, ChatMessage } from "../../../envs/prompt.ts";
import { verifyOrAttribute } from "./attribute-failure.ts";
import { type Described, type DescribedLevel, levelOf } from "./read-description.ts";
import type { Finding } from "./examine-level.ts";
import { carried, type MountedInstance, uncarried, type WholeInstance } from "./mounted-instance.ts";
import { mountedTurns } from "./mounted-turns.ts";
import { drawn } from "./check-pictures.ts";
import { createInstances, type Instances } from "./make-instances.ts";
import type { AskOptions, Provider } from "./provider.ts";

export type MountedEnvironment = AsyncEnvironment<MountedInstance, string>;

export interface MountOptions {
  /** Name of the mounted file or provider, as the operator gave it. */
  readonly mount: string;
  readonly provider: Provider;
  /** Maximum number of answers that are sent to the provider at the same time. */
  readonly concurrency: number;
  /**
   * Returns the result of a level's examination by the provider rules. If the level has not been examined yet, examines
   * it first. Called before each level's first task.
   */
  readonly lawful: (described: Described, level: DescribedLevel) => Promise<Finding>;
  /** Returns the result of a level's examination. Undefined: the level has not been examined yet. */
  readonly found: (described: Described, level: DescribedLevel) => Finding | undefined;
  /** Called when a level gives another instance for a seed than before. */
  readonly onBroken: (environment: string, level: string, why: string) => void;
}

const DIGEST_DIGITS = 16;
/**
 * Number of answers that a caller may have in progress even if the shared limit `concurrency` is reached. The
 * provider's own queue serves callers fairly, so they need not wait here.
 */
const CONCURRENCY_EACH = 64;
const WAITING_MAX = 65_536;
const HELD_BYTES_MAX = 256 * 1024 ** 2;
/**
 * Maximum time to verify an answer, in milliseconds: enough for two attempts and for the reference answer. It only
 * matters if a provider ignores the shorter limits of each attempt.
 */
const TIME_LIMIT_MS = 300_000;

/**
 * Describes the only parameter of a mounted environment: the level's position in the provider's list of levels. If the
 * list changes, the environment's digest changes too.
 */
function levelNumber(levels: readonly DescribedLevel[]): ParameterInfo {
  const numbers = levels.map(({ number }) => number);
  return {
    name: "level",
    description: "which level, by its position in the provider's table of levels",
    min: Math.min(...numbers),
    max: Math.max(...numbers),
    defaultValue: Math.min(...numbers),
    integer: true,
  };
}

/**
 * Returns the growth axes. An axis names levels from easy to hard. The first level has the value `first`, and each
 * further level the next whole number. An axis ends before its first level that is refused; an axis of which fewer than
 * two levels are left is none.
 */
function axesOf(described: Described, { found }: Pick<MountOptions, "found">): readonly GrowthAxis[] {
  const served = new Map(
    described.levels.flatMap((level) =>
      found(described, level)?.kind === "unlawful" ? [] : [[level.name, level.number] as const],
    ),
  );
  return described.axes.flatMap(({ name, first, guess, levels: names }): readonly GrowthAxis[] => {
    const refused = names.findIndex((each) => !served.has(each));
    const numbers = names.slice(0, refused < 0 ? undefined : refused).map((each) => served.get(each) ?? 0);
    if (numbers.length < 2) return [];
    const last = first + numbers.length - 1;
    return [{ name, first, last, guess, parametersAt: (value) => ({ level: numbers[value - first] ?? 0 }) }];
  });
}

export function mountedEnvironment(described: Described, options: MountOptions): MountedEnvironment {
  const { asked, goal, levels, answerBytesMax } = described;
  const { id, version } = asked;
  const digest = asked.digest.slice(0, DIGEST_DIGITS);
  const resource = resourceOf(id, digest, options);
  const turnsOptions = {
    ...options,
    described,
    resource,
    bytesOf: (instance: MountedInstance) => bytesOf(instance, instances, resource.name),
  };
  const environment: MountedEnvironment = defineEnvironment<MountedInstance, string>({
    id,
    version,
    description: described.description,
    goal,
    resource,
    // By the rules of provider.proto, verification is deterministic. Only calls of episodes may be random.
    deterministic: described.turns?.isDeterministic ?? true,
    ...pricingOf(described),
    ...(described.answerFormats.length > 0 && { answerFormats: described.answerFormats }),
    ...(described.verbatim && { verbatim: true }),
    asked: {
      digest,
      mount: options.mount,
      parameters: [levelNumber(levels)],
      levels: levels.map(levelOf),
      // Levels may be refused while the server serves, which shortens an axis.
      get axes() {
        return axesOf(described, options);
      },
      conflict: ({ level }) =>
        levels.some(({ number }) => number === level) ? undefined : `${id} has no level number ${level}`,
      whyNone: (parameters) => instances.whyNone(parameters),
      make: (tasks, { party, signal }) => instances.make(tasks, { party, signal }),
      again: (place) => instances.again(place),
      carry: ({ bytes }) => bytes && carried(bytes),
      ...(described.draws && {
        draw: async (instance: MountedInstance, answer: string | undefined, signal: AbortSignal) => {
          const bytes = await bytesOf(instance, instances, resource.name);
          if ("kind" in bytes) return bytes;
          return drawn({ ...options, described, resource: resource.name }, bytes, answer, signal);
        },
      }),
      refer: (place, bytes) => ({ place, bytes: bytes && uncarried(bytes), whole: undefined }),
    },
    render: ({ whole }, format) => withInstruction(whole?.prompt ?? missing(), format),
    canonical: ({ whole }) => whole?.canonical ?? missing(),
    metadata: ({ whole }) => whole?.metadata ?? {},
    reference: ({ whole }) => whole?.reference,
    parse: (text) => readAnswer(text, answerBytesMax),
    ...(described.turns === undefined
      ? { tries: { quiet: true, ...(goal === "satisfy" && { answersMax: 2 }) } as const }
      : { turns: mountedTurns(described.turns, turnsOptions) }),
    verify: (instance, answer, { party, signal }) =>
      verify({ ...options, described, resource, instances }, instance, answer, { party, signal }),
  });
  const instances = createInstances({
    described,
    provider: options.provider,
    resource: resource.name,
    splitOf: (instance) => splitOf(environment, instance),
    hashOf: (instance) => instanceHash(environment, instance),
    lawful: (level) => options.lawful(described, level),
    onBroken: (level, why) => options.onBroken(id, level, why),
  });
  return environment;
}

function readAnswer(text: string, bytesMax: number): Parsed<string> {
  const bytes = Buffer.byteLength(text);
  if (bytes <= bytesMax) return { kind: "answer", answer: text };
  return malformed(`the answer has ${bytes} bytes of UTF-8, and the limit is ${bytesMax}`);
}

/**
 * Returns how answers are rewarded: by components, if the environment has any, and otherwise by reward schemes. For
 * tasks with turns and no components, returns neither.
 */
function pricingOf({ components, goal, turns }: Described) {
  const [primary] = components;
  if (primary !== undefined) return { grading: { primary: primary.name, components } };
  if (turns !== undefined) return {};
  return { rewardSchemes: goal === "satisfy" ? ["graded"] : ["quality", "binary", "optimal_only"] };
}

/**
 * Describes the provider as a resource (with a queue and limits) that verifications use. The resource's name contains
 * the environment's digest, so that old and new code have separate queues.
 */
function resourceOf(id: string, digest: string, { provider, concurrency }: MountOptions): Resource {
  const name = mountedResource(id, digest);
  return {
    name,
    concurrencyMax: concurrency,
    concurrencyEach: CONCURRENCY_EACH,
    waitingMax: WAITING_MAX,
    heldBytesMax: HELD_BYTES_MAX,
    timeLimitMs: TIME_LIMIT_MS,
    // The queue must not retry, because attribute-failure.ts does. Its own retries find out whether the answer or the
    // verifier is to blame.
    attemptsMax: 1,
    probe: async ({ signal }): Promise<Failed | undefined> => {
      const why = await provider.probe(signal);
      return why === undefined ? undefined : unavailable(name, why);
    },
  };
}

export function mountedResource(id: string, digest: string): string {
  return `${id} ${digest.slice(0, DIGEST_DIGITS)}`;
}

interface Verifying extends MountOptions {
  readonly described: Described;
  readonly resource: Resource;
  readonly instances: Instances;
}

async function verify(
  { described, provider, resource: { name: resource }, instances }: Verifying,
  instance: MountedInstance,
  answer: string,
  options: AskOptions,
) {
  const bytes = await bytesOf(instance, instances, resource);
  if ("kind" in bytes) return bytes;
  const canary = async (): Promise<string | undefined> => {
    const made = await wholeAgain(instance, instances, resource);
    return "kind" in made ? undefined : made.reference;
  };
  return verifyOrAttribute({ provider, described, resource, canary }, bytes, answer, options);
}

/**
 * Returns all contents of the instance. If the task id carried only the instance's bytes or its seed, takes them from
 * the cache or makes the instance again. Returns the failure if that fails.
 */
async function wholeAgain(
  { place, whole }: MountedInstance,
  instances: Instances,
  resource: string,
): Promise<WholeInstance | Failed> {
  if (place === undefined) return whole ?? missing();
  const again = await instances.again(place);
  if (again.kind === "made") return again.instance.whole ?? missing();
  return again.kind === "failed" ? again : unavailable(resource, again.message, { retryable: false });
}

async function bytesOf(
  instance: MountedInstance,
  instances: Instances,
  resource: string,
): Promise<Uint8Array | Failed> {
  if (instance.bytes !== undefined) return instance.bytes;
  const whole = await wholeAgain(instance, instances, resource);
  return "kind" in whole ? whole : whole.bytes;
}

function missing(): never {
  throw new Error("bug: an instance without its contents was used as if it had them");
}

/** Returns the prompt with the answer format's instruction at the end of its last message. */
function withInstruction(prompt: readonly ChatMessage[], format: AnswerFormat): readonly ChatMessage[] {
  return prompt.map((message, i) =>
    i < prompt.length - 1 ? message : { ...message, content: `${message.content}\n\n${formatInstruction(format)}` },
  );
}
