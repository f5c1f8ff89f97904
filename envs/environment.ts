/** What an environment is. Everything here is pure: no I/O, clock, or randomness but the generator handed in. */
import type { CutText } from "./answers/instructions.ts";
import type { Picture } from "./picture.ts";
import type { Rng } from "./lib/rng.ts";
import type { Facts, Failed, Findings, Malformed, Parsed } from "./facts.ts";
import type { AnswerFormat, ChatMessage } from "./prompt.ts";
import type { AskContext, PortName, Ports } from "./ports.ts";

export type Goal = "satisfy" | "minimize" | "maximize";
export type Split = "train" | "eval" | "bench";
/** Generator parameters by name; always complete (defaults filled in, ranges checked) when an environment sees them. */
export type Parameters = Readonly<Record<string, number>>;

export interface ParameterInfo {
  readonly name: string;
  readonly description: string;
  readonly min: number;
  readonly max: number;
  readonly defaultValue: number;
  readonly integer: boolean;
  /**
   * Declared after tasks of this version were issued. The chances of a task are a function of all its parameters, so this
   * one is left out of them where it has its default: the tasks of old stay what they are.
   */
  readonly later?: true;
}

export interface Level<Values extends Parameters = Parameters> {
  readonly name: string;
  readonly description: string;
  /** A value for each of the generator's parameters; none where the level is one of rows only. */
  readonly parameters: Values;
  /** Refused for the train split. */
  readonly evaluationOnly?: boolean;
  /** Families of arms, exports and the warm-up leave it out unless they name it. */
  readonly byName?: boolean;
  /** It has fewer instances than can be divided (SMALL in splits.ts), and all of them lie in every split. */
  readonly small?: boolean;
}

/** The components of an environment whose answers are graded. */
export interface Grading {
  /** The component that an answer is judged by; the others help. */
  readonly primary: string;
  readonly components: readonly ComponentInfo[];
}

export interface ComponentInfo {
  /** Unique; not "format", "format_strict" or "tags", which are those of the completion (envs/reward/weighted.ts). */
  readonly name: string;
  readonly description: string;
  /** Its weight in the sum unless the reward scheme's parameters say otherwise, in [0, 1]. */
  readonly weight: number;
}

/** What an asynchronous verifier asks, e.g. a judge or a sandbox, and how much it may be asked at once. */
export interface Resource {
  /** E.g. "judge". Environments that share a resource share its limits. */
  readonly name: string;
  /** The port that it stands for: a server without it takes no tasks of the environment. Left out: none. */
  readonly port?: PortName;
  /** Verifications that run at once; the operator may say otherwise. */
  readonly concurrencyMax: number;
  /** Beyond that each caller may have so many, where what is asked shares its time between callers. Left out: none. */
  readonly concurrencyEach?: number;
  /** Verifications that wait beside them; more are refused as overloaded. */
  readonly waitingMax: number;
  /** Bytes of completions that may be held for it. */
  readonly heldBytesMax: number;
  /** How long one attempt may take, milliseconds, counted from when it begins. */
  readonly timeLimitMs: number;
  /** Attempts of the server's at one verification: 1 where the verifier itself tries again. Left out: a few. */
  readonly attemptsMax?: number;
  /** Asks whether it answers again, while it is down; undefined: it does. Left out: the next verification finds out. */
  readonly probe?: (context: VerifyContext) => Promise<Failed | undefined>;
}

/** How long asking may take, and what may be asked. */
export interface PortContext extends AskContext {
  readonly ports: Ports;
}

/**
 * What an asynchronous verifier may spend, and ask. The signal is aborted at the deadline, and when nobody needs the result
 * any more; the deadline holds for everything that is done here, own retries included.
 */
export interface VerifyContext extends PortContext {
  /** Which attempt of the server's this is, from 1. */
  readonly attempt: number;
  /** After so many the server gives up. */
  readonly attemptsMax: number;
}

export interface Baseline {
  /** Objective of the best answer known. */
  readonly value: number;
  /** Certified: no answer is better. */
  readonly bound: number;
  /** value is the optimum (value equals bound). */
  readonly proven: boolean;
}

