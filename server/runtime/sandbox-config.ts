/** Where programs are run, as the operator says it. */
import type { OptionValues } from "./options.ts";

export type SandboxConfig =
  | { readonly kind: "off" }
  | { readonly kind: "embedded"; readonly python: string; readonly concurrency: number }
  | { readonly kind: "remote"; readonly url: string; readonly concurrency: number };

export function readSandbox({
  sandbox,
  sandboxConcurrency: concurrency,
  python,
}: Pick<OptionValues, "sandbox" | "sandboxConcurrency" | "python">):
  SandboxConfig | { readonly kind: "invalid"; readonly message: string } {
  if (sandbox === "off") return { kind: "off" };
  if (sandbox === "embedded") return Object.freeze({ kind: "embedded", python, concurrency });
  if (isWebAddress(sandbox)) return Object.freeze({ kind: "remote", url: sandbox, concurrency });
  const message = `--sandbox must be embedded, off, or an http or https URL without a password; got '${sandbox}'`;
  return { kind: "invalid", message };
}

/** Whether it may be asked: keys and passwords have options of their own, which are not printed. */
export function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).password === "";
}
