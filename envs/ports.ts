/**
 * Defines the ports: the connections through which asynchronous verifiers use external services. Environments stay
 * pure, because the server implements the ports and passes them in the context of each verification. Only plain data
 * passes through.
 */
import type { Failed } from "./facts.ts";
import type { ChatMessage } from "./prompt.ts";

/**
 * Connection to an external service, e.g. to a judge model. `ask` sends a question, and rejects only for a bug. The
 * result Failed means that the service failed; it says nothing about the question.
 */
export interface Port<Question, Answer> {
  ask(question: Question, context: AskContext): Promise<Answer | Failed>;
  /**
   * Checks whether a service that failed answers again. Returns undefined if it does. If omitted, the next question is
   * the check.
   */
  probe?(context: AskContext): Promise<Failed | undefined>;
}

/**
 * Ports (connections to external services) of one server. A port that the server lacks is undefined. Code that adds a
 * port declares its member here.
 */
export interface Ports {
  readonly sandbox?: Sandbox;
  readonly judge?: Judge;
}

export type PortName = keyof Ports;

/** Caller, cancellation and deadline of a question. */
export interface AskContext {
  /** Caller and connection for fair sharing of the service among callers. Defaults to the server's own share. */
  readonly party?: { readonly caller: string; readonly connection: string } | undefined;
  readonly signal: AbortSignal;
  /** Deadline, in milliseconds since the epoch. */
  readonly deadlineMs: number;
}

/**
 * Value of a builtin Python type as JSON. Types that look alike in JSON stay distinct.
 * - None is null, a bool is a boolean, a str is a string and a list is an array.
 * - An int is {"int": "-12"}. A float is {"float": "0.1"} with its repr, which may also be "nan", "inf" or "-inf".
 * - bytes are a string whose characters are the bytes, U+0000 to U+00FF.
 * - Sets come in any order, dicts in insertion order.
 * - A collections.defaultdict, OrderedDict or Counter, of exactly that type, is sent as the equal dict, because correct
 * programs return them.
 * - A value of any other type is sent as the name of its type only.
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

/** One use of a program: run it as a script with an input, or call a function that it defines. */
export type SandboxCase =
  | { readonly kind: "script"; readonly stdin: string }
  | {
      readonly kind: "call";
      /** Name to call, e.g. "add", or "Solution.add" for a method of an instance created without arguments. */
      readonly name: string;
      readonly args: readonly PyValue[];
      /** Keyword arguments, passed after `args`. Defaults to none. */
      readonly kwargs?: readonly (readonly [name: string, value: PyValue])[];
      /** Conversions of the result before it is sent, applied in order. Defaults to none. */
      readonly views?: readonly View[];
    };

/**
 * Conversion of a result by the Python builtin of this name. Python applies it in the sandbox, because a result may be
 * an iterator, a dict view or an instance of the program's own type. Only values are sent. A view says how to look at
 * the result, and nothing about the expected value. "bases" gives the names of the builtin types of which the result is
 * an instance.
 */
export type View = (typeof VIEW_NAMES)[number] | "bases" | { readonly round: number };

export const VIEW_NAMES = [
  ...(["list", "tuple", "set", "frozenset", "dict", "sorted", "len", "sum", "min", "max", "any", "all"] as const),
  ...(["abs", "round", "int", "float", "bool", "str", "repr"] as const),
] as const;

/**
 * Job for the sandbox, which runs untrusted programs. A script runs once for each case, in a process of its own. The
 * calls of one job share a process that has run the program as a module. Later calls see the effects of earlier calls,
 * as in a test file. After a call that exceeded a limit or died, the next call gets a new process. The sandbox stops
 * after three such cases, or when all cases together have taken ten times the limit of one. The cases that did not run
 * then get the result of the last one that did.
 */
export interface SandboxJob {
  /** Python source of a model, not to be trusted. */
  readonly program: string;
  /** Cases to run, at least one. The expected results are not included, so that no program can find them. */
  readonly cases: readonly SandboxCase[];
  /** Maximum processor time of each case, in milliseconds. For the first call this includes running the program. */
  readonly cpuMsMax: number;
}

/**
 * Limits on the output of one case. A larger output gives the result "exceeded", so no test may expect a larger output.
 */
export const ROOM = {
  outputBytesMax: 1024 ** 2,
  /**
   * Limits on a result: the number of lists and their items, the characters of all strings and large ints, and the
   * nesting depth.
   */
  partsMax: 250_000,
  charactersMax: 1024 ** 2,
  depthMax: 100,
  /** Maximum size, in bytes, of a result as sent. */
  replyBytesMax: 2 * 1024 ** 2,
  /** Limits on all results of a job together. */
  jobPartsMax: 500_000,
  jobBytesMax: 16 * 1024 ** 2,
} as const;

/** Result of one case. */
export type SandboxResult =
  | { readonly kind: "printed"; readonly stdout: string }
  | { readonly kind: "returned"; readonly value: PyValue }
  /**
   * The program raised an exception, or the script ended with a status other than 0. `error` is the last line. For a
   * call, `names` lists the exception's class and its base classes. A class with a builtin's name is that builtin.
   */
  | { readonly kind: "raised"; readonly error: string; readonly names?: readonly string[] }
  /**
   * Nothing could be called: the program failed as a module, or does not define the name. `why` is a text, e.g. "raised
   * …".
   */
  | { readonly kind: "unusable"; readonly why: string }
  /** The case exceeded a limit of the sandbox. `limit` is a text, e.g. "more than 2,000 ms of processor time". */
  | { readonly kind: "exceeded"; readonly limit: string }
  /** The process ended without a result: the sandbox killed it for a forbidden action, or it ended itself. */
  | { readonly kind: "died"; readonly how: string };

export interface SandboxReply {
  readonly kind: "ran";
  /** One result for each case, in order. */
  readonly results: readonly SandboxResult[];
}

/** Port that runs a model's program. The reply has the results of all cases; the program has no other effect. */
export type Sandbox = Port<SandboxJob, SandboxReply>;

/** Verdict of a judge model on two texts, A and B. */
export interface Verdict {
  readonly winner: "A" | "B" | "tie";
  /** Reason in the judge's words, at most REASON_MAX characters (lib/judge-reply.ts). */
  readonly reason: string;
}

/**
 * Comparison of two texts in both orders: A in one prompt is B in the other. Each prompt asks for a verdict in the form
 * that lib/judge-reply.ts reads, and contains everything that the judge needs.
 */
export type Comparison = readonly [order: readonly ChatMessage[], swapped: readonly ChatMessage[]];

export interface Judged {
  readonly kind: "judged";
  readonly verdicts: readonly [order: Verdict, swapped: Verdict];
}

/**
 * Port that returns a judge model's verdicts on both prompts. It caches verdicts by prompt. It retries within the
 * deadline if that can help. A probe sends a prompt that is not cached.
 */
export type Judge = Port<Comparison, Judged>;
