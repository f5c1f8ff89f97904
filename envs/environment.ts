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
   * True if the parameter was added after tasks of this version had been issued. The parameters of a task are part of
   * its random seed. A later parameter is left out of the seed while it has its default, so that tasks issued earlier
   * stay the same.
   */
  readonly later?: true;
}

export interface Level<Values extends Parameters = Parameters> {
  readonly name: string;
  readonly description: string;
  /** A value for each of the generator's parameters. Empty for a level of rows only. */
  readonly parameters: Values;
  /**
   * True if tasks of this level may only be used for evaluation. Requests for the level in the split "train" are
   * refused.
   */
  readonly evaluationOnly?: boolean;
  /**
   * True if a client must name the level to use it. The wildcard "*" and lists of all levels, e.g. for an export, omit
   * it.
   */
  readonly byName?: boolean;
  /**
   * True if the level has too few instances to divide among the splits (fewer than SMALL in splits.ts, 1000). Each
   * instance then lies in every split.
   */
  readonly small?: boolean;
}

/** The components of the reward, for an environment whose answers are graded. */
export interface Grading {
  /** Name of the component that counts as the quality of an answer. The other components only add to the reward. */
  readonly primary: string;
  readonly components: readonly ComponentInfo[];
}

export interface ComponentInfo {
  /**
   * Unique name. The names "format", "format_strict" and "tags" are taken: they are reward components that measure the
   * form of the completion (envs/reward/weighted.ts).
   */
  readonly name: string;
  readonly description: string;
  /**
   * Default weight of the component in the reward, in [0, 1]. A request can set another weight as a parameter of the
   * reward scheme.
   */
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
  /** Number of nodes that the search visited. */
  readonly nodes: number;
}

/** Search nodes that remain, counted in nodes and never in time. Each search subtracts the nodes that it visits. */
export interface SearchWork {
  nodesLeft: number;
}

/**
 * Growth axis: a series of values of one quantity, e.g. of the number of vertices from 6 to 60. A greater value never
 * makes tasks easier. An arm of a run (one of the task sources that it samples from) may open the values one after the
 * other.
 */
export interface GrowthAxis<Values = Parameters> {
  /** Name of the quantity that grows, e.g. "vertices". */
  readonly name: string;
  /** Least value of the axis, at least 1; `last` is the greatest value. Both are whole numbers. */
  readonly first: number;
  readonly last: number;
  /**
   * Returns the generator parameters for a value of the axis. Every value sets parameters of the same names, and no
   * parameter decreases from one value to the next.
   */
  parametersAt(value: number): Values;
  /** Success rate that guessing reaches, in [0, 1). Defaults to 0. */
  readonly guess?: number;
  /**
   * Greatest value of the axis at which fewer than 1000 instances exist (SMALL in splits.ts). Up to this value, each
   * instance lies in every split. Unset: there is no such value.
   */
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
   * Returns a candidate instance, or undefined if the random numbers give none. Must be cheap, because each Step call
   * may generate the instance again.
   */
  generate(parameters: Parameters, rng: Rng): Instance | undefined;
  /**
   * Returns whether the candidate is a task of these parameters, e.g. whether it is hard enough. The function may be
   * slow, e.g. solve the candidate by a search, because it is called only when a task is made. A search subtracts the
   * nodes that it visits from `work`. When none remain, it stops, and its result is ignored. If omitted, every
   * candidate is accepted.
   */
  accepts?(instance: Instance, parameters: Parameters, work?: SearchWork): boolean;
}

/** Request to a mounted generator (one in another process) to make one task for each of several seeds. */
export interface MountedTasks {
  /** All parameters, with defaults filled in. */
  readonly parameters: Parameters;
  readonly split: Split;
  readonly seeds: readonly bigint[];
}

/**
 * Data with which a mounted generator (one in another process) makes a task again, and the hash that the instance must
 * then have.
 */
