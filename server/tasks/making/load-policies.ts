/** Loads the operator's own policies from modules named by --policies. */
import type { Json } from "../../curriculum/json.ts";
import type { PolicyDefinition } from "../../curriculum/policies/policy.ts";
import { ownKinds, registerPolicy } from "../../curriculum/policies/registry.ts";
import { loadItems } from "./load-modules.ts";

/** Policy that an operator's module exports: a definition like those of Gradus, with example parameters. */
export type OwnPolicy = PolicyDefinition & {
  /**
   * Parameters with which `gradus policies check` tests the policy. The tested runs have the arms real/T0 to real/T3
   * and synthetic/T0 to synthetic/T3. Unset: the policy is tested only with its default parameters.
   */
  readonly examples?: readonly Json[];
};

export type PoliciesResult =
  | { readonly kind: "ok"; readonly policies: readonly OwnPolicy[] }
  | { readonly kind: "invalid"; readonly message: string };

const KIND = /^[a-z][a-z0-9_-]{0,63}$/;
const FUNCTIONS = ["read", "write", "check", "initial", "probabilities"] as const;
const OPTIONAL = [
  ...(["signal", "reads", "needsSolved", "inherit", "resize", "phases", "sharing", "observe", "pass"] as const),
  ...(["values", "accepts", "ranked", "advance", "place"] as const),
];

/** Returns what is wrong with one item of a module's list. Undefined: nothing. */
function problemOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "is not an object";
  const of = value as Partial<Record<keyof OwnPolicy, unknown>>;
  if (typeof of.kind !== "string" || !KIND.test(of.kind)) return `has a kind that is not of the form ${KIND.source}`;
  const missing = FUNCTIONS.find((name) => typeof of[name] !== "function");
  if (missing !== undefined) return `("${of.kind}") has no function ${missing}`;
  const wrong = OPTIONAL.find((name) => of[name] !== undefined && typeof of[name] !== "function");
  if (wrong !== undefined) return `("${of.kind}") has a ${wrong} that is not a function`;
  if (of.advance !== undefined && of.place === undefined)
    return `("${of.kind}") has a function advance but no function place, which an import needs to restore the stage that the run has reached`;
  const { encode, decode } = (of.state ?? {}) as Record<string, unknown>;
  if (typeof encode !== "function" || typeof decode !== "function") return `("${of.kind}") has no state codec`;
  if (typeof of.takesFeedback !== "boolean") return `("${of.kind}") does not say whether it takesFeedback`;
  return of.examples === undefined || Array.isArray(of.examples)
    ? undefined
    : `("${of.kind}") has examples that are not a list`;
}

/** Returns the policies in a module's default export, or an error message. */
function read(list: unknown): readonly OwnPolicy[] | string {
  if (!Array.isArray(list) || list.length === 0)
    return "its default export must be a list of policies' definitions (server/curriculum/policies/policy.ts)";
  for (const [i, item] of list.entries()) {
    const problem = problemOf(item);
    if (problem !== undefined) return `policy ${i + 1} of its default export ${problem}`;
  }
  return list as readonly OwnPolicy[];
}

/** Loads modules, and registers their policies in this process. */
export async function loadPolicies(paths: readonly string[]): Promise<PoliciesResult> {
  const nameOf = ({ kind }: Pick<OwnPolicy, "kind">): string => `policy "${kind}"`;
  const taken = ownKinds.map((kind) => nameOf({ kind }));
  const loaded = await loadItems(paths, { flag: "--policies", taken, read, nameOf, another: "kind" });
  if (loaded.kind === "invalid") return loaded;
  for (const policy of loaded.items) registerPolicy(policy);
  return { kind: "ok", policies: loaded.items };
}
