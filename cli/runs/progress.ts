/** Shows on standard error how many tasks of a run are completed, and how many samples have no reward. */
import { say } from "../../server/runtime/terminal.ts";
import type { GroupOutcome } from "../../clients/ts/src/public.ts";
import { reasonWords } from "../../envs/facts.ts";
import { createBar } from "../bar.ts";

interface Unscored {
  count: number;
  /** Message of the first sample that got no reward for this reason. */
  readonly detail: string;
}

const FORMAT = "{bar} {value}/{total} tasks  {left}{unscored}";

export function createDriveProgress(total: number) {
  const reasons = new Map<string, Unscored>();
  let samples = 0;
  const without = (): number => [...reasons.values()].reduce((sum, { count }) => sum + count, 0);
  const beside = (): string => (without() === 0 ? "" : `  ${without()} of ${samples} samples without a reward`);
  const bar = createBar({ done: 0, total, format: FORMAT, payload: { unscored: "" } });
  return {
    /** Counts the samples of groups that the server has answered. */
    groups: (groups: readonly GroupOutcome[]): void => {
      for (const { outcomes } of groups)
        for (const outcome of outcomes) {
          samples++;
          if (outcome.kind !== "unscored") continue;
          const reason = reasonWords(outcome);
          const known = reasons.get(reason);
          if (known === undefined) reasons.set(reason, { count: 1, detail: outcome.detail });
          else known.count++;
        }
      bar.update(groups.length, { unscored: beside() });
    },
    /**
     * Returns the number of samples without a reward, by the reason and the failed resource, e.g.
     * "resource_unavailable: judge".
     */
    unscored: (): Readonly<Record<string, number>> =>
      Object.fromEntries([...reasons].map(([reason, { count }]) => [reason, count])),
    stop(): void {
      bar.stop();
      for (const [reason, { count, detail }] of reasons)
        say(`gradus: ${count} of ${samples} samples have no reward: ${reason}: ${detail}`);
      if (samples > 0 && without() === samples)
        say("gradus: no sample has a reward, so the chart shows draws of a run that learns nothing");
    },
  };
}
