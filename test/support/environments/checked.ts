/** An environment whose rows need an outside check when their pool is loaded. Each row says how the check ends. */
import { defineEnvironment } from "../../../envs/define.ts";
import type { PortContext } from "../../../envs/resource.ts";
import type { Failed } from "../../../envs/facts.ts";
import { judged } from "./slow.ts";
import { type Sum, sums } from "./sums.ts";

interface Claim extends Sum {
  /** The sum that the row claims. */
  readonly sum: number;
}

export type Check = (claim: Claim, context: PortContext) => Promise<string | undefined | Failed>;

export const SANDBOX_DOWN: Failed = {
  kind: "failed",
  reason: "resource_unavailable",
  resource: "sandbox",
  detail: "no answer",
  retryable: false,
};

export function checked(check: Check) {
  return defineEnvironment<Claim, number>({
    ...sums,
    id: "test/checked",
    version: 1,
    description: "Add the numbers of a row that is checked.",
    resource: {
      name: "sandbox",
      port: "sandbox",
      concurrencyMax: 4,
      waitingMax: 4,
      heldBytesMax: 10_000,
      timeLimitMs: 30_000,
    },
    rows: {
      columns: ["a", "b", "sum"],
      read: (row) => ({ kind: "answer", answer: row as Claim }),
      check,
    },
    verify: async (claim, answer) => judged(claim, answer),
  });
}
