/** Where programs are run, as the operator says it. */
import type { OptionValues } from "./options.ts";
import { ConfigProblem, isWebAddress } from "./values.ts";

export type SandboxConfig =
  | { readonly kind: "off" }
  | { readonly kind: "embedded"; readonly python: string; readonly concurrency: number }
  | { readonly kind: "remote"; readonly url: string; readonly concurrency: number };

export function readSandbox({
  sandbox,
  sandboxConcurrency: concurrency,
  python,
}: Pick<OptionValues, "sandbox" | "sandboxConcurrency" | "python">): SandboxConfig {
  if (sandbox === "off") return { kind: "off" };
  if (sandbox === "embedded") return Object.freeze({ kind: "embedded", python, concurrency });
  if (isWebAddress(sandbox)) return Object.freeze({ kind: "remote", url: sandbox, concurrency });
  throw new ConfigProblem(
    `--sandbox must be embedded, off, or an http or https URL without a password; got '${sandbox}'`,
  );
}
