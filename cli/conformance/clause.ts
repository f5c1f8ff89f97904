/** Clauses of a specification. A clause is a sentence, with a check that tries whether the sentence holds. */
import { describe as wordsOf } from "../problem.ts";

export type Finding =
  | { readonly kind: "pass" }
  | { readonly kind: "fail"; readonly reason: string }
  /** Result of a clause that is only a recommendation, and that the subject does not follow. */
  | { readonly kind: "warn"; readonly reason: string }
  /** Result of a clause that cannot be tried on this server, so it is unknown whether the server meets it. */
  | { readonly kind: "skip"; readonly reason: string };

export const pass: Finding = Object.freeze({ kind: "pass" });
export const fail = (reason: string): Finding => ({ kind: "fail", reason });
export const skip = (reason: string): Finding => ({ kind: "skip", reason });

/**
 * Clause of a specification about a subject such as a server. An error that `check` throws counts as a failure, and its
 * message is the reason.
 */
export interface Clause<Subject> {
  /** Part of the specification that contains the clause. */
  readonly part: string;
  /** Sentence that is true if the subject meets the clause. */
  readonly says: string;
  readonly check: (subject: Subject) => Promise<Finding>;
}

/** Returns clauses with `part` set: the name of the part of the specification to which they belong. */
export function inPart<Subject>(part: string, clauses: readonly Omit<Clause<Subject>, "part">[]) {
  return clauses.map((clause): Clause<Subject> => ({ part, ...clause }));
}

export interface ClauseResult {
  readonly part: string;
  readonly says: string;
  /**
   * Environment, or environment and level, that was tried. Empty if the clause is about the whole server or provider.
   */
  readonly of: string;
  /** Duration of the check in milliseconds. 0 if it used a response that an earlier clause had requested. */
  readonly ms: number;
  readonly finding: Finding;
}

/** Returns a failed result with `against` as the reason, or a passed result if `against` is undefined. */
export const unless = (against: string | undefined): Finding => (against === undefined ? pass : fail(against));

/** Tries clauses one after the other. `of` names the environment or level in the results. */
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
