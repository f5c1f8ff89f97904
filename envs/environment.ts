/** What an environment is. Everything here is pure: no I/O, clock, or randomness but the generator handed in. */
import type { Picture } from "./lib/picture/picture.ts";
import type { Rng } from "./lib/rng.ts";

export type Goal = "satisfy" | "minimize" | "maximize";
export type Split = "train" | "eval" | "bench";
export type AnswerFormat = "think_answer" | "answer_line" | "answer_tag" | "boxed";
/** Generator parameters by name; always complete (defaults filled in, ranges checked) when an environment sees them. */
export type Parameters = Readonly<Record<string, number>>;

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface ParameterInfo {
  readonly name: string;
  readonly description: string;
  readonly min: number;
  readonly max: number;
  readonly defaultValue: number;
  readonly integer: boolean;
}

export interface Level<Values extends Parameters = Parameters> {
  readonly name: string;
  readonly description: string;
  /** A value for each of the generator's parameters; none where the level is one of rows only. */
  readonly parameters: Values;
  /** Refused for the train split. */
  readonly evaluationOnly?: boolean;
}

/** A model's answer text, read. */
export type Parsed<Answer> =
  { readonly kind: "answer"; readonly answer: Answer } | { readonly kind: "malformed"; readonly reason: string };

/** What a verifier finds: facts only. The reward module prices them. */
export type Facts =
  | { readonly kind: "feasible"; readonly objective?: number; readonly info?: Readonly<Record<string, string>> }
  | { readonly kind: "infeasible"; readonly violation: string; readonly info?: Readonly<Record<string, string>> };

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

/** Makes instances. Written with `defineGenerator` (define.ts), which gives `generate` its parameters by their names. */
export interface Generator<Instance> {
  readonly parameters: readonly ParameterInfo[];
  /** Easiest first, and at least one. */
  readonly levels: readonly Level[];
  /**
   * A candidate; undefined: this stream of randomness gives none. It must be cheap, for it is repeated at every step that
   * restores the instance.
   */
  generate(parameters: Parameters, rng: Rng): Instance | undefined;
  /** Whether the candidate is a task of these parameters. May search, for it is asked once. Left out: each one is. */
  accepts?(instance: Instance, parameters: Parameters): boolean;
  /** What is wrong with parameters that are each in range, but not together; undefined: nothing. */
  conflict?(parameters: Parameters): string | undefined;
}

/** Finds best answers, or right ones. */
export interface Solver<Instance, Answer> {
  /** Budgets count search nodes, never time. */
  solve(instance: Instance, nodesMax?: number): Solution<Answer>;
  /** The answer as a model would write it; parse(format(a)) is a. */
  format(answer: Answer): string;
}

/** Rows of a data pool, read into instances. */
export interface RowReader<Instance> {
  /** One row of a pool as parsed JSON. */
  read(row: unknown): Parsed<Instance>;
  /** The name of the level that a row belongs to; undefined: none. May search. */
  levelOf(instance: Instance): string | undefined;
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

/**
 * What the numbers of an answer name, of things numbered from 0 to count − 1. The laws of all environments make answers
 * that break it from the solver's, and no verifier may take one of them.
 */
export interface AnswerShape<Instance> {
  /**
   * choice: some of the things, each at most once, in any order;
   * route: some of them, each at most once, in an order that counts;
   * arrangement: all of them, each once, in an order or in groups that count;
   * labels: no things, but a name for each of them, in their order: any number, which may come again.
   */
  readonly kind: "choice" | "route" | "arrangement" | "labels";
  count(instance: Instance): number;
}

/** What an environment cannot do without. */
interface Core<Instance, Answer> {
  /** E.g. "np/tsp". */
  readonly id: string;
  /** A changed golden file needs a new version. */
  readonly version: number;
  readonly description: string;
  /** The chat prompt, the answer format's instruction included. Holds no answer and no baseline. */
  render(instance: Instance, format: AnswerFormat): readonly ChatMessage[];
  /** Reads the text of an answer. Never throws, never evaluates, and is bounded in time by the text's length. */
  parse(text: string, instance: Instance): Parsed<Answer>;
  /** Checks an answer against an instance. Never throws. */
  verify(instance: Instance, answer: Answer): Facts;
}

/** What some environments can do, and others cannot: whoever uses one of these asks first whether it is there. */
interface Capabilities<Instance, Answer> {
  readonly generator?: Generator<Instance>;
  readonly solver?: Solver<Instance, Answer>;
  /** Objective of an answer that takes no thought; without it there are no coarse and normalized rewards. */
  trivial?(instance: Instance): number;
  /** Left out: the laws let no number in an answer be negative, huge or fractional, and no entry of a list come again. */
  readonly shape?: AnswerShape<Instance>;
  /** For instances of a few dozen bytes: they travel in the task id, so that no step makes them again. */
  readonly inline?: InlineCodec<Instance>;
  /**
   * A picture of the instance, with an answer if there is one, drawn so that a person sees why that is infeasible or short;
   * with a best answer to set against it, if there is one. Answers need not be feasible. Never throws; of bounded size.
   */
  draw?(instance: Instance, answer?: Answer, best?: Answer): Picture;
}

/** What every environment has, but need not say: `defineEnvironment` fills in a default (define.ts). */
interface Defaulted<Instance> {
  /** What answers are for: to be right ("satisfy", the default), or to have the least or the greatest objective. */
  readonly goal: Goal;
  /** The default first. */
  readonly answerFormats: readonly AnswerFormat[];
  /** Names in envs/reward/schemes.ts, the default first. */
  readonly rewardSchemes: readonly string[];
  /** The same for two instances exactly if they are the same task; its hash decides the split and finds repeats. */
  canonical(instance: Instance): string;
  /** Facts for the trainer that give no answer away. */
  metadata(instance: Instance): Readonly<Record<string, string>>;
}

/** An environment as the rest of Gradus sees it. */
export interface Environment<Instance = unknown, Answer = unknown>
  extends Core<Instance, Answer>, Capabilities<Instance, Answer>, Defaulted<Instance> {
  /** Easiest first: the generator's, or without one those of the rows. */
  readonly levels: readonly Level[];
  readonly rows?: RowReader<Instance>;
}

/** An environment as its author writes it. */
export interface EnvironmentDefinition<Instance, Answer>
  extends Core<Instance, Answer>, Capabilities<Instance, Answer>, Partial<Defaulted<Instance>> {
  readonly rows?: RowDefinition<Instance>;
}

/** Rows of an environment that has no generator may have levels of their own; without any, all are of level "all". */
export interface RowDefinition<Instance>
  extends Omit<RowReader<Instance>, "levelOf">, Partial<Pick<RowReader<Instance>, "levelOf">> {
  /** Easiest first. */
  readonly levels?: readonly Omit<Level, "parameters">[];
}