export interface MountedPlace {
  readonly parameters: Parameters;
  readonly seed: bigint;
  /** Index, from 0, of the candidate that became the task. Earlier candidates of this seed were passed over. */
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
  /** No instance exists for these parameters, this split and this seed. Asking again does not help. */
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
  /**
   * Digest of the sources and settings of the provider (the other process), 16 hex digits. A task made under another
   * digest is refused.
   */
  readonly digest: string;
  /** Name of the mounted provider (the other process), as the operator gave it. */
  readonly mount: string;
  /**
   * Returns the reason why the generator can make no task with these parameters. Returns undefined if it can, or if the
   * other process does not answer. Asks that process unless an earlier call already did.
   */
  whyNone(parameters: Parameters): Promise<string | undefined>;
  /** Returns one result for each seed, in the order of the seeds. */
  make(tasks: MountedTasks, context: AskContext): Promise<readonly MountedResult<Instance>[]>;
  /** Makes the complete instance of an earlier task again, which rendering the task needs. */
  again(place: MountedPlace): Promise<MountedResult<Instance>>;
  /**
   * Encodes the instance as a few bytes that travel in the task id, so that a Step call need not ask the other process
   * for the instance. Returns undefined if the instance takes too many bytes.
   */
  carry(instance: Instance): Uint8Array | undefined;
  /**
   * Returns a stand-in for the instance that suffices to verify answers. `carried` holds the bytes from the task id, if
   * the id has any.
   */
  refer(place: MountedPlace, carried: Uint8Array | undefined): Instance;
  /** Renders the instance, with an answer if one is given, as an SVG document. If omitted, there are no pictures. */
  draw?(instance: Instance, answer: string | undefined, signal: AbortSignal): Promise<MountedDrawing | Failed>;
}

/** Finds optimal answers. In environments without an objective, finds correct answers. */
export interface Solver<Instance, Answer> {
  /** Returns the best answer found with at most `nodesMax` search nodes. Budgets count nodes, never time. */
  solve(instance: Instance, nodesMax?: number): Solution<Answer>;
  /** Returns the answer as a model would write it. `parse(format(a))` is `a`. */
  format(answer: Answer): string;
  /**
   * Returns a feasible answer found by a simple heuristic, e.g. the greedy one that a paper compares with, or undefined
   * if it finds none. The answer is the same on every machine, and the instance's size bounds the number of steps.
   * Reports may compare answers with it; rewards never do. If omitted, there is no heuristic.
   */
  heuristic?(instance: Instance): Answer | undefined;
}

/**
 * Result of reading a data row: an instance, and the columns that it was read from, or the reason why it cannot be
 * read.
 */
export type RowRead<Instance> =
  | Malformed
  | {
      readonly kind: "answer";
      readonly answer: Instance;
      /** Column that each field of the instance was taken from, and how, e.g. ["answer", "solution, in \\boxed{}"]. */
      readonly taken?: readonly Taken[];
      /**
       * Set if the row can be read in two ways, and only another row of the file shows which one is right. For example,
       * an option index of 0 in some row shows that options are counted from 0.
       */
      readonly proof?: RowProof;
      /**
       * Instructions about the form of the answer in the row's text, e.g. "Put your answer in a box". `cut` lists the
       * instructions that the prompt omits; `left` lists those that it keeps.
       */
      readonly instructions?: () => Pick<CutText, "cut" | "left">;
    };

/** A task's field and the column that it was taken from. */
export type Taken = readonly [field: string, from: string];

/**
 * Condition that at least one row of the file must meet, e.g. an option index of 0. If no row meets it, the file is
 * refused.
 */
export interface RowProof {
  /** Text that tells the operator what to correct if no row meets the condition. It also identifies the condition. */
  readonly wanted: string;
  /** True if this row meets the condition. */
  readonly given: boolean;
}

