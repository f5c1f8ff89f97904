/**
 * Checks arms that grow: their levels of difficulty open one by one during a run. Error messages use the field names of
 * the gRPC contract.
 */
import { type Growth, levelCount } from "./growth.ts";
import { definitionOf } from "./policies/registry.ts";
import { invalid, type Invalid, type RunConfig } from "./types.ts";

/** Maximum number of levels of all growing arms of a run together. */
const RUN_LEVELS_MAX = 8192;

/** Checks the growing arms of a run, and that its policy can decide when their next levels open. */
export function checkGrowth({ arms, policy }: Pick<RunConfig, "arms" | "policy">): Invalid | undefined {
  let levels = 0;
  for (const [i, { id, grow, removed, rows }] of arms.entries()) {
    if (grow === undefined) continue;
    if (rows !== undefined)
      return invalid(
        `arms[${i}].grow`,
        "an arm that grows makes new tasks, and rows are a fixed set: remove `grow` or `rows`",
      );
    levels += levelCount(grow);
    if (!removed && definitionOf(policy).levels === undefined)
      return invalid(
        `policy.${policy.kind}`,
        `arm "${id}" grows, and this policy does not say when levels open: use policy.frontier, or give the arm a level`,
      );
  }
  if (levels <= RUN_LEVELS_MAX) return undefined;
  return invalid(
    "arms",
    `the arms that grow may have ${RUN_LEVELS_MAX} levels in total, not ${levels}: lower their caps`,
  );
}

/**
 * Checks a change of how an arm grows. Only `cap`, the limit of the levels' values, may change, and it may only rise.
 */
export function checkGreater(field: string, before: Growth | undefined, now: Growth): Invalid | undefined {
  if (before === undefined) return invalid(field, "the arm does not grow: add another arm with `grow`");
  for (const name of ["axis", "start", "step"] as const)
    if (before[name] !== now[name])
      return invalid(
        `${field}.${name}`,
        `is ${before[name]} in the run, and must stay: add another arm for ${now[name]}`,
      );
  return now.cap >= before.cap
    ? undefined
    : invalid(
        `${field}.cap`,
        `is ${before.cap} in the run, and may only rise: give at least ${before.cap}, not ${now.cap}`,
      );
}
