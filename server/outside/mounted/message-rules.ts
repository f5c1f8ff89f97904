/**
 * Rules of provider.proto on single messages, named after the message and the field. The server
 * refuses providers by them; `gradus conformance` and `gradus env check` report each rule. Rules on
 * calls are in call-rules.ts.
 */
import type { ComponentInfo, Goal } from "../../../envs/environment.ts";
import { onOneLine } from "../../../envs/lib/escape.ts";
import { Goal as WireGoal } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type * as wire from "../../../proto/gen/gradus/v1/provider_pb.js";
import { ProviderFailureKind } from "../../../proto/gen/gradus/v1/provider_pb.js";
import { formatNumbers } from "../../tasks/task-id-numbers.ts";
import { advice, each, isLonger, type Rule, rulesOn, shown } from "./rules.ts";

const NAME_LENGTH_MAX = 64;
const WORDS_LENGTH_MAX = 1000;
const DETAIL_LENGTH_MAX = 2000;
const BYTES_MAX = 1024 ** 2;

const isEmpty = (text: string): boolean => text === "";
const isOnce = (item: Named, all: readonly Named[]): boolean => all.find(({ name }) => name === item.name) === item;
const isName = (name: string, item: Named, all: readonly Named[]): boolean =>
  !isEmpty(name) && !isLonger(name, NAME_LENGTH_MAX) && isOnce(item, all);
const OWN_NAME = `must be a unique name of 1 to ${NAME_LENGTH_MAX} characters`;
// NaN fails both comparisons, and must not count as a share.
const isShare = (value: number): boolean => value >= 0 && value <= 1;

type Named = { readonly name: string };
const isToolName = (name: string, item: Named, all: readonly Named[]): boolean =>
  /^[A-Za-z0-9_-]{1,64}$/.test(name) && isOnce(item, all);

/** Revision of the protocol between server and providers. A provider must have the same. */
export const PROTOCOL = 1;
const ENVIRONMENTS_MAX = 1024;
const leftOut = rulesOn<wire.LeftOut>("LeftOut");
const provider = rulesOn<wire.DescribeResponse>("DescribeResponse");
const keysOf = (environments: readonly wire.ProvidedEnvironment[]): readonly string[] =>
  environments.map(({ id, version }) => `${id} version ${version}`);

/**
 * Rules on LeftOut messages, in which a provider names an environment or level that it does not serve, and the reason.
 * A broken rule is only reported to the operator.
 */
export const ON_LEFT_OUT: readonly Rule<wire.LeftOut>[] = [
  advice(leftOut.on("name", "must name an environment or a level", (name) => !isEmpty(name))),
  advice(leftOut.on("reason", "must say why something is left out", (reason) => !isEmpty(reason))),
];

export const ON_PROVIDER: readonly Rule<wire.DescribeResponse>[] = [
  provider.on(
    "protocol",
    `must be ${PROTOCOL}: bring provider and server to the same version of Gradus`,
    (protocol) => protocol === PROTOCOL,
  ),
  provider.on(
    "environments",
    `must have 1 to ${ENVIRONMENTS_MAX} environments`,
    ({ length }) => length >= 1 && length <= ENVIRONMENTS_MAX,
    ({ length }, { leftOut: left }) =>
      [length, ...left.slice(0, 8).map(({ name, reason }) => onOneLine(`${name}: ${reason}`))].join("; "),
  ),
  provider.on(
    "environments",
    "must each have a unique id and version",
    (environments) => new Set(keysOf(environments)).size === environments.length,
    (environments) => shown(keysOf(environments).find((key, i, all) => all.indexOf(key) !== i)),
  ),
  ...each(
    ({ leftOut: left }: wire.DescribeResponse) => left,
    ON_LEFT_OUT,
    (all) => all,
  ),
];

