/** Turns what an author writes into an environment. What a definition leaves out gets its default here, and only here. */
import type {
  AsyncDefinition,
  AsyncEnvironment,
  Environment,
  Generator,
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
import { gradingProblem, WEIGHTED } from "./reward/weighted.ts";
import { type LevelParametersOf, parameterInfos, type ParametersOf, type ParameterSpecs } from "./parameters.ts";

type EnvironmentDefinition<Instance, Answer> = SyncDefinition<Instance, Answer> | AsyncDefinition<Instance, Answer>;

const ANSWER_FORMATS: readonly AnswerFormat[] = ["think_answer", "answer_line", "answer_tag", "boxed"];

/** The level of rows that are not told apart. */
const ALL_ROWS = { name: "all", description: "every row", parameters: {} } as const satisfies Level;

/**
 * An environment of its definition. Its parameter types are gone from the type, so that environments stand side by side
 * in a registry. Throws where the definition contradicts itself: that is its author's mistake.
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
  const problem = definition.grading && gradingProblem(definition.grading);
  if (problem !== undefined) throw new Error(`${definition.id}: ${problem}`);
  if (rows !== undefined && definition.inEverySplit !== undefined)
    throw new Error(`${definition.id}: a row lies in one split, so an environment with rows has no inEverySplit`);
  const levels = levelsOf(definition);
  return {
    goal: "satisfy",
    answerFormats: ANSWER_FORMATS,
    rewardSchemes: rewardSchemesOf(definition),
    canonical: (instance) => JSON.stringify(instance),
    metadata: () => ({}),
    ...rest,
    levels,
    ...(rows && { rows: readerOf(definition.id, rows, levels) }),
  };
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
  if (rows?.levels !== undefined) throw new Error(`${id}: rows have the generator's levels, so give none of their own`);
  return generator.levels;
}

function readerOf<Instance>(id: string, rows: RowDefinition<Instance>, levels: readonly Level[]): RowReader<Instance> {
  const [first, ...others] = levels;
  if (rows.levelOf === undefined && (first === undefined || others.length > 0))
    throw new Error(`${id}: rows need levelOf, for there are ${levels.length} levels`);
  const { levels: _, ...reader } = rows;
  return { levelOf: () => first?.name, ...reader };
}

/** Graded facts are weighed; right or wrong answers are graded; others are priced by each scheme whose measure the environment can give. */
function rewardSchemesOf<Instance, Answer>(definition: EnvironmentDefinition<Instance, Answer>): readonly string[] {
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

/** A generator as its author writes it, with its parameters by their names. */
export interface GeneratorDefinition<Specs extends ParameterSpecs, Instance> {
  /** From `defineParameters` (parameters.ts). */
  readonly parameters: Specs;
  readonly levels: readonly Level<NoInfer<LevelParametersOf<Specs>>>[];
  /** See `Generator` in environment.ts for this and the rest. */
  generate(parameters: ParametersOf<Specs>, rng: Rng): Instance | undefined;
  accepts?(instance: NoInfer<Instance>, parameters: ParametersOf<Specs>, work?: SearchWork): boolean;
  conflict?(parameters: ParametersOf<Specs>): string | undefined;
}

/** A generator whose levels and functions have the types of its parameters. */
export function defineGenerator<Specs extends ParameterSpecs, Instance>({
  parameters,
  levels,
  ...rest
}: GeneratorDefinition<Specs, Instance>): Generator<Instance> {
  const infos = parameterInfos(parameters);
  const generator = { ...rest, levels: levels as readonly Level[], parameters: infos };
  const later = infos
    .filter((info) => info.later === true)
    .map(({ name, defaultValue }) => [name, defaultValue] as const);
  return later.length === 0 ? generator : withLater(generator, Object.fromEntries(later));
}

/** The generator, told the defaults of parameters declared later, which its levels and its tasks leave out. */
function withLater<Instance>(generator: Generator<Instance>, defaults: Parameters): Generator<Instance> {
  const whole = (parameters: Parameters): Parameters => ({ ...defaults, ...parameters });
  return {
    ...generator,
    generate: (parameters, rng) => generator.generate(whole(parameters), rng),
    accepts: (instance, parameters, work) => generator.accepts?.(instance, whole(parameters), work) ?? true,
    conflict: (parameters) => generator.conflict?.(whole(parameters)),
  };
}