export interface Solution<Answer> extends Baseline {
  readonly answer: Answer;
  /** Search nodes used. */
  readonly nodes: number;
}

/** What a search may still spend: nodes, never time. Changed in place by who spends it. */
export interface SearchWork {
  nodesLeft: number;
}

/** What can be made, however it is. */
interface Makeable {
  readonly parameters: readonly ParameterInfo[];
  /** Easiest first, and at least one. */
  readonly levels: readonly Level[];
  /** What is wrong with parameters that are each in range, but not together; undefined: nothing. */
  conflict?(parameters: Parameters): string | undefined;
}

/** Makes instances. Written with `defineGenerator` (define.ts), which gives `generate` its parameters by their names. */
export interface Generator<Instance> extends Makeable {
  /**
   * A candidate; undefined: this stream of randomness gives none. It must be cheap, for it is repeated at every step that
   * restores the instance.
   */
  generate(parameters: Parameters, rng: Rng): Instance | undefined;
  /**
   * Whether the candidate is a task of these parameters. May search, for it is asked once; a search takes the nodes that it
   * visits from `work`, and ends, with any answer, when none is left. Left out: each one is.
   */
  accepts?(instance: Instance, parameters: Parameters, work?: SearchWork): boolean;
}

/** Tasks that are asked for: a seed for each. */
export interface AskedTasks {
  /** Complete. */
  readonly parameters: Parameters;
  readonly split: Split;
  readonly seeds: readonly bigint[];
}

/** Where a task that was asked for comes from, and the hash that its instance has when it is asked for again. */
export interface AskedPlace {
  readonly parameters: Parameters;
  readonly seed: bigint;
  /** Which of the seed's attempts. */
  readonly attempt: number;
  /** 16 hex digits (splits.ts). */
  readonly hash: string;
}

/** What asking for a task came to. */
export type AskedResult<Instance = unknown> =
  | {
      readonly kind: "made";
      readonly instance: Instance;
      readonly attempt: number;
      /** Left out: there is nothing to optimise. */
      readonly baseline?: Baseline;
    }
  /** There is no such instance, and asking again does not help. */
  | { readonly kind: "exhausted"; readonly message: string }
  | Failed;

/** A picture that was asked for. */
export type AskedDrawing =
  | { readonly kind: "svg"; readonly svg: string }
  /** There is none, and asking again does not help. */
  | { readonly kind: "undrawn"; readonly why: string };

/**
 * Has something outside of this process make instances, e.g. a program in another language. What a seed has is a function
 * of the seed here too, but it takes asking, and there may be no answer.
 */
export interface AskedGenerator<Instance> extends Makeable {
  /** Of all that decides what it makes and how it is verified, 16 hex digits: tasks of another one are none of its. */
  readonly digest: string;
  /** What makes it, as the operator named it. */
  readonly mount: string;
  /** Why a level of these parameters gives no tasks, found out now where it was not; undefined: it does, or there is no telling. */
  whyNone(parameters: Parameters): Promise<string | undefined>;
  /** One result for each seed, in order. */
  make(tasks: AskedTasks, context: AskContext): Promise<readonly AskedResult<Instance>[]>;
  /** The instance of a task that it made before, whole, so that it can be rendered. */
  again(place: AskedPlace): Promise<AskedResult<Instance>>;
  /** The instance as a few bytes that travel in a task id, so that no step asks for it; undefined: it takes too many. */
  carry(instance: Instance): Uint8Array | undefined;
  /** What stands for a task's instance where its answers are verified: `carried` came with its id, if anything did. */
  refer(place: AskedPlace, carried: Uint8Array | undefined): Instance;
  /** An SVG document of an instance, and of an answer to it if there is one. Left out: it draws none. */
  draw?(instance: Instance, answer: string | undefined, signal: AbortSignal): Promise<AskedDrawing | Failed>;
}

