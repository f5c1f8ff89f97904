/**
 * Opens the external services that verifiers in this process use, such as a sandbox. They are opened at the first
 * request, because most commands need none and Python starts slowly.
 */
import { unavailable } from "../envs/facts.ts";
import type { AskContext, Port, Ports } from "../envs/ports.ts";
import { systemClock } from "../server/base/system-clock.ts";
import { portKinds } from "../server/outside/port-kinds.ts";
import { type MissingPorts, type OpenedPorts, openPorts } from "../server/outside/open-ports.ts";
import type { Config } from "../server/runtime/config.ts";

/**
 * Returns the external services that are missing in this process, each with an instruction for the user of a command.
 * Operators of a server get another instruction.
 */
export function missingHere(config: Config): MissingPorts {
  const missing = portKinds.filter(([name]) => config[name] === undefined);
  return Object.fromEntries(missing.map(([name, { words }]) => [name, words.missingHere]));
}

export function createLocalPorts(config: Config, tell: (words: string) => void) {
  let opening: Promise<OpenedPorts> | undefined;
  const open = (): Promise<OpenedPorts> =>
    (opening ??= openPorts(config, {
      clock: systemClock,
      onFault: (port, why) => tell(`the ${port} failed: ${why}`),
      warn: (_, message) => tell(message),
    }));
  const whenAsked = (name: keyof Ports): Port<unknown, unknown> => {
    const opened = async () => (await open()).ports[name] as Port<unknown, unknown> | undefined;
    const absent = async () => {
      const missing = { ...(await open()).missing, ...missingHere(config) };
      return unavailable(name, missing[name] ?? "it does not exist", { retryable: false });
    };
    return {
      ask: async (question, context) => (await opened())?.ask(question, context) ?? absent(),
      probe: async (context: AskContext) => {
        const port = await opened();
        return port === undefined ? absent() : port.probe?.(context);
      },
    };
  };
  const asked = portKinds.filter(([, { open: opens }]) => opens !== undefined).map(([name]) => name as keyof Ports);
  return {
    ports: Object.fromEntries(asked.map((name) => [name, whenAsked(name)])) as Ports,
    close: async (): Promise<void> => (await opening)?.close(),
  };
}
