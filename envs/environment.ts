/**
 * Defines the interface of an environment. All members are pure: no I/O, no clock, and no randomness except the
 * generator passed in.
 */
import type { CutText } from "./answers/instructions.ts";
import type { Picture } from "./picture.ts";
import type { Rng } from "./lib/rng.ts";
import type { Facts, Failed, Findings, Malformed, Parsed } from "./facts.ts";
import type { AnswerFormat, ChatMessage } from "./prompt.ts";
import type { Tries } from "./turns/tries.ts";
import type { AnyTurns } from "./turns/turns.ts";
import type { AskContext } from "./ports.ts";
import type { PortContext, Resource, VerifyContext } from "./resource.ts";

export type Goal = "satisfy" | "minimize" | "maximize";
export type Split = "train" | "eval" | "bench";
/** Generator parameters by name. An environment always gets all of them, with defaults filled in and ranges checked. */
export type Parameters = Readonly<Record<string, number>>;

export interface ParameterInfo {
  readonly name: string;
  readonly description: string;
  readonly min: number;
  readonly max: number;
  readonly defaultValue: number;
  readonly integer: boolean;
  /**
   * True if the parameter was declared after tasks of this version were issued. The random numbers of a task are a
   * function of all its parameters. At its default, a later parameter is therefore omitted, so that earlier tasks stay
   * the same.
   */
  readonly later?: true;
}

export interface Level<Values extends Parameters = Parameters> {
  readonly name: string;
  readonly description: string;
  /** A value for each of the generator's parameters. Empty for a level of rows only. */
  readonly parameters: Values;
  /** True if the train split refuses the level. */
  readonly evaluationOnly?: boolean;
  /** True if the level is used only where it is named. Lists of all levels, e.g. for an export, omit it. */
  readonly byName?: boolean;
  /** True if the level has too few instances to divide (SMALL in splits.ts), so that all of them lie in every split. */
  readonly small?: boolean;
}

/** The components of the reward, for an environment whose answers are graded. */
export interface Grading {
  /** Name of the component that decides how good an answer is. The other components only help. */
  readonly primary: string;
  readonly components: readonly ComponentInfo[];
}

export interface ComponentInfo {
  /**
   * Unique name. The names "format", "format_strict" and "tags" are reserved for components of the completion
   * (envs/reward/weighted.ts).
   */
  readonly name: string;
  readonly description: string;
  /** Weight of the component in the sum, in [0, 1], unless the reward scheme's parameters set another weight. */
  readonly weight: number;
}

export interface Baseline {
  /** Objective of the best known answer. */
  readonly value: number;
  /** Certified bound: no answer has a better objective. */
  readonly bound: number;
  /** True if `value` is the optimum (`value` equals `bound`). */
  readonly proven: boolean;
}

export interface Solution<Answer> extends Baseline {
  readonly answer: Answer;
  /** Number of search nodes used. */
  readonly nodes: number;
}

/** Search nodes that remain, counted in nodes and never in time. Each search subtracts the nodes that it visits. */
export interface SearchWork {
  nodesLeft: number;
}

/**
 * Growth axis: a series of values, e.g. numbers of vertices. Tasks of a value are at least as hard as those of the
 * value before. A run's arm may open the values one after the other.
 */
export interface GrowthAxis<Values = Parameters> {
  /** Name of what grows, e.g. "vertices". */
  readonly name: string;
  /** First value, at least 1, and last value, whole numbers. */
  readonly first: number;
  readonly last: number;
  /** Returns the parameters that a value sets, the same ones for each value. None falls from a value to the next. */
  parametersAt(value: number): Values;
  /** Success rate that guessing reaches, in [0, 1). Defaults to 0. */
  readonly guess?: number;
  /** Greatest value with fewer than SMALL instances (splits.ts). Defaults to none. */
  readonly smallThrough?: number;
}

/** Members that every kind of generator has. */
interface Makeable {
  readonly parameters: readonly ParameterInfo[];
  /** Growth axes. Defaults to none. */
  readonly axes?: readonly GrowthAxis[];
  /** Levels, easiest first. At least one. */
  readonly levels: readonly Level[];
  /** Returns an error text if the parameters, each in its range, do not fit together. Returns undefined if they do. */
  conflict?(parameters: Parameters): string | undefined;
}

