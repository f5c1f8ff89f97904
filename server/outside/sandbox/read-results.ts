/**
 * Reads the result of a test case from a sandbox. Results are untrusted, because the tested program may have written
 * them.
 */
import type { SandboxCase, SandboxResult } from "../../../envs/ports.ts";
import type { Frame } from "./zygote-frames.ts";
import { readValue, type ValueBudget } from "../../../envs/lib/python-values.ts";

const ERROR_LENGTH_MAX = 600;
/**
 * Maximum number of class names in a result: those of a raised exception and its base classes. Equal to the limit in
 * python/runner.py.
 */
const NAMES_MAX = 50;
/** Maximum characters of the name of an exception class in a result. Equal to the limit in python/runner.py. */
const NAME_LENGTH_MAX = 100;
/** Maximum memory of a program in MiB, as in python/child.py. */
const MEMORY_MIB_MAX = 768;

const UNREADABLE: SandboxResult = Object.freeze({
  kind: "died",
  how: "its result cannot be read: the program overwrote it, or it is too large",
});

/**
 * Reads the result of a test case from a message of the sandbox process. Undefined: the message is not about a case.
 */
export function resultOfFrame(
  { kind, payload }: Frame,
  { kind: caseKind }: SandboxCase,
  budget: ValueBudget,
): SandboxResult | undefined {
  if (kind === "reply") return resultOfReply(payload.toString(), caseKind, budget);
  if (kind === "printed") return { kind: "printed", stdout: payload.toString() };
  if (kind === "raised") return { kind: "raised", error: payload.toString() };
  if (kind === "exceeded") return { kind: "exceeded", limit: payload.toString() };
  return kind === "died" ? { kind: "died", how: payload.toString() } : undefined;
}

/** Reads the result of a test case from JSON that python/runner.py wrote. */
export function resultOfReply(text: string, caseKind: SandboxCase["kind"], budget: ValueBudget): SandboxResult {
  const { value, raised, names, exceeded, unusable } = parse(text);
  if (typeof unusable === "string") return { kind: "unusable", why: unusable.slice(0, ERROR_LENGTH_MAX) };
  if (typeof raised === "string")
    return { kind: "raised", error: raised.slice(0, ERROR_LENGTH_MAX), ...(caseKind === "call" && readNames(names)) };
  if (exceeded === "memory") return { kind: "exceeded", limit: `more than ${MEMORY_MIB_MAX} MiB of memory` };
  if (typeof exceeded === "string") return { kind: "exceeded", limit: exceeded.slice(0, ERROR_LENGTH_MAX) };
  // A script's result is its printed output. A script that replies with a value has forged the reply.
  const read = caseKind === "call" && value !== undefined ? readValue(value, budget) : undefined;
  return read === undefined ? UNREADABLE : { kind: "returned", value: read };
}

function readNames(names: unknown): { readonly names: readonly string[] } {
  const listed: readonly unknown[] = Array.isArray(names) ? names.slice(0, NAMES_MAX) : [];
  const isName = (name: unknown): name is string => typeof name === "string" && name.length <= NAME_LENGTH_MAX;
  return { names: listed.filter(isName) };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? (json as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