export const GOALS: Readonly<Record<number, Goal>> = {
  [WireGoal.UNSPECIFIED]: "satisfy",
  [WireGoal.SATISFY]: "satisfy",
  [WireGoal.MINIMIZE]: "minimize",
  [WireGoal.MAXIMIZE]: "maximize",
};
const ID_LENGTH_MAX = 128;
const ID = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/;
const ID_WORDS = `must be words of a-z, 0-9 and "-" with "/" between them, of at most ${ID_LENGTH_MAX} characters`;
const VERSION_MAX = 2 ** 31 - 1;
const PARAMETERS_BYTES_MAX = 16 * 1024;
/** Names of reward components that the server itself uses (envs/reward/weighted.ts). Providers must not use them. */
const TAKEN = ["format", "format_strict", "tags"];

function isParameters(json: string): boolean {
  if (isEmpty(json)) return true;
  try {
    return Buffer.byteLength(json) <= PARAMETERS_BYTES_MAX && /^\s*\{/.test(json) && JSON.parse(json) !== null;
  } catch {
    return false;
  }
}

const component = rulesOn<wire.ProviderComponent, readonly wire.ProviderComponent[]>("ProviderComponent");
const level = rulesOn<wire.ProviderLevel, readonly wire.ProviderLevel[]>("ProviderLevel");
const environment = rulesOn<wire.ProvidedEnvironment>("ProvidedEnvironment");
const turns = rulesOn<wire.ProvidedTurns, number>("ProvidedTurns");
const tool = rulesOn<wire.ProvidedTool, readonly wire.ProvidedTool[]>("ProvidedTool");
const axis = rulesOn<wire.ProvidedAxis, wire.ProvidedEnvironment>("ProvidedAxis");
const CALLS_MAX = 512;
const TOOLS_MAX = 32;
const AXES_MAX = 16;
const AXIS_LEVELS_MAX = 256;

/**
 * Returns whether a growth axis may consist of these levels. Each must occur once, belong to the environment, be usable
 * for training, and make tasks from seeds instead of data rows.
 */
function isAlongLevels(names: readonly string[], _: wire.ProvidedAxis, { levels }: wire.ProvidedEnvironment): boolean {
  const can = new Set(levels.flatMap(({ name, rows, evaluationOnly }) => (rows > 0n || evaluationOnly ? [] : [name])));
  return new Set(names).size === names.length && names.every((name) => can.has(name));
}

export const ON_ENVIRONMENT: readonly Rule<wire.ProvidedEnvironment>[] = [
  environment.on("id", ID_WORDS, (id) => ID.test(id) && id.length <= ID_LENGTH_MAX),
  environment.on("version", `must be from 1 to ${VERSION_MAX}`, (given) => given >= 1 && given <= VERSION_MAX),
  environment.on("digest", "must be 64 hex digits in lower case", (digest) => /^[0-9a-f]{64}$/.test(digest)),
  environment.characters("description", 4000),
  environment.on("goal", "must be a Goal that this server knows", (goal) => GOALS[goal] !== undefined),
  environment.size("levels", [1, 1024]),
  environment.on("answerFormats", "must be AnswerFormats that this server knows", (formats) =>
    formats.every((format) => formatNumbers.fromWire(format) !== undefined),
  ),
  environment.size("components", [0, 32]),
  environment.size("remarks", [0, 32]),
  environment.characters("remarks", WORDS_LENGTH_MAX),
  environment.on("turnsMax", `must be 2 to ${CALLS_MAX} with turns, and at most 1 without`, (max, { turns: given }) =>
    given === undefined ? max <= 1 : max >= 2 && max <= CALLS_MAX,
  ),
  ...each(
    ({ turns: given, turnsMax }: wire.ProvidedEnvironment) => (given === undefined ? [] : [{ ...given, turnsMax }]),
    [
      turns.size("tools", [0, TOOLS_MAX]),
      turns.on("nondeterministic", "must be unset without state_bytes", (is, { stateBytes }) => !is || stateBytes > 0),
    ],
    (_, { turnsMax }) => turnsMax,
  ),
  ...each(
    ({ turns: given }: wire.ProvidedEnvironment) => given?.tools ?? [],
    [
      tool.on("name", 'must be a name of its own of 1 to 64 letters, digits, "_" and "-"', isToolName),
      tool.characters("description", 4000),
      tool.on("parametersJson", `must be a JSON object of at most ${PARAMETERS_BYTES_MAX} bytes`, isParameters),
    ],
    (all) => all,
  ),
  ...each(
    ({ components }: wire.ProvidedEnvironment) => components,
    [
      component.on("name", OWN_NAME, isName),
      component.on(
        "name",
        `must not be ${TAKEN.join(", ")}, which the server itself uses`,
        (name) => !TAKEN.includes(name),
      ),
      component.characters("description", WORDS_LENGTH_MAX),
      component.on("weight", "must be in [0, 1]", isShare),
    ],
    (all) => all,
  ),
  ...each(
    ({ levels }: wire.ProvidedEnvironment) => levels,
    [
      level.on("name", OWN_NAME, isName),
      level.characters("description", WORDS_LENGTH_MAX),
      level.on("parametersJson", `must be a JSON object of at most ${PARAMETERS_BYTES_MAX} bytes`, isParameters),
      level.on("rows", "must be below 2^53", (rows) => rows <= BigInt(Number.MAX_SAFE_INTEGER)),
    ],
    (all) => all,
  ),
  environment.size("axes", [0, AXES_MAX]),
  ...each(
    ({ axes }: wire.ProvidedEnvironment) => axes,
    [
      axis.on("name", OWN_NAME, (name, item, { axes }) => isName(name, item, axes)),
      axis.on("first", "must be from 1 to 2^31", (first) => first >= 1 && first <= 2 ** 31),
      axis.size("levels", [2, AXIS_LEVELS_MAX]),
      axis.on("levels", "must be different levels for training that make instances from seeds", isAlongLevels),
      axis.on("guess", "must be in [0, 1)", (guess) => isShare(guess) && guess < 1),
    ],
    (_, of) => of,
  ),
];

/** Properties of a mounted environment that decide how its instances and verdicts are checked. */
export interface Terms {
  readonly goal: Goal;
  readonly components: readonly ComponentInfo[];
}

const ROLES = ["system", "user", "assistant"];
const instance = rulesOn<wire.ProvidedInstance, Pick<Terms, "goal">>("ProvidedInstance");

export const isBetter = (goal: Goal, value: number, than: number): boolean =>
  goal === "maximize" ? value > than : value < than;
const isFinite = (value: number | undefined): boolean => value !== undefined && Number.isFinite(value);

export const ON_INSTANCE: readonly Rule<wire.ProvidedInstance, Pick<Terms, "goal">>[] = [
  instance.size("instance", [1, BYTES_MAX], "bytes"),
  instance.size("prompt", [1, 16], "messages"),
  instance.on(
    "prompt",
    `must have messages of ${ROLES.join(", ")}, of which the last is not the assistant's`,
    (prompt) => prompt.every(({ role }) => ROLES.includes(role)) && prompt.at(-1)?.role !== "assistant",
    (prompt) => shown(prompt.map(({ role }) => role).join(", ")),
  ),
  instance.on(
    "prompt",
    `must have at most ${BYTES_MAX} bytes, and more than white space`,
    (prompt) =>
      prompt.some(({ content }) => content.trim() !== "") &&
      prompt.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) <= BYTES_MAX,
    (prompt) => shown(prompt[0]?.content),
  ),
  instance.size("canonical", [0, BYTES_MAX], "bytes"),
  instance.on(
    "baseline",
    "must be finite unless the goal is GOAL_SATISFY",
    (value, _, { goal }) => goal === "satisfy" || isFinite(value),
  ),
  instance.on(
    "baselineBound",
    "must be finite and no worse than the baseline",
    // If the baseline could be better than the bound, an answer as good as the baseline would beat the bound and get no
    // score.
    (bound, { baseline = 0 }, { goal }) =>
      goal === "satisfy" || bound === undefined || (isFinite(bound) && !isBetter(goal, baseline, bound)),
    (bound, { baseline }) => `${bound} for a baseline of ${baseline}`,
  ),
  instance.size("metadata", [0, 32], "entries"),
  instance.characters("metadata", WORDS_LENGTH_MAX),
];