/** Makes instances. Build one with `defineGenerator` (define.ts), which passes typed parameters to `generate`. */
export interface Generator<Instance> extends Makeable {
  /**
   * Returns a candidate instance, or undefined if this random stream gives none. Must be cheap: every step that
   * restores the instance repeats the call.
   */
  generate(parameters: Parameters, rng: Rng): Instance | undefined;
  /**
   * Returns whether the candidate is a task of these parameters. May search, because it is called once for each task. A
   * search subtracts the nodes that it visits from `work`, and returns any result when none remain. If omitted, every
   * candidate is accepted.
   */
  accepts?(instance: Instance, parameters: Parameters, work?: SearchWork): boolean;
}

/** A request for tasks, one for each seed. */
export interface MountedTasks {
  /** All parameters, with defaults filled in. */
  readonly parameters: Parameters;
  readonly split: Split;
  readonly seeds: readonly bigint[];
}

/**
 * Origin of a task that a mounted generator (one in another process) made, and the hash that its instance must have
 * when it is made again.
 */
export interface MountedPlace {
  readonly parameters: Parameters;
  readonly seed: bigint;
  /** Index of the attempt at this seed that gave the instance, from 0. */
  readonly attempt: number;
  /** Hash of the instance, 16 hex digits (splits.ts). */
  readonly hash: string;
}

/** Result of asking a mounted generator (one in another process) for a task. */
export type MountedResult<Instance = unknown> =
  | {
      readonly kind: "made";
      readonly instance: Instance;
      readonly attempt: number;
      /** Best known objective. Unset if there is nothing to optimise. */
      readonly baseline?: Baseline;
    }
  /** No such instance exists. Asking again does not help. */
  | { readonly kind: "exhausted"; readonly message: string }
  | Failed;

/** Result of asking a mounted generator (one in another process) for a picture. */
export type MountedDrawing =
  | { readonly kind: "svg"; readonly svg: string }
  /** There is no picture. Asking again does not help. */
  | { readonly kind: "undrawn"; readonly why: string };

/**
 * Generator in another process, such as a program in another language. As with `Generator`, the seed determines
 * the instance. Each call is a request to that process, and it may fail.
 */
export interface MountedGenerator<Instance> extends Makeable {
  /** Digest of the provider's sources and settings, 16 hex digits. A task made under another digest is refused. */
  readonly digest: string;
  /** Name of the mounted provider (the other process), as the operator gave it. */
  readonly mount: string;
  /**
   * Returns why no tasks can be made with these parameters. Checks this now unless a check was made before. Returns
   * undefined if tasks can be made, or if the check cannot tell.
   */
  whyNone(parameters: Parameters): Promise<string | undefined>;
  /** Returns one result for each seed, in the order of the seeds. */
  make(tasks: MountedTasks, context: AskContext): Promise<readonly MountedResult<Instance>[]>;
  /** Returns the complete instance of a task that was made before, for rendering it. */
  again(place: MountedPlace): Promise<MountedResult<Instance>>;
  /**
   * Encodes the instance as a few bytes that travel in the task id, so that a step need not ask for the instance.
   * Returns undefined if the instance takes too many bytes.
   */
  carry(instance: Instance): Uint8Array | undefined;
  /**
   * Returns a stand-in for the instance, which suffices to verify answers. `carried` holds the bytes from the task id,
   * if it has any.
   */
  refer(place: MountedPlace, carried: Uint8Array | undefined): Instance;
  /** Draws the instance, with an answer if one is given, as an SVG document. If omitted, there are no pictures. */
  draw?(instance: Instance, answer: string | undefined, signal: AbortSignal): Promise<MountedDrawing | Failed>;
}

/** Finds optimal answers, or correct ones for environments without an objective. */
export interface Solver<Instance, Answer> {
  /** Returns the best answer found with at most `nodesMax` search nodes. Budgets count nodes, never time. */
  solve(instance: Instance, nodesMax?: number): Solution<Answer>;
  /** Returns the answer as a model would write it. `parse(format(a))` is `a`. */
  format(answer: Answer): string;
  /**
   * Returns a feasible answer of a plain heuristic, like those that the papers divide by, or undefined if the heuristic finds
   * none. The answer is the same on every machine, and the instance's size bounds the number of steps. Reports may
   * compare answers with it; rewards never do. If omitted, there is no heuristic.
   */
  heuristic?(instance: Instance): Answer | undefined;
}

