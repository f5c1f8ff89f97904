/** What verifiers of this process may ask. Opened when one of them asks: most commands ask nothing, and Python takes a while. */
import type { Failed } from "../../envs/facts.ts";
import type { Ports } from "../../envs/ports.ts";
import { systemClock } from "../curriculum/runs/system.ts";
import type { Config } from "../runtime/config.ts";
import { type OpenedPorts, openPorts } from "../tasks/ports.ts";

export interface LocalPorts {
  readonly ports: Ports;
  close(): Promise<void>;
}

export function createLocalPorts({ sandbox, judge }: Config, tell: (words: string) => void): LocalPorts {
  let opening: Promise<OpenedPorts> | undefined;
  const open = (): Promise<OpenedPorts> =>
    (opening ??= openPorts({
      ...{ clock: systemClock, sandbox, judge },
      onFault: (port, why) => tell(`the ${port} failed: ${why}`),
      warn: (_, message) => tell(message),
    }));
  return {
    ports: {
      sandbox: {
        run: async (job, context) => {
          const { ports, missing } = await open();
          return ports.sandbox?.run(job, context) ?? failed("sandbox_failed", missing.sandbox);
        },
      },
      judge: {
        compare: async (comparison, context) => {
          const { ports, missing } = await open();
          return ports.judge?.compare(comparison, context) ?? failed("judge_unavailable", missing.judge);
        },
        probe: async (context) => {
          const { ports, missing } = await open();
          return ports.judge === undefined ? failed("judge_unavailable", missing.judge) : ports.judge.probe(context);
        },
      },
    },
    close: async () => (await opening)?.close(),
  };
}

function failed(reason: Failed["reason"], detail = "it is not there"): Failed {
  return { kind: "failed", reason, detail, retryable: false };
}