/** Reads rows of a data pool into instances. */
export interface RowReader<Instance> {
  /** Reads one row, as parsed JSON, into an instance. The error text of a refused row names the faulty column. */
  read(row: unknown): RowRead<Instance>;
  /**
   * Columns that `read` uses, in all schemas that it knows. Defaults to all columns. No other column of a Parquet file
   * is read, and no other column of a row is kept or passed to `read`. A file need not have all of these columns, and
   * the case of their names does not matter. A number that JavaScript would change is passed as a RawNumber
   * (lib/exact-json.ts).
   */
  readonly columns?: readonly string[];
  /**
   * Names that a column may have for each field, by the field's name. If the operator names a column for a field, the
   * other names of that field are ignored.
   */
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  /**
   * Returns everything that the task asks, without the correct answer. Two rows that ask the same and have different
   * answers contradict each other, unless `agrees` returns true. If omitted, contradictions are not looked for.
   */
  asked?(instance: Instance): string;
  /**
   * Returns whether two rows with the same question have the same correct answer in two spellings. Defaults to false.
   */
  agrees?(one: Instance, other: Instance): boolean;
  /**
   * Returns a key that is equal for two rows if the answer to one reveals the answer to the other. A run is not
   * evaluated on a problem that it trains on. Defaults to the environment's `invariant`.
   */
  problem?(instance: Instance): string;
  /**
   * Returns the name of the level that a row's instance belongs to, or undefined if it belongs to none. The function
   * may be slow, e.g. count the instance's solutions by a search.
   */
  levelOf(instance: Instance): string | undefined;
  /**
   * Measure that ranks the rows of a level and a split from easy to hard. Defaults to a column of the file with a pass
   * rate or a difficulty, if there is one (pool-ranks.ts).
   */
  readonly difficulty?: {
    /** Name of the measure in run configurations (RankRange.by), e.g. "solutions". */
    readonly measure: string;
    /** Description of the measure, e.g. "the count of solutions". */
    readonly source: string;
    /**
     * Returns the difficulty of an instance, greater for harder ones. The function may be slow, e.g. count the
     * instance's solutions by a search.
     */
    of(instance: Instance): number;
  };
  /**
   * Python in a row, such as tests, which a sandbox must analyse before the row can be read. `of` returns the Python,
   * or undefined if there is none. `told` returns the row with the sandbox's findings, as JSON, in place of the Python.
   * `read` gets that row, and the pool stores it.
   */
  readonly python?: {
    of(row: unknown): string | undefined;
    told(row: unknown, found: string): unknown;
  };
  /**
   * Asks the environment's external service once, when the pool is loaded, whether a task is sound, e.g. whether its
   * own solution passes its tests. Returns undefined for a sound task, or an error text for a row to reject. Returns
   * Failed if the service or the server fails. If omitted, there is no such check.
   */
  check?(instance: Instance, context: PortContext): Promise<string | undefined | Failed>;
  /**
   * Returns a text that says which part of the row the task omits, and why, or undefined if it omits nothing. The
   * command `gradus pools check --rows` prints the text.
   */
  remark?(instance: Instance): string | undefined;
  /**
   * Pool that ships with the environment, a JSONL file beside its index.ts. If omitted, the operator provides the
   * pools.
   */
  readonly defaultPool?: { readonly name: string; readonly file: URL };
}

/** Encodes an instance as a few bytes that travel in the task id, and decodes it. */
export interface InlineCodec<Instance> {
  /** Returns undefined if the instance takes too many bytes for a task id. */
  encode(instance: Instance): Uint8Array | undefined;
  /** Returns the instance that was encoded. The bytes are authenticated, so they come from this server. */
  decode(bytes: Uint8Array): Instance;
}

/** Lets a teacher model propose tasks. The model writes rows, which the environment's RowReader checks. */
export interface Teaching {
  /**
   * Returns the prompt that asks for `count` tasks of a level. The random generator makes one prompt differ from the
   * next.
   */
  prompt(level: Level, count: number, rng: Rng): readonly ChatMessage[];
  /** Returns the rows that a teacher model's reply contains. Never throws and never evaluates code. */
  read(text: string): Parsed<readonly unknown[]>;
}

/**
 * Describes what an answer consists of. The tests of all environments (test/envs/laws) change the solver's answers so
 * that they violate this description. No verifier may accept an answer changed in this way.
 */
export type AnswerShape<Instance, Answer> = NumberedShape<Instance> | ItemShape<Instance, Answer>;

/**
 * Shape of an answer whose numbers name things of the instance, such as vertices. The things are numbered from 0 to
 * count − 1.
 */
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
 * Shape of an answer that uses up items which the instance provides, such as letters. An answer may use no item more
 * often than the instance provides it.
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
   * Earlier versions of the environment, oldest first. They have the same tasks, but gave some answers other verdicts.
   * This version verifies answers to their tasks, and the scores say so. Defaults to none.
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

/** Verification within this process, without an external service. */
interface SyncVerification<Instance, Answer> {
  readonly resource?: undefined;
  /** Checks an answer against an instance. Never throws. */
  verify(instance: Instance, answer: Answer): Facts;
}

/** Verification that must ask an external service, such as a sandbox, which may fail to answer. */
interface AsyncVerification<Instance, Answer> {
  readonly resource: Resource;
  /**
   * Checks an answer against an instance. The external service may also find the answer malformed. Returns Failed for
   * an expected failure; a rejected promise is a bug.
   */
  verify(instance: Instance, answer: Answer, context: VerifyContext): Promise<Findings | Failed>;
}