/** Finds best answers, or right ones. */
export interface Solver<Instance, Answer> {
  /** Budgets count search nodes, never time. */
  solve(instance: Instance, nodesMax?: number): Solution<Answer>;
  /** The answer as a model would write it; parse(format(a)) is a. */
  format(answer: Answer): string;
  /**
   * A feasible answer by a plain heuristic, such as papers divide by: the same on every machine, in a number of steps that
   * the instance's size bounds; undefined: it finds none. Reports may set answers against it; no reward does. Left out: there
   * is none.
   */
  heuristic?(instance: Instance): Answer | undefined;
}

/** What a row was read as, and from which columns. */
export type RowRead<Instance> =
  | Malformed
  | {
      readonly kind: "answer";
      readonly answer: Instance;
      /** What was taken from which column, and how, e.g. ["answer", "solution, in \\boxed{}"]. */
      readonly taken?: readonly Taken[];
      /** Set where it is read right only if another row of the file shows it, e.g. an index of 0. */
      readonly proof?: RowProof;
      /** Instructions about the form of the answer that the row brings along, of which the prompt has none that can be cut. */
      readonly instructions?: () => Pick<CutText, "cut" | "left">;
    };

/** A field of a task, and the column that it was taken from. */
export type Taken = readonly [field: string, from: string];

/** What rows of a file have to show together. Where none does, the file is refused. */
export interface RowProof {
  /** What is to be mended then; it names the proof, too. */
  readonly wanted: string;
  /** Whether this row gives it. */
  readonly given: boolean;
}

/** Rows of a data pool, read into instances. */
export interface RowReader<Instance> {
  /** One row of a pool as parsed JSON. What is wrong with a row names its column. */
  read(row: unknown): RowRead<Instance>;
  /**
   * The columns that `read` looks at, of all schemas that it knows: of a Parquet file no others are read, and of no row
   * others are kept, so `read` never sees them. A file need not have them all, and may write them in another case. Left
   * out: all. A number in a row that JavaScript would change is a RawNumber (lib/exact-json.ts).
   */
  readonly columns?: readonly string[];
  /** The columns that hold one thing by several names, by what it is called: where one is named by the operator, none of the others is looked at. */
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  /**
   * All that is asked, without what is right: two rows that are asked the same and are not the same task contradict each
   * other, unless they agree. Left out: rows cannot.
   */
  asked?(instance: Instance): string;
  /** Whether two rows that are asked the same have the same right answer, written in two ways. Left out: they have not. */
  agrees?(one: Instance, other: Instance): boolean;
  /** The same for rows that teach each other's answers, for a run is not evaluated on what it trains on. Left out: the environment's invariant. */
  problem?(instance: Instance): string;
  /** The name of the level that a row belongs to; undefined: none. May search. */
  levelOf(instance: Instance): string | undefined;
  /** What rows of a level and a split are ranked by. Left out: a pass rate or a difficulty that the file has, or nothing (pool-ranks.ts). */
  readonly difficulty?: {
    /** As runs name it (RankRange.by), e.g. "solutions". */
    readonly measure: string;
    /** In words, e.g. "the count of solutions". */
    readonly source: string;
    /** Greater for harder ones. May search. */
    of(instance: Instance): number;
  };
  /**
   * Python of a row that a sandbox has to read before `read` can, such as tests; undefined: none. `told`
   * is the row with what was found in place of that Python, as JSON of the reader's: it is what is read, and kept.
   */
  readonly python?: {
    of(row: unknown): string | undefined;
    told(row: unknown, found: string): unknown;
  };
  /**
   * Asks the outside whether a task that could be read is right, once, when its pool is loaded: e.g. whether its own
   * solution passes its tests. Undefined: it is; a string: what is wrong with the row, which is then rejected; Failed:
   * there is no telling, through a fault of ours. Left out: there is nothing to ask.
   */
  check?(instance: Instance, context: PortContext): Promise<string | undefined | Failed>;
  /** What of the row the task leaves out, and why; undefined: nothing. For `gradus pools check --rows`. */
  remark?(instance: Instance): string | undefined;
  /** The pool that ships with the environment: a JSONL file beside its index.ts. Left out: the operator gives pools. */
  readonly defaultPool?: { readonly name: string; readonly file: URL };
}

