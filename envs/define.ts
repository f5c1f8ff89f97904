/** Turns the definition that an author writes into an environment. Fills in all defaults of the definition. */
import type {
  AsyncDefinition,
  AsyncEnvironment,
  Environment,
  Generator,
  GrowthAxis,
  Level,
  Parameters,
  RowDefinition,
  RowReader,
  SearchWork,
  SyncDefinition,
  SyncEnvironment,
} from "./environment.ts";
import type { AnswerFormat } from "./prompt.ts";
import type { Rng } from "./lib/rng.ts";
import { severalTries } from "./turns/tries.ts";
import { RETURNS } from "./reward/returns.ts";
import { gradingProblem, WEIGHTED } from "./reward/weighted.ts";
import { type LevelParametersOf, parameterInfos, type ParametersOf, type ParameterSpecs } from "./parameters.ts";

type EnvironmentDefinition<Instance, Answer> = SyncDefinition<Instance, Answer> | AsyncDefinition<Instance, Answer>;

const ANSWER_FORMATS: readonly AnswerFormat[] = ["think_answer", "answer_line", "answer_tag", "boxed"];

/** Level of all rows, for environments that do not divide their rows into levels. */
const ALL_ROWS = { name: "all", description: "every row", parameters: {} } as const satisfies Level;

/**
 * Builds an environment from its definition. The result's type omits the parameter types, so that a registry can hold
 * environments of different parameters. Throws if the definition contradicts itself, which is a mistake of the author.
 */
export function defineEnvironment<Instance, Answer>(
  definition: SyncDefinition<Instance, Answer>,
): SyncEnvironment<Instance, Answer>;
export function defineEnvironment<Instance, Answer>(
  definition: AsyncDefinition<Instance, Answer>,
): AsyncEnvironment<Instance, Answer>;
export function defineEnvironment<Instance, Answer>(
  definition: EnvironmentDefinition<Instance, Answer>,
): Environment<Instance, Answer> {
  const { rows, ...rest } = definition;
  const turns = triesOf(definition) ?? rest.turns;
  const problem = definition.grading && gradingProblem(definition.grading);
  if (problem !== undefined) throw new Error(`${definition.id}: ${problem}`);
  if (rows !== undefined && definition.inEverySplit !== undefined)
    throw new Error(
      `${definition.id}: a row is always in one split, so an environment with rows must not define inEverySplit`,
    );
  if (definition.turns !== undefined && definition.resource !== undefined && definition.turns.resource === undefined)
    throw new Error(`${definition.id} asks a resource to verify answers, so set turns.resource too`);
  const levels = levelsOf(definition);
  return {
    goal: "satisfy",
    answerFormats: ANSWER_FORMATS,
    rewardSchemes: rewardSchemesOf(definition),
    canonical: (instance) => JSON.stringify(instance),
    metadata: () => ({}),
    ...rest,
    ...(turns && { turns }),
    levels,
    ...(rows && { rows: readerOf(definition.id, rows, levels) }),
  };
}

function triesOf<Instance, Answer>(definition: EnvironmentDefinition<Instance, Answer>) {
  const { tries } = definition;
  return tries && severalTries(definition, tries === true ? {} : tries);
}

function levelsOf<Instance, Answer>({
  id,
  generator: own,
  asked,
  rows,
}: EnvironmentDefinition<Instance, Answer>): readonly Level[] {
  const generator = own ?? asked;
  if (generator === undefined) {
    if (rows === undefined) return [];
    return rows.levels?.map((level): Level => ({ ...level, parameters: {} })) ?? [ALL_ROWS];
  }
  if (rows?.levels !== undefined)
    throw new Error(`${id}: remove rows.levels, because rows have the levels of the generator`);
  return generator.levels;
}

function readerOf<Instance>(id: string, rows: RowDefinition<Instance>, levels: readonly Level[]): RowReader<Instance> {
  const [first, ...others] = levels;
  if (rows.levelOf === undefined && (first === undefined || others.length > 0))
    throw new Error(`${id}: rows must define levelOf, because there are ${levels.length} levels`);
  const { levels: _, ...reader } = rows;
  return { levelOf: () => first?.name, ...reader };
}

/**
 * Returns the names of the reward schemes that fit the definition. Tasks with several turns get the schemes that
 * combine the rewards of their calls (reward/returns.ts). Environments with graded components get "weighted" and
 * "graded", and those without an objective get "graded". Environments with an objective get each scheme whose inputs,
 * e.g. a baseline, they can compute.
 */
function rewardSchemesOf<Instance, Answer>(definition: EnvironmentDefinition<Instance, Answer>): readonly string[] {
  if (definition.turns !== undefined) return RETURNS;
  if (definition.grading !== undefined) return [WEIGHTED, "graded"];
  if (definition.goal === undefined || definition.goal === "satisfy") return ["graded"];
  const hasBaseline = definition.solver !== undefined;
  const hasTrivial = definition.trivial !== undefined;
  const schemes: readonly (readonly [name: string, isPossible: boolean])[] = [
    ["quality", hasBaseline],
    ["binary", true],
    ["optimal_only", hasBaseline],
    ["coarse", hasTrivial],
    ["normalized", hasBaseline && hasTrivial],
  ];
  return schemes.filter(([, isPossible]) => isPossible).map(([name]) => name);
}

/** Definition of a generator that an environment's author writes, with typed parameters. */
export interface GeneratorDefinition<Specs extends ParameterSpecs, Instance> {
  /** Parameters of the generator. Declare them with `defineParameters` (parameters.ts). */
  readonly parameters: Specs;
  readonly levels: readonly Level<NoInfer<LevelParametersOf<Specs>>>[];
  readonly axes?: readonly GrowthAxis<NoInfer<Partial<ParametersOf<Specs>>>>[];
  /**
   * The functions `generate`, `accepts` and `conflict` mean the same as in `Generator` (environment.ts). Their
   * parameters are typed here.
   */
  generate(parameters: ParametersOf<Specs>, rng: Rng): Instance | undefined;
  accepts?(instance: NoInfer<Instance>, parameters: ParametersOf<Specs>, work?: SearchWork): boolean;
  conflict?(parameters: ParametersOf<Specs>): string | undefined;
}

/** Builds a generator. Its levels and functions are type-checked against its parameters. */
export function defineGenerator<Specs extends ParameterSpecs, Instance>({
  parameters,
  levels,
  axes = [],
  ...rest
}: GeneratorDefinition<Specs, Instance>): Generator<Instance> {
  const infos = parameterInfos(parameters);
  const grown = { axes: axes as readonly GrowthAxis[] };
  const generator = { ...rest, levels: levels as readonly Level[], parameters: infos, ...(axes.length > 0 && grown) };
  const later = infos
    .filter((info) => info.later === true)
    .map(({ name, defaultValue }) => [name, defaultValue] as const);
  return later.length === 0 ? generator : withLater(generator, Object.fromEntries(later));
}

/**
 * Returns a generator that fills in the defaults of parameters marked `later`, i.e. added after tasks were issued.
 * Levels and stored tasks omit such parameters.
 */
function withLater<Instance>(generator: Generator<Instance>, defaults: Parameters): Generator<Instance> {
  const whole = (parameters: Parameters): Parameters => ({ ...defaults, ...parameters });
  return {
    ...generator,
    generate: (parameters, rng) => generator.generate(whole(parameters), rng),
    accepts: (instance, parameters, work) => generator.accepts?.(instance, whole(parameters), work) ?? true,
    conflict: (parameters) => generator.conflict?.(whole(parameters)),
  };
}
