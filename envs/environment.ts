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

export interface Level {
  readonly name: string;
  readonly description: string;
  /** Complete: a value for each of the environment's parameters. */
  readonly parameters: Parameters;
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

/** Makes instances. `draw` is cheap, for it is repeated at every step; `accepts` may search, and is asked once. */
export interface Generator<Instance> {
  /** A candidate; undefined: this stream of randomness gives none. */
  draw(parameters: Parameters, rng: Rng): Instance | undefined;
  /** Whether the candidate is a task of these parameters. Left out: each one is. */
  accepts?(instance: Instance, parameters: Parameters): boolean;
}

/** Finds optima. Budgets count search nodes, never time. */
export interface Solver<Instance, Answer> {
  solve(instance: Instance, nodesMax?: number): Solution<Answer>;
  /** Objective of an answer that takes no thought (SPEC.md section 2), for the coarse and normalized schemes. */
  trivial(instance: Instance): number;
}

/** Rows of a data pool, read into instances. */
export interface RowReader<Instance> {
  /** One row of a pool as parsed JSON. */
  read(row: unknown): Parsed<Instance>;
  /** The level a row belongs to; undefined: none. May search. */
  levelOf(instance: Instance): string | undefined;
  /** The pool that ships with the environment: a JSONL file beside its index.ts. */
  readonly defaultPool: { readonly name: string; readonly file: URL };
}

/** An instance as a few bytes. */
export interface InlineCodec<Instance> {
  /** Undefined: it takes too many bytes to travel in a task id. */
  encode(instance: Instance): Uint8Array | undefined;
  /** The instance that was encoded. The bytes are authenticated: they are ours. */
  decode(bytes: Uint8Array): Instance;
}

export interface Environment<Instance = unknown, Answer = unknown> {
  /** E.g. "np/tsp". */
  readonly id: string;
  /** A changed golden file needs a new version. */
  readonly version: number;
  readonly description: string;
  readonly goal: Goal;
  readonly parameters: readonly ParameterInfo[];
  /** Easiest first. */
  readonly levels: readonly Level[];
  /** The default first. */
  readonly answerFormats: readonly AnswerFormat[];
  /** Names in envs/reward/schemes.ts, the default first. */
  readonly rewardSchemes: readonly string[];
  /** What is wrong with parameters that are each in range, but not together; undefined: nothing. */
  checkParameters?(parameters: Parameters): string | undefined;
  readonly generator?: Generator<Instance>;
  readonly rows?: RowReader<Instance>;
  readonly solver?: Solver<Instance, Answer>;
  /** For instances of a few dozen bytes: they travel in the task id, so that no step makes them again. */
  readonly inline?: InlineCodec<Instance>;
  /** The same for two instances exactly if they are the same task; its hash finds repeats. */
  canonical(instance: Instance): string;
  /**
   * The same for two instances that differ only in names or order, such as a graph with its vertices renumbered; its hash
   * decides the split. Left out: `canonical` is so.
   */
  invariant?(instance: Instance): string;
  /** The chat prompt, the answer format's instruction included. Holds no answer and no baseline. */
  render(instance: Instance, format: AnswerFormat): readonly ChatMessage[];
  /** Facts for the trainer that give no answer away. */
  metadata(instance: Instance): Readonly<Record<string, string>>;
  /** Reads the text of an answer. Never throws, never evaluates, and is bounded in time by the text's length. */
  parse(text: string, instance: Instance): Parsed<Answer>;
  /** Checks an answer against an instance. Never throws. */
  verify(instance: Instance, answer: Answer): Facts;
  /** The answer as a model would write it; parse(format(a)) is a. */
  format(answer: Answer): string;
  /**
   * The instance, with an answer if there is one, drawn so that a person sees why that is infeasible or short; with a best
   * answer to set against it, if there is one. Answers need not be feasible. Never throws; of bounded size.
   */
  draw(instance: Instance, answer?: Answer, best?: Answer): Picture;
}