/** Optional members. Callers check whether a member is present before they use it. */
interface Capabilities<Instance, Answer> {
  readonly generator?: Generator<Instance>;
  /** Generator in another process. An environment has this member or `generator`, not both. */
  readonly asked?: MountedGenerator<Instance>;
  readonly solver?: Solver<Instance, Answer>;
  /** Turns of the environment's tasks: each tool call or answer gets a reply, until the episode ends. */
  readonly turns?: AnyTurns<Instance>;
  /**
   * Whether equal completions get equal scores and replies, apart from calls of `turns.askingTools`. Defaults to true
   * if the environment asks no external resource except through these tools.
   */
  readonly deterministic?: boolean;
  /**
   * Returns a correct answer without a search, as a model would write it, e.g. the answer in a data row. Returns
   * undefined if the instance has none.
   */
  reference?(instance: Instance): string | undefined;
  /**
   * Returns the objective of an answer that takes no thought, e.g. of a clique of one vertex. The reward schemes
   * "coarse" and "normalized" measure answers against it. If omitted, these schemes are unavailable.
   */
  trivial?(instance: Instance): number;
  /** Components of the reward, for environments whose answers are graded. */
  readonly grading?: Grading;
  /**
   * Shape of an answer, from which the tests of all environments derive wrong answers. If omitted, those answers
   * contain a negative, huge or fractional number, a repeated list entry or letter, or a changed letter or digit. No
   * verifier may accept them.
   */
  readonly shape?: AnswerShape<Instance, Answer>;
  /**
   * Codec for instances of a few dozen bytes. Their bytes travel in the task id, so that no Step call makes the
   * instance again.
   */
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
   * Lets a teacher model propose tasks. Needs `rows` and `inline`: the task id must contain the whole proposed task,
   * because no seed can make it again.
   */
  readonly teacher?: Teaching;
  /**
   * Returns a text that is equal for two instances that differ only in names or order, e.g. in the numbering of a
   * graph's vertices. Its hash decides the split. Defaults to `canonical`.
   */
  invariant?(instance: Instance): string;
  /**
   * Returns whether this instance lies in every split, because fewer than 1000 (SMALL in splits.ts) of its size exist.
   * If they were divided, the smaller splits would be nearly empty. Levels that have only instances of this kind are
   * `small`. Applies to generated instances only. Defaults to false.
   */
  inEverySplit?(instance: Instance): boolean;
  /**
   * Renders a picture of the instance, with an answer and a best answer if given, so that a person sees why the answer
   * is infeasible or falls short. Answers need not be feasible. Never throws; the picture's size is bounded. Only for
   * environments from outside this repository: the folder pictures/ has the functions for the others.
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
  /** Returns facts about the instance for the trainer, e.g. its number of vertices. No fact reveals the answer. */
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
 * Environment as all other code uses it. Only some environments have a `resource`. The types allow a synchronous call
 * of `verify` only after a check that `resource` is undefined.
 */
export type Environment<Instance = unknown, Answer = unknown> =
  SyncEnvironment<Instance, Answer> | AsyncEnvironment<Instance, Answer>;

interface DefinitionParts<Instance, Answer>
  extends Core<Instance, Answer>, Capabilities<Instance, Answer>, Partial<Defaulted<Instance>> {
  readonly rows?: RowDefinition<Instance>;
  /**
   * Set if a client may ask for tasks that allow several tries at the answer (turns/tries.ts). `true` means the default
   * settings of such tasks.
   */
  readonly tries?: true | Tries;
}

/**
 * Definition that the author of an environment writes. `defineEnvironment` (define.ts) builds the environment from it.
 */
export interface SyncDefinition<Instance, Answer>
  extends DefinitionParts<Instance, Answer>, SyncVerification<Instance, Answer> {}

export interface AsyncDefinition<Instance, Answer>
  extends DefinitionParts<Instance, Answer>, AsyncVerification<Instance, Answer> {}

/**
 * Reader of data rows that an environment's author writes. In an environment without a generator, rows may have levels
 * of their own. If they have none, every row has the level "all".
 */
export interface RowDefinition<Instance>
  extends Omit<RowReader<Instance>, "levelOf">, Partial<Pick<RowReader<Instance>, "levelOf">> {
  /** Levels of the rows, easiest first. */
  readonly levels?: readonly Omit<Level, "parameters">[];
}
