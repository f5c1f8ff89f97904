/** Clauses of a specification: sentences, each with a check that tries it. */
import { describe as wordsOf } from "../problem.ts";

export type Finding =
  | { readonly kind: "pass" }
  | { readonly kind: "fail"; readonly reason: string }
  /** The subject does not follow a clause that is only advice. */
  | { readonly kind: "warn"; readonly reason: string }
  /** The clause cannot be tried here, so it is neither kept nor broken. */
  | { readonly kind: "skip"; readonly reason: string };

export const pass: Finding = Object.freeze({ kind: "pass" });
export const fail = (reason: string): Finding => ({ kind: "fail", reason });
export const skip = (reason: string): Finding => ({ kind: "skip", reason });

/** One clause. An error that `check` throws counts as a failure, and its message is the reason. */
export interface Clause<Subject> {
  /** Part of the specification that contains the clause. */
  readonly part: string;
  /** Sentence that is true of a subject that keeps the clause. */
  readonly says: string;
  readonly check: (subject: Subject) => Promise<Finding>;
}

/** Returns the clauses with their part of the specification set. */
export function inPart<Subject>(part: string, clauses: readonly Omit<Clause<Subject>, "part">[]) {
  return clauses.map((clause): Clause<Subject> => ({ part, ...clause }));
}

export interface ClauseResult {
  readonly part: string;
  readonly says: string;
  /** Environment, or environment and level, that was tried. Empty: the whole server or provider at the address. */
  readonly of: string;
  /** Duration of the check in milliseconds. 0 if it used a response that an earlier clause had requested. */
  readonly ms: number;
  readonly finding: Finding;
}

/** Returns a failure with the given reason, or a pass if there is none. */
export const unless = (against: string | undefined): Finding => (against === undefined ? pass : fail(against));

/** Tries clauses one after the other. `of` names the environment or level for the report. */
export async function* tried<Subject>(
  clauses: readonly Clause<Subject>[],
  subject: Subject,
  of: string,
): AsyncGenerator<ClauseResult> {
  for (const { part, says, check } of clauses) {
    const beganMs = performance.now();
    const finding = await check(subject).catch((error: unknown) => fail(wordsOf(error).message));
    yield { part, says, of, ms: performance.now() - beganMs, finding };
  }
}
