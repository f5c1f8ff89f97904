/** What verifiers of this process may ask. Opened when one of them asks: most commands ask nothing, and Python takes a while. */
import { type Failed, unavailable } from "../envs/facts.ts";
import type { PortName, Ports } from "../envs/ports.ts";
import { systemClock } from "../server/curriculum/runs/system.ts";
import type { Config } from "../server/runtime/config.ts";
import { type MissingPorts, type OpenedPorts, openPorts } from "../server/ports/ports.ts";

export interface LocalPorts {
  readonly ports: Ports;
  close(): Promise<void>;
}

/** What would be asked in vain in this process, and the remedy, which is not a server's. */
export function missingHere({ judge, sandbox }: Config): MissingPorts {
  const judges =
    "there is no judge: set GRADUS_JUDGE_URL and GRADUS_JUDGE_MODEL (and GRADUS_JUDGE_KEY), or give --server";
  const sandboxes = "there is no sandbox, for GRADUS_SANDBOX is off: unset it, or give --server";
  return { ...(judge === undefined && { judge: judges }), ...(sandbox.kind === "off" && { sandbox: sandboxes }) };
}

export function createLocalPorts(config: Config, tell: (words: string) => void): LocalPorts {
  const { sandbox, judge } = config;
  let opening: Promise<OpenedPorts> | undefined;
  const open = async (): Promise<OpenedPorts> => {
    const opened = await (opening ??= openPorts({
      clock: systemClock,
      sandbox,
      judge,
      onFault: (port, why) => tell(`the ${port} failed: ${why}`),
      warn: (_, message) => tell(message),
    }));
    return { ...opened, missing: { ...opened.missing, ...missingHere(config) } };
  };
  return {
    ports: {
      sandbox: {
        run: async (job, context) => {
          const { ports, missing } = await open();
          return ports.sandbox?.run(job, context) ?? absent("sandbox", missing.sandbox);
        },
      },
      judge: {
        compare: async (comparison, context) => {
          const { ports, missing } = await open();
          return ports.judge?.compare(comparison, context) ?? absent("judge", missing.judge);
        },
        probe: async (context) => {
          const { ports, missing } = await open();
          return ports.judge === undefined ? absent("judge", missing.judge) : ports.judge.probe(context);
        },
      },
    },
    close: async () => (await opening)?.close(),
  };
}

function absent(port: PortName, detail = "it is not there"): Failed {
  return unavailable(port, detail, { retryable: false });
}
