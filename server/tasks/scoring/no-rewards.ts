import type { NoReward } from "./results.ts";

/** Counts samples without a reward, by reason and resource, for metrics. */
export interface NoRewards {
  add(noReward: Pick<NoReward, "reason" | "resource">): void;
  all(): readonly { readonly reason: NoReward["reason"]; readonly resource: string; readonly count: number }[];
}

export function createNoRewards(): NoRewards {
  const counts = new Map<NoReward["reason"], Map<string, number>>();
  return {
    add: ({ reason, resource = "" }) => {
      const ofReason = counts.get(reason) ?? new Map<string, number>();
      counts.set(reason, ofReason);
      ofReason.set(resource, (ofReason.get(resource) ?? 0) + 1);
    },
    all: () =>
      [...counts].flatMap(([reason, ofReason]) =>
        [...ofReason].map(([resource, count]) => ({ reason, resource, count })),
      ),
  };
}