const { FEASIBLE, GRADED } = Verdict;
const VERDICTS = [Verdict.MALFORMED, Verdict.INFEASIBLE, FEASIBLE, GRADED];
const facts = rulesOn<wire.ProvidedFacts, Terms>("ProvidedFacts");
const grade = rulesOn<wire.ProvidedComponent, readonly [all: readonly wire.ProvidedComponent[], terms: Terms]>(
  "ProvidedComponent",
);
const verdictWords = (verdict: Verdict): string => Verdict[verdict] ?? String(verdict);

export const ON_FACTS: readonly Rule<wire.ProvidedFacts, Terms>[] = [
  facts.on(
    "verdict",
    "must be MALFORMED, INFEASIBLE, or GRADED (if the environment has components) or FEASIBLE (if it has none)",
    (verdict, _, { components }) =>
      VERDICTS.includes(verdict) && verdict !== (components.length > 0 ? FEASIBLE : GRADED),
    verdictWords,
  ),
  facts.characters("violation", DETAIL_LENGTH_MAX),
  facts.on(
    "objective",
    "must be finite for a feasible answer unless the goal is GOAL_SATISFY",
    (value, { verdict }, { goal }) => goal === "satisfy" || verdict !== FEASIBLE || isFinite(value),
  ),
  ...each(
    ({ verdict, components }: wire.ProvidedFacts): readonly wire.ProvidedComponent[] =>
      verdict === GRADED ? components : [],
    [
      grade.on("name", "must be one of ProvidedEnvironment.components", (name, _, [, { components }]) =>
        components.some((known) => known.name === name),
      ),
      grade.on("name", "must come once", (_, given, [all]) => isOnce(given, all)),
      grade.on("value", "must be in [0, 1]", (value) => value === undefined || isShare(value)),
      advice(
        grade.on(
          "reason",
          "must say why the value is missing, and be empty if there is one",
          (reason, { value }) => (value === undefined) !== isEmpty(reason),
        ),
      ),
    ],
    (all, _, terms: Terms) => [all, terms] as const,
  ),
  facts.on(
    "components",
    "must have a value for the first of ProvidedEnvironment.components, which decides whether an answer is right",
    (given, { verdict }, { components: [first] }) =>
      verdict !== GRADED || given.some(({ name, value }) => name === first?.name && value !== undefined),
    (given) => shown(given.map(({ name }) => name).join(", ")),
  ),
  advice(
    facts.on(
      "solved",
      "must be set only for graded answers, as components are",
      (solved, { verdict, components }) => verdict === GRADED || (!solved && components.length === 0),
      (_, { verdict }) => verdictWords(verdict),
    ),
  ),
  facts.size("info", [0, 16], "entries"),
  facts.characters("info", WORDS_LENGTH_MAX),
];

