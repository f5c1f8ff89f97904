/**
 * Tests of the list of ports: the message when a port is missing, and that each port has all that its line requires.
 */
import { expect, test } from "vitest";
import { unavailable } from "../../../envs/facts.ts";
import { systemClock } from "../../../server/base/system-clock.ts";
import { portKinds, portOptions } from "../../../server/outside/port-kinds.ts";
import { mountOptions } from "../../../server/outside/mounted/mount-options.ts";
import { openPorts } from "../../../server/outside/open-ports.ts";
import { createLocalPorts } from "../../../cli/local-ports.ts";
import { readConfig } from "../../../server/runtime/config.ts";

test("a server without ports says of each why it is not there, and closes", async () => {
  const opened = await openPorts({}, { clock: systemClock });
  expect(opened.ports).toEqual({});
  expect(opened.missing).toEqual(Object.fromEntries(portKinds.map(([name, { words }]) => [name, words.missing])));
  expect([opened.limits, opened.metrics]).toEqual([{}, []]);
  await opened.close();
});

test("no two ports, and no mount, have a flag of the same name", () => {
  const all = [mountOptions, ...portKinds.map(([, { options }]) => options)];
  const flags = all.flatMap((options) => Object.values(options).map(({ flag }) => flag));
  expect(new Set(flags).size).toBe(flags.length);
  expect(Object.keys(portOptions)).toHaveLength(flags.length);
});

test("a command without a server names the port that it lacks, whether it is asked or probed", async () => {
  const read = readConfig({ sandbox: "off" }, {});
  if (read.kind === "invalid") throw new Error(read.message);
  const local = createLocalPorts(read.config, () => undefined);
  const context = { signal: new AbortController().signal, deadlineMs: Infinity };
  const absent = (name: "judge" | "sandbox", port = local.ports[name]) =>
    Promise.all([port?.ask([] as never, context), port?.probe?.(context)]);
  for (const [name, { words, open: opens }] of portKinds)
    if (opens !== undefined) {
      const failure = unavailable(name, words.missingHere, { retryable: false });
      expect(await absent(name as "judge" | "sandbox")).toEqual([failure, failure]);
    }
  await local.close();
});