/** An instance as a few bytes. */
export interface InlineCodec<Instance> {
  /** Undefined: it takes too many bytes to travel in a task id. */
  encode(instance: Instance): Uint8Array | undefined;
  /** The instance that was encoded. The bytes are authenticated: they are ours. */
  decode(bytes: Uint8Array): Instance;
}

/** Asks a teacher model for tasks. What it proposes are rows, which the environment's RowReader judges. */
export interface Teaching {
  /** Asks for so many tasks of a level; the randomness is for what makes one request differ from the next. */
  prompt(level: Level, count: number, rng: Rng): readonly ChatMessage[];
  /** The rows that a reply holds. Never throws, never evaluates. */
  read(text: string): Parsed<readonly unknown[]>;
}

/**
 * What an answer is made of. The laws of all environments make answers that break it from the solver's, and no verifier
 * may take one of them.
 */
export type AnswerShape<Instance, Answer> = NumberedShape<Instance> | ItemShape<Instance, Answer>;

/** The numbers of an answer name things numbered from 0 to count − 1. */
interface NumberedShape<Instance> {
  /**
   * choice: some of the things, each at most once, in any order;
   * route: some of them, each at most once, in an order that counts;
   * arrangement: all of them, each once, in an order or in groups that count;
   * labels: no things, but a name for each of them, in their order: any number, which may come again.
   */
  readonly kind: "choice" | "route" | "arrangement" | "labels";
  count(instance: Instance): number;
}

/** An answer uses up what the instance gives, such as letters: nothing more often than it is given. */
interface ItemShape<Instance, Answer> {
  readonly kind: "items";
  given(instance: Instance): readonly string[];
  used(answer: Answer): readonly string[];
}

/** What an environment cannot do without, beside `verify`. */
interface Core<Instance, Answer> {
  /** E.g. "np/tsp". */
  readonly id: string;
  /** A changed golden file needs a new version. */
  readonly version: number;
  /**
   * Earlier versions, the first one first, that have the same tasks and gave some answers other verdicts: their tasks are
   * judged by this version, and their scores say so. Left out: none.
   */
  readonly earlier?: readonly number[];
  readonly description: string;
  /** The chat prompt, the answer format's instruction included. Holds no answer and no baseline. */
  render(instance: Instance, format: AnswerFormat): readonly ChatMessage[];
  /** Reads the text of an answer. Never throws, never evaluates, and is bounded in time by the text's length. */
  parse(text: string, instance: Instance): Parsed<Answer>;
}

/** An environment that finds its facts at once. */
interface SyncVerification<Instance, Answer> {
  readonly resource?: undefined;
  /** Checks an answer against an instance. Never throws. */
  verify(instance: Instance, answer: Answer): Facts;
}

/** An environment that must ask the outside, and may get no answer. */
interface AsyncVerification<Instance, Answer> {
  readonly resource: Resource;
  /**
   * Checks an answer against an instance. The outside may also read the answer, and find it malformed. An expected failure
   * is a Failed; a rejection is a bug.
   */
  verify(instance: Instance, answer: Answer, context: VerifyContext): Promise<Findings | Failed>;
}