const REPLY_BYTES_MAX = 64 * 1024;
const turn = rulesOn<wire.ProvidedTurn, Terms & { readonly stateBytesMax: number }>("ProvidedTurn");

export const ON_TURN: readonly Rule<wire.ProvidedTurn, Terms & { readonly stateBytesMax: number }>[] = [
  turn.on(
    "reply",
    `must have at most ${REPLY_BYTES_MAX} bytes`,
    (reply) => Buffer.byteLength(reply) <= REPLY_BYTES_MAX,
    (reply) => String(Buffer.byteLength(reply)),
  ),
  turn.on(
    "state",
    "must have at most ProvidedTurns.state_bytes, and be unset if that is 0",
    (state, _, { stateBytesMax }) =>
      (stateBytesMax === 0) === (state === undefined) && (state?.length ?? 0) <= stateBytesMax,
    (state) => (state === undefined ? "none" : `${state.length} bytes`),
  ),
  ...each(
    ({ facts: given }: wire.ProvidedTurn) => (given === undefined ? [] : [given]),
    ON_FACTS,
    (_, __, terms: Terms) => terms,
  ),
];

const failure = rulesOn<wire.ProviderFailure>("ProviderFailure");

export const ON_FAILURE: readonly Rule<wire.ProviderFailure>[] = [
  failure.on(
    "kind",
    "must be a kind that provider.proto has, and never UNSPECIFIED",
    (kind) => kind !== ProviderFailureKind.UNSPECIFIED && ProviderFailureKind[kind] !== undefined,
  ),
  failure.characters("detail", DETAIL_LENGTH_MAX),
];
