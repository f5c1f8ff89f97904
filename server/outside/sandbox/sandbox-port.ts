/** Options and error texts of the sandbox, which runs programs that models write. */
import { availableParallelism } from "node:os";
import { ConfigProblem, integer, isWebAddress, optionTable, text, type ValuesOf } from "../../runtime/option-values.ts";
import type { PortKind } from "../port-kind.ts";
import { interpreterOf } from "../mounted/mount-options.ts";
import { noSandbox, type SandboxSettings } from "./sandbox-settings.ts";

const options = optionTable({
  sandbox: text({
    placeholder: "embedded|url|off",
    description:
      "where programs that models write run: embedded (on this machine, isolated by the kernel), at the URL of a SandboxFusion server, or off (nowhere)",
    defaultValue: "embedded",
  }),
  sandboxConcurrency: integer({
    description: "maximum number of programs that run at the same time",
    range: [1, 1024],
    defaultValue: availableParallelism(),
  }),
});

/** Options that name the Python interpreter. The sandbox shares them with mounted environments. */
type Interpreter = Parameters<typeof interpreterOf>[0];

export const sandbox = {
  options,
  words: {
    missing: noSandbox("--sandbox is off"),
    missingHere: "there is no sandbox, because GRADUS_SANDBOX is off: unset it, or give --server",
    needs:
      "a sandbox: gradus sandbox check says whether the server's machine can run one; --sandbox chooses another one",
  },
  read(values: ValuesOf<typeof options> & Interpreter): SandboxSettings | undefined {
    const { sandbox: where, sandboxConcurrency: concurrency } = values;
    const python = interpreterOf(values);
    if (where === "off") return undefined;
    if (where === "embedded") return Object.freeze({ kind: "embedded", python, concurrency });
    if (isWebAddress(where)) return Object.freeze({ kind: "remote", url: where, concurrency });
    throw new ConfigProblem(
      `--sandbox must be embedded, off, or an http or https URL without a password; got '${where}'`,
    );
  },
  limits: ({ concurrency }: SandboxSettings) => ({ concurrencyMax: concurrency }),
  open: async (config: SandboxSettings, { onFault, traceHeaders }) =>
    (await import("./open-sandbox.ts")).openSandbox(config, onFault, traceHeaders),
} as const satisfies PortKind<SandboxSettings>;