/** Result of reading a row: an instance, and the columns that it was read from. */
export type RowRead<Instance> =
  | Malformed
  | {
      readonly kind: "answer";
      readonly answer: Instance;
      /** The column that each field was taken from, and how, e.g. ["answer", "solution, in \\boxed{}"]. */
      readonly taken?: readonly Taken[];
      /** Set if the reading is correct only if another row of the file confirms it, e.g. by an option index of 0. */
      readonly proof?: RowProof;
      /**
       * Instructions about the form of the answer in the row's text. `cut` lists the instructions removed from the
       * prompt; `left` lists those that remain.
       */
      readonly instructions?: () => Pick<CutText, "cut" | "left">;
    };

/** A task's field and the column that it was taken from. */
export type Taken = readonly [field: string, from: string];

/** A fact that at least one row of the file must show. If no row shows it, the file is refused. */
export interface RowProof {
  /** Text that tells the operator what to correct if no row gives the proof. It also identifies the proof. */
  readonly wanted: string;
  /** True if this row gives the proof. */
  readonly given: boolean;
}

/** Reads rows of a data pool into instances. */
export interface RowReader<Instance> {
  /** Reads one row, as parsed JSON, into an instance. An error text names the faulty column. */
  read(row: unknown): RowRead<Instance>;
  /**
   * Columns that `read` uses, in all schemas that it knows. Defaults to all columns. No other column of a Parquet file
   * is read, and no other column of a row is kept or passed to `read`. A file need not have all of these columns, and
   * the case of their names does not matter. A number that JavaScript would change is passed as a RawNumber
   * (lib/exact-json.ts).
   */
  readonly columns?: readonly string[];
  /**
   * Groups of columns that hold one field under several names, by the field's name. If the operator names one column of
   * a group, the others are ignored.
   */
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  /**
   * Returns everything that the task asks, without the correct answer. Two different tasks with the same question
   * contradict each other unless `agrees` returns true. If omitted, contradictions are not looked for.
   */
  asked?(instance: Instance): string;
  /**
   * Returns whether two rows with the same question have the same correct answer in two spellings. Defaults to false.
   */
  agrees?(one: Instance, other: Instance): boolean;
  /**
   * Returns a key that is equal for rows whose answers reveal each other. A run is not evaluated on problems that it
   * trains on. Defaults to the environment's invariant.
   */
  problem?(instance: Instance): string;
  /** Returns the name of the row's level, or undefined if the row has none. May search. */
  levelOf(instance: Instance): string | undefined;
  /**
   * Measure that ranks the rows within a level and a split. Defaults to the file's pass rate or difficulty, if it has
   * one (pool-ranks.ts).
   */
  readonly difficulty?: {
    /** Name of the measure in run configurations (RankRange.by), e.g. "solutions". */
    readonly measure: string;
    /** Description of the measure, e.g. "the count of solutions". */
    readonly source: string;
    /** Returns the difficulty of an instance, greater for harder ones. May search. */
    of(instance: Instance): number;
  };
  /**
   * Python in a row, such as tests, that a sandbox must read before `read` can. `of` returns the Python, or undefined
   * if there is none. `told` returns the row with the sandbox's findings (JSON in the reader's own form) in place of
   * the Python. That row is read and kept.
   */
  readonly python?: {
    of(row: unknown): string | undefined;
    told(row: unknown, found: string): unknown;
  };
  /**
   * Asks the resource once, when the pool is loaded, whether a task is sound, e.g. whether its own solution passes its
   * tests. Returns undefined for a sound task, or an error text for a row to reject. Returns Failed if a fault of ours
   * prevents the check. If omitted, there is no such check.
   */
  check?(instance: Instance, context: PortContext): Promise<string | undefined | Failed>;
  /**
   * Returns what the task omits of the row, and why, or undefined if it omits nothing. `gradus pools check --rows`
   * shows the text.
   */
  remark?(instance: Instance): string | undefined;
  /**
   * Pool that ships with the environment, a JSONL file beside its index.ts. If omitted, the operator provides the
   * pools.
   */
  readonly defaultPool?: { readonly name: string; readonly file: URL };
}

/** Encodes an instance as a few bytes. */
export interface InlineCodec<Instance> {
  /** Returns undefined if the instance takes too many bytes for a task id. */
  encode(instance: Instance): Uint8Array | undefined;
  /** Returns the instance that was encoded. The bytes are authenticated, so they come from this server. */
  decode(bytes: Uint8Array): Instance;
}

/** Asks a teacher model for tasks. The model proposes rows, which the environment's RowReader checks. */
export interface Teaching {
  /**
   * Returns the prompt that asks for `count` tasks of a level. The random generator makes one prompt differ from the
   * next.
   */
  prompt(level: Level, count: number, rng: Rng): readonly ChatMessage[];
  /** Returns the rows that a reply holds. Never throws and never evaluates code. */
  read(text: string): Parsed<readonly unknown[]>;
}