/** What some environments can do, and others cannot: whoever uses one of these asks first whether it is there. */
interface Capabilities<Instance, Answer> {
  readonly generator?: Generator<Instance>;
  /** In place of a generator. */
  readonly asked?: AskedGenerator<Instance>;
  readonly solver?: Solver<Instance, Answer>;
  /** An answer that needs no search, as a model would write it, such as a row's own; undefined: the instance has none. */
  reference?(instance: Instance): string | undefined;
  /** Objective of an answer that takes no thought; without it there are no coarse and normalized rewards. */
  trivial?(instance: Instance): number;
  /** For environments whose facts are graded. */
  readonly grading?: Grading;
  /**
   * Left out: the laws let no number in an answer be negative, huge or fractional, no entry of a list and no letter of a
   * text come again, and no letter or digit of a text be another one.
   */
  readonly shape?: AnswerShape<Instance, Answer>;
  /** For instances of a few dozen bytes: they travel in the task id, so that no step makes them again. */
  readonly inline?: InlineCodec<Instance>;
  /**
   * The id of an environment that has the same instances, and the same `rows`, under the same version, and asks something
   * else about them. An instance has the same hash and split in both, and the pools of that one are the pools of this one.
   */
  readonly twinOf?: string;
  /** Answers are texts that count as they stand, such as programs: what people put around an answer is not stripped. */
  readonly verbatim?: true;
  /**
   * What it calls its answers, such as "clique": "clique = [0, 3]" and "The largest clique is [0, 3]" are then read as
   * "Answer: [0, 3]" is. In lower case; none that could name anything else of the task.
   */
  readonly answerNames?: readonly string[];
  /** For environments with rows and `inline`: a teacher's task travels whole, for nothing makes it again. */
  readonly teacher?: Teaching;
  /**
   * The same for two instances that differ only in names or order, such as a graph with its vertices renumbered; its hash
   * decides the split. Left out: `canonical` is so.
   */
  invariant?(instance: Instance): string;
  /**
   * Whether instances like this one are so few (SMALL in splits.ts) that they lie in every split, for there would be next to
   * nothing in the smaller ones. Its levels that have no others are `small`. Of generated instances only. Left out: none is.
   */
  inEverySplit?(instance: Instance): boolean;
  /**
   * A picture of the instance, with an answer if there is one, drawn so that a person sees why that is infeasible or short;
   * with a best answer to set against it, if there is one. Answers need not be feasible. Never throws; of bounded size.
   * For environments from elsewhere: those of Gradus are drawn in pictures/, by their ids.
   */
  draw?(this: void, instance: Instance, answer?: Answer, best?: Answer): Picture;
}

/** What every environment has, but need not say: `defineEnvironment` fills in a default (define.ts). */
interface Defaulted<Instance> {
  /** What answers are for: to be right ("satisfy", the default), or to have the least or the greatest objective. */
  readonly goal: Goal;
  /** The default first. */
  readonly answerFormats: readonly AnswerFormat[];
  /** Names in envs/reward/schemes.ts, the default first. */
  readonly rewardSchemes: readonly string[];
  /** The same for two instances exactly if they are the same task; its hash finds repeats. */
  canonical(instance: Instance): string;
  /** Facts for the trainer that give no answer away. */
  metadata(instance: Instance): Readonly<Record<string, string>>;
}

/** What an environment has beside the way it verifies. */
interface EnvironmentParts<Instance, Answer>
  extends Core<Instance, Answer>, Capabilities<Instance, Answer>, Defaulted<Instance> {
  /** Easiest first: the generator's, or without one those of the rows. */
  readonly levels: readonly Level[];
  readonly rows?: RowReader<Instance>;
}

export interface SyncEnvironment<Instance = unknown, Answer = unknown>
  extends EnvironmentParts<Instance, Answer>, SyncVerification<Instance, Answer> {}

export interface AsyncEnvironment<Instance = unknown, Answer = unknown>
  extends EnvironmentParts<Instance, Answer>, AsyncVerification<Instance, Answer> {}

/**
 * An environment as the rest of Gradus sees it. `resource` tells the two kinds apart: without looking at it, `verify`
 * cannot be called as if it were synchronous.
 */
export type Environment<Instance = unknown, Answer = unknown> =
  SyncEnvironment<Instance, Answer> | AsyncEnvironment<Instance, Answer>;

interface DefinitionParts<Instance, Answer>
  extends Core<Instance, Answer>, Capabilities<Instance, Answer>, Partial<Defaulted<Instance>> {
  readonly rows?: RowDefinition<Instance>;
}

/** An environment as its author writes it. */
export interface SyncDefinition<Instance, Answer>
  extends DefinitionParts<Instance, Answer>, SyncVerification<Instance, Answer> {}

export interface AsyncDefinition<Instance, Answer>
  extends DefinitionParts<Instance, Answer>, AsyncVerification<Instance, Answer> {}

/** Rows of an environment that has no generator may have levels of their own; without any, all are of level "all". */
export interface RowDefinition<Instance>
  extends Omit<RowReader<Instance>, "levelOf">, Partial<Pick<RowReader<Instance>, "levelOf">> {
  /** Easiest first. */
  readonly levels?: readonly Omit<Level, "parameters">[];
}
