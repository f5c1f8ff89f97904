/** Clauses of a specification: sentences, each with how it is tried. */
import { describe as wordsOf } from "../problem.ts";

export type Finding =
  | { readonly kind: "pass" }
  | { readonly kind: "fail"; readonly reason: string }
  /** A breach for which a server refuses nothing. */
  | { readonly kind: "warn"; readonly reason: string }
  /** It cannot be tried here: neither kept nor broken. */
  | { readonly kind: "skip"; readonly reason: string };

export const pass: Finding = Object.freeze({ kind: "pass" });
export const fail = (reason: string): Finding => ({ kind: "fail", reason });
export const skip = (reason: string): Finding => ({ kind: "skip", reason });

/** One clause; what it throws is a failure in the thrown error's words. */
export interface Clause<Subject> {
  /** The part of the specification that it stands in. */
  readonly part: string;
  /** A sentence that holds, or does not. */
  readonly says: string;
  readonly check: (subject: Subject) => Promise<Finding>;
}

/** Clauses of one part of the specification. */
export function inPart<Subject>(part: string, clauses: readonly Omit<Clause<Subject>, "part">[]) {
  return clauses.map((clause): Clause<Subject> => ({ part, ...clause }));
}

export interface Tried {
  readonly part: string;
  readonly says: string;
  /** Environment, or environment and level, that was tried; empty: all of what is at the address. */
  readonly of: string;
  /** Time that trying it took, milliseconds; 0 where it was tried on what came for the clause before it. */
  readonly ms: number;
  readonly finding: Finding;
}

/** Passes unless something is said against it. */
export const unless = (against: string | undefined): Finding => (against === undefined ? pass : fail(against));

/** Tries clauses one after the other. */
export async function* tried<Subject>(
  clauses: readonly Clause<Subject>[],
  subject: Subject,
  of: string,
): AsyncGenerator<Tried> {
  for (const { part, says, check } of clauses) {
    const beganMs = performance.now();
    const finding = await check(subject).catch((error: unknown) => fail(wordsOf(error).message));
    yield { part, says, of, ms: performance.now() - beganMs, finding };
  }
}