/**
 * Describes what an answer consists of. The laws of all environments change the solver's answers so that they break
 * this shape, and no verifier may accept such an answer.
 */
export type AnswerShape<Instance, Answer> = NumberedShape<Instance> | ItemShape<Instance, Answer>;

/** Shape of an answer whose numbers name things, numbered from 0 to count − 1. */
interface NumberedShape<Instance> {
  /**
   * Kind of numbering.
   * - "choice": some of the things, each at most once, in any order.
   * - "route": some of the things, each at most once, in an order that matters.
   * - "arrangement": all of the things, each once, in an order or in groups that matter.
   * - "labels": a number for each thing, in the order of the things. Any number may repeat.
   */
  readonly kind: "choice" | "route" | "arrangement" | "labels";
  count(instance: Instance): number;
}

/**
 * Shape of an answer that uses up items which the instance provides, such as letters. No item may be used more often
 * than it is provided.
 */
interface ItemShape<Instance, Answer> {
  readonly kind: "items";
  given(instance: Instance): readonly string[];
  used(answer: Answer): readonly string[];
}

/** Members that every environment must have, apart from `verify`. */
interface Core<Instance, Answer> {
  /** Id of the environment, e.g. "np/tsp". */
  readonly id: string;
  /** Version of the environment. A changed golden file needs a new version. */
  readonly version: number;
  /**
   * Earlier versions, oldest first, with the same tasks but other verdicts for some answers. This version judges their
   * tasks, and the scores say so. Defaults to none.
   */
  readonly earlier?: readonly number[];
  readonly description: string;
  /** Returns the chat prompt, including the instruction of the answer format. Contains no answer and no baseline. */
  render(instance: Instance, format: AnswerFormat): readonly ChatMessage[];
  /**
   * Reads the text of an answer. Never throws, never evaluates code, and takes time bounded by the length of the text.
   */
  parse(text: string, instance: Instance): Parsed<Answer>;
}

/** Verification within this process, without an external resource. */
interface SyncVerification<Instance, Answer> {
  readonly resource?: undefined;
  /** Checks an answer against an instance. Never throws. */
  verify(instance: Instance, answer: Answer): Facts;
}

/** Verification of an environment that must ask an external resource, which may fail to answer. */
interface AsyncVerification<Instance, Answer> {
  readonly resource: Resource;
  /**
   * Checks an answer against an instance. The resource may also find the answer malformed. Returns Failed for an
   * expected failure; a rejected promise is a bug.
   */
  verify(instance: Instance, answer: Answer, context: VerifyContext): Promise<Findings | Failed>;
}

/** Optional members. Callers check whether a member is present before they use it. */
interface Capabilities<Instance, Answer> {
  readonly generator?: Generator<Instance>;
  /** Generator in another process, in place of `generator`. */
  readonly asked?: MountedGenerator<Instance>;
  readonly solver?: Solver<Instance, Answer>;
  /** Turns of the environment's tasks: each tool call or answer gets a reply, until the episode ends. */
  readonly turns?: AnyTurns<Instance>;
  /**
   * Whether equal completions get equal scores and replies, apart from calls of `turns.askingTools`. Defaults to true if
   * nothing else asks a resource.
   */
  readonly deterministic?: boolean;
  /**
   * Returns an answer that needs no search, as a model would write it, e.g. the answer in a row. Returns undefined if
   * the instance has none.
   */
  reference?(instance: Instance): string | undefined;
  /**
   * Returns the objective of a trivial answer. Without it, the reward schemes coarse and normalized are unavailable.
   */
  trivial?(instance: Instance): number;
  /** Components of the reward, for environments whose answers are graded. */
  readonly grading?: Grading;
  /**
   * Shape of an answer, which tells the laws how an answer can be broken. By default, no verifier may accept an answer
   * with a negative, huge or fractional number, or with a repeated list entry. Nor may it accept a repeated letter, or
   * a changed letter or digit.
   */
  readonly shape?: AnswerShape<Instance, Answer>;
  /** Codec for instances of a few dozen bytes. They travel in the task id, so that no step makes them again. */
  readonly inline?: InlineCodec<Instance>;
  /**
   * Id of an environment with the same instances, the same `rows` and the same version, which asks another question
   * about them. An instance has the same hash and split in both environments. The pools of that environment are also
   * the pools of this one.
   */
  readonly twinOf?: string;
  /** True if answers count exactly as they stand, e.g. programs. Nothing around an answer is stripped. */
  readonly verbatim?: true;
  /**
   * Names that a model may use for its answer, in lower case, e.g. "clique". With it, "clique = [0, 3]" and "The
   * largest clique is [0, 3]" are read like "Answer: [0, 3]". No name may mean anything else in the task.
   */
  readonly answerNames?: readonly string[];
  /**
   * Asks a teacher model for tasks. Needs `rows` and `inline`: the task id carries the whole proposed task, because
   * nothing can make it again.
   */
  readonly teacher?: Teaching;
  /**
   * Returns a text that is equal for two instances that differ only in names or order, e.g. in the numbering of a
   * graph's vertices. Its hash decides the split. Defaults to `canonical`.
   */
  invariant?(instance: Instance): string;
  /**
   * Returns whether instances like this one are so few (SMALL in splits.ts) that they lie in every split, because the
   * smaller splits would be nearly empty. Levels with only such instances are `small`. Applies to generated instances
   * only. Defaults to false.
   */
  inEverySplit?(instance: Instance): boolean;
  /**
   * Draws the instance, with an answer and a best answer if given, so that a person sees why the answer is infeasible
   * or falls short. Answers need not be feasible. Never throws; the picture's size is bounded. Only for environments
   * from elsewhere: pictures/ draws those of Gradus, by their ids.
   */
  draw?(this: void, instance: Instance, answer?: Answer, best?: Answer): Picture;
}

