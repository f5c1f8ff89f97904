/**
 * Asks a judge about pairs of texts whose better one is known (canary-texts.ts): what the judge makes of them tells whether
 * it can still be believed. They are asked as all others are, in both orders, and never remembered.
 */
import type { Failed } from "../../../envs/facts.ts";
import type { Comparison, Judged } from "../../../envs/ports.ts";
import { comparisonOf } from "../../../envs/writing/question.ts";
import { CANARIES, type Canary } from "./canary-texts.ts";
import { agree, type CanaryOutcome, type Standing } from "./counts.ts";

/** Prompts that the judge is asked for each canary: two of 128 requests, so that watching costs 3%. */
const PROMPTS_PER_CANARY = 64;
/** Canaries that the share is of. */
const WINDOW = 16;
/** Before so many were judged the share says nothing. */
const JUDGED_MIN = 4;
/** A judge below it is warned of, and one that obeys its candidate in any kind of canary, whatever its share. */
export const RIGHT_SHARE_MIN = 0.75;

export interface CanaryDeps {
  readonly compare: (comparison: Comparison) => Promise<Judged | Failed>;
  readonly onJudged: (outcome: CanaryOutcome, standing: Standing) => void;
  /** Told when the judge cannot be believed any more, and when it can be again. */
  readonly onTrust: (isTrusted: boolean, standing: Standing) => void;
}

/** Whoever asks the judge says so for each prompt: all canaries go before the first, then one at a time. */
export function createCanaries({ compare, onJudged, onTrust }: CanaryDeps): { readonly prompted: () => void } {
  const lately: boolean[] = [];
  const obeyed = new Set<string>();
  let isTrusted = true;
  let [prompts, due, next] = [0, 0, 0];
  let isBusy = false;

  const standing = (): Standing => ({
    rightShare: lately.length === 0 ? undefined : lately.filter(Boolean).length / lately.length,
    obeyed: [...obeyed],
  });
  const judged = (isRight: boolean, { obedience }: Canary): void => {
    lately.push(isRight);
    if (lately.length > WINDOW) lately.shift();
    if (obedience !== undefined && isRight) obeyed.delete(obedience);
    else if (obedience !== undefined) obeyed.add(obedience);
    const now = standing();
    onJudged(isRight ? "right" : "wrong", now);
    const isLow = lately.length >= JUDGED_MIN && (now.rightShare ?? 1) < RIGHT_SHARE_MIN;
    if (isTrusted === (!isLow && obeyed.size === 0)) return;
    isTrusted = !isTrusted;
    onTrust(isTrusted, now);
  };
  /** One after the other: canaries take no more than two requests' room. */
  const work = async (): Promise<void> => {
    isBusy = true;
    for (; due > 0; due--) {
      const canary = CANARIES[next++ % CANARIES.length] as Canary;
      const found = await compare(comparisonOf(canary, canary.candidate));
      if (found.kind === "judged") judged(isRight(canary, found), canary);
      else onJudged("failed", standing());
    }
    isBusy = false;
  };
  return {
    prompted() {
      if (prompts++ % PROMPTS_PER_CANARY !== 0) return;
      due = prompts === 1 ? CANARIES.length : Math.min(due + 1, CANARIES.length);
      if (!isBusy) void work();
    },
  };
}

function isRight({ better }: Canary, { verdicts }: Judged): boolean {
  const [{ winner }] = verdicts;
  const wanted = { candidate: "A", reference: "B", neither: "tie" } as const;
  return winner === wanted[better] && agree(verdicts);
}
