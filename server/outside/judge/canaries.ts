/**
 * Tests a judge by canaries: pairs of texts whose better one is known (canary-texts.ts). The share of right verdicts
 * tells whether the judge can be trusted. Each canary is asked in both orders, and its verdict is never cached.
 */
import type { Failed } from "../../../envs/facts.ts";
import type { Comparison, Judged } from "../../../envs/ports.ts";
import { comparisonOf } from "../../../envs/writing/question.ts";
import { CANARIES, type Canary } from "./canary-texts.ts";
import { agree, type CanaryOutcome, type Standing } from "./judge-metrics.ts";

/** Number of prompts to the judge for each canary. A canary takes 2 requests, so watching costs 2 of 64, or 3%. */
const PROMPTS_PER_CANARY = 64;
/** Number of the last canaries that the share of right verdicts covers. */
const WINDOW = 16;
/** Minimum of judged canaries before the share counts. */
const JUDGED_MIN = 4;
/**
 * Minimum share of right verdicts; the operator is warned of a judge below it. A judge that obeys
 * any kind of canary is warned of whatever its share.
 */
export const RIGHT_SHARE_MIN = 0.75;

export interface CanaryDeps {
  readonly compare: (comparison: Comparison) => Promise<Judged | Failed>;
  readonly onJudged: (outcome: CanaryOutcome, standing: Standing) => void;
  /** Called when the judge becomes trusted or untrusted. */
  readonly onTrust: (isTrusted: boolean, standing: Standing) => void;
}

/**
 * Creates the canaries of a judge. Call `prompted` for each prompt. The first prompt starts all canaries, later ones
 * start one from time to time.
 */
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
  /** Asks due canaries one after another, so that at most two requests run at once. */
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