/**
 * Members that every environment has. `defineEnvironment` (define.ts) fills in a default if the definition omits one.
 */
interface Defaulted<Instance> {
  /** Goal of an answer: to be correct ("satisfy", the default), or to have the least or the greatest objective. */
  readonly goal: Goal;
  /** Answer formats that the environment supports, the default first. */
  readonly answerFormats: readonly AnswerFormat[];
  /** Names of reward schemes (envs/reward/schemes.ts), the default first. */
  readonly rewardSchemes: readonly string[];
  /**
   * Returns a text that is equal for two instances exactly if they are the same task. Its hash finds repeated tasks.
   */
  canonical(instance: Instance): string;
  /** Returns facts for the trainer that do not reveal the answer. */
  metadata(instance: Instance): Readonly<Record<string, string>>;
}

/** Members of an environment, without its verification. */
interface EnvironmentParts<Instance, Answer>
  extends Core<Instance, Answer>, Capabilities<Instance, Answer>, Defaulted<Instance> {
  /** Levels, easiest first: those of the generator, or those of the rows if there is no generator. */
  readonly levels: readonly Level[];
  readonly rows?: RowReader<Instance>;
}

export interface SyncEnvironment<Instance = unknown, Answer = unknown>
  extends EnvironmentParts<Instance, Answer>, SyncVerification<Instance, Answer> {}

export interface AsyncEnvironment<Instance = unknown, Answer = unknown>
  extends EnvironmentParts<Instance, Answer>, AsyncVerification<Instance, Answer> {}

/**
 * Environment as all other code uses it. `resource` distinguishes the two kinds: unless it is checked, the types
 * prevent a synchronous call of `verify`.
 */
export type Environment<Instance = unknown, Answer = unknown> =
  SyncEnvironment<Instance, Answer> | AsyncEnvironment<Instance, Answer>;

interface DefinitionParts<Instance, Answer>
  extends Core<Instance, Answer>, Capabilities<Instance, Answer>, Partial<Defaulted<Instance>> {
  readonly rows?: RowDefinition<Instance>;
  /** Set if a task may allow several tries at its answer (turns/tries.ts). */
  readonly tries?: true | Tries;
}

/** Environment as its author writes it. */
export interface SyncDefinition<Instance, Answer>
  extends DefinitionParts<Instance, Answer>, SyncVerification<Instance, Answer> {}

export interface AsyncDefinition<Instance, Answer>
  extends DefinitionParts<Instance, Answer>, AsyncVerification<Instance, Answer> {}

/**
 * Reader of rows as its author writes it. In an environment without a generator, rows may have levels of their own. If
 * they have none, every row has the level "all".
 */
export interface RowDefinition<Instance>
  extends Omit<RowReader<Instance>, "levelOf">, Partial<Pick<RowReader<Instance>, "levelOf">> {
  /** Levels of the rows, easiest first. */
  readonly levels?: readonly Omit<Level, "parameters">[];
}
