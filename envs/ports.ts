/**
 * What asynchronous verifiers ask of the outside. Environments stay pure: the server brings these, and hands them in with
 * the context of each verification. Data alone goes through them.
 */
import type { Failed } from "./facts.ts";
import type { ChatMessage } from "./prompt.ts";

/**
 * Something of the outside. A question never rejects, but for a bug: a Failed says that the outside failed, and not what
 * the question came to.
 */
export interface Port<Question, Answer> {
  ask(question: Question, context: AskContext): Promise<Answer | Failed>;
  /** Whether it answers; undefined: it does. Left out: the next question finds out. */
  probe?(context: AskContext): Promise<Failed | undefined>;
}

/** The ports of one server; one that it does not have is left out. Who brings another port declares its member here. */
export interface Ports {
  readonly sandbox?: Sandbox;
  readonly judge?: Judge;
}

export type PortName = keyof Ports;

/** How long asking may take, and until when anybody wants to know. */
export interface AskContext {
  /** Whose part of a shared provider it comes out of. Left out: the server's own. */
  readonly party?: { readonly caller: string; readonly connection: string } | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly deadlineMs: number;
}

/**
 * A value of Python's builtin types as JSON. What looks alike there is told apart: None is null, a bool a boolean, a str a
 * string, a list an array; an int is {"int": "-12"}, a float {"float": "0.1"} (its repr; also "nan", "inf", "-inf"), and a
 * value of any other type only its type's name. bytes are a string whose characters are the bytes, U+0000 to U+00FF. Sets come
 * in any order, dicts in that of insertion. A collections.defaultdict, OrderedDict or Counter, of exactly that type, is
 * sent as the dict that it equals, for right programs return them.
 */
export type PyValue =
  | null
  | boolean
  | string
  | readonly PyValue[]
  | { readonly int: string }
  | { readonly float: string }
  | { readonly tuple: readonly PyValue[] }
  | { readonly set: readonly PyValue[] }
  | { readonly frozenset: readonly PyValue[] }
  | { readonly dict: readonly (readonly [key: PyValue, value: PyValue])[] }
  | { readonly bytes: string }
  | { readonly other: string };

/** What is done with a program: it is run as a script with an input, or something that it defines is called. */
export type SandboxCase =
  | { readonly kind: "script"; readonly stdin: string }
  | {
      readonly kind: "call";
      /** E.g. "add", or "Solution.add" for a method of an instance that is made without arguments. */
      readonly name: string;
      readonly args: readonly PyValue[];
      /** Arguments by name, after those. Left out: none. */
      readonly kwargs?: readonly (readonly [name: string, value: PyValue])[];
      /** What is made of the result before it is sent, first to last. Left out: nothing. */
      readonly views?: readonly View[];
    };

/**
 * What tests make of a result, by Python's builtins of these names. Python does it, in the room: a result may be an
 * iterator, a view of a dict, or of a type of its own, and what is sent are values. They say how a result is looked at,
 * and nothing of what is expected. "bases" is the names of the builtin types that the result is an instance of.
 */
export type View = (typeof VIEW_NAMES)[number] | "bases" | { readonly round: number };

export const VIEW_NAMES = [
  ...(["list", "tuple", "set", "frozenset", "dict", "sorted", "len", "sum", "min", "max", "any", "all"] as const),
  ...(["abs", "round", "int", "float", "bool", "str", "repr"] as const),
] as const;

/**
 * A room for other people's programs. A script runs once for each of its cases, in a process of its own. Calls of one job
 * share a process, in which the program was run as a module before the first of them: what one call leaves behind the next
 * one finds, as in a test file. After a call that exceeded a limit or died, the next one has a new process; after three
 * such cases of a job, or when all together have taken ten times what one may take, the rest is not run and has come to
 * the same.
 */
export interface SandboxJob {
  /** Python source: a model's, which is not to be trusted. */
  readonly program: string;
  /** At least one. What they are expected to give is not known here, so that no program can find it. */
  readonly cases: readonly SandboxCase[];
  /** Processor time that each case may take, milliseconds; of the first call it includes running the program. */
  readonly cpuMsMax: number;
}

/** What a room takes of one case; what comes to more is "exceeded", so that no test may expect it. */
export const ROOM = {
  outputBytesMax: 1024 ** 2,
  /** Of a result: lists and what is in them, each counted; characters of all strings and large ints; nesting. */
  partsMax: 250_000,
  charactersMax: 1024 ** 2,
  depthMax: 100,
  /** Of a result as it is sent. */
  replyBytesMax: 2 * 1024 ** 2,
  /** Of all results of a job together. */
  jobPartsMax: 500_000,
  jobBytesMax: 16 * 1024 ** 2,
} as const;

/** What a case came to. */
export type SandboxResult =
  | { readonly kind: "printed"; readonly stdout: string }
  | { readonly kind: "returned"; readonly value: PyValue }
  /**
   * An exception, or a script that ended with another status than 0: its last line. Of a call, with the names of the
   * exception's class and of those that it inherits from; one that has a builtin's name is that builtin.
   */
  | { readonly kind: "raised"; readonly error: string; readonly names?: readonly string[] }
  /** There was nothing to call: the program failed as a module, or does not define it. In words, e.g. "raised …". */
  | { readonly kind: "unusable"; readonly why: string }
  /** One of the room's limits: said in words, e.g. "more than 2,000 ms of processor time". */
  | { readonly kind: "exceeded"; readonly limit: string }
  /** It was ended by what the room forbids, or by itself. */
  | { readonly kind: "died"; readonly how: string };

export interface SandboxReply {
  readonly kind: "ran";
  /** One for each case, in order. */
  readonly results: readonly SandboxResult[];
}

/** Whatever the program does is in the reply. */
export type Sandbox = Port<SandboxJob, SandboxReply>;

/** What a judge model found of two texts, A and B. */
export interface Verdict {
  readonly winner: "A" | "B" | "tie";
  /** Why, in its words: at most REASON_MAX characters (lib/verdict.ts). */
  readonly reason: string;
}

/**
 * A comparison of two texts, in both orders: what is A in the one prompt is B in the other. Each asks for a verdict as
 * lib/verdict.ts reads it, and holds all that the judge is to know.
 */
export type Comparison = readonly [order: readonly ChatMessage[], swapped: readonly ChatMessage[]];

export interface Judged {
  readonly kind: "judged";
  readonly verdicts: readonly [order: Verdict, swapped: Verdict];
}

/**
 * The verdicts of a judge model on both prompts; the same again for the same prompt, as long as it is remembered. Asks
 * again within the deadline where that helps. A probe asks it something that nothing remembers.
 */
export type Judge = Port<Comparison, Judged>;
