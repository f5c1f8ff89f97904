/**
 * Tests a judge model by canaries: pairs of texts of which it is known which one is better (canary-texts.ts). The share
 * of right verdicts tells whether the judge can be trusted.
 *
 * The judge sees each canary in both orders. Its verdicts on canaries are never cached.
 */
import type { Failed } from "../../../envs/facts.ts";
import type { Comparison, Judged } from "../../../envs/ports.ts";
import { comparisonOf } from "../../../envs/writing/question.ts";
import { CANARIES, type Canary } from "./canary-texts.ts";
import { agree, type CanaryOutcome, type Standing } from "./judge-metrics.ts";

/**
 * Number of prompts after which the judge gets one canary (a pair with a known verdict). A canary takes two requests,
 * so canaries add 3% to the requests.
 */
const PROMPTS_PER_CANARY = 64;
/** Number of recent canaries from which the share of right verdicts is computed. */
const WINDOW = 16;
/**
 * Minimum number of canaries (test pairs) that the judge must have judged before their share of right verdicts is acted
 * upon.
 */
const JUDGED_MIN = 4;
/**
 * Minimum share of right verdicts on canaries. Below it, the operator is warned that the judge cannot be trusted. A
 * judge that prefers a text because the text asks for the reward is reported regardless of its share.
 */
export const RIGHT_SHARE_MIN = 0.75;

export interface CanaryDeps {
  readonly compare: (comparison: Comparison) => Promise<Judged | Failed>;
  readonly onJudged: (outcome: CanaryOutcome, standing: Standing) => void;
  /**
   * Called when the judge's verdicts on canaries (test pairs) show that it can no longer be trusted, or can be trusted
   * again.
   */
  readonly onTrust: (isTrusted: boolean, standing: Standing) => void;
}

/**
 * Creates the canaries (test pairs) of a judge. `prompted` must be called for each prompt to the judge. The first call
 * sends all canaries; later calls send one canary per PROMPTS_PER_CANARY prompts.
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
  /**
   * Sends the canaries that are due, one after another. A canary takes two requests, so at most two requests for
   * canaries run at once.
   */
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
