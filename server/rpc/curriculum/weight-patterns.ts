/** Patterns in the weights of a policy's parts. A key such as np/* gives its weight to each arm whose id matches. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { didYouMean } from "../../../envs/lib/text.ts";
import { matchesPattern } from "./arm-families.ts";
import { invalid } from "../request-checks.ts";

/**
 * Expands the patterns of one part. An arm that is named by itself keeps its own weight. An arm that two patterns match
 * is refused.
 */
function expandPatterns(weights: JsonObject, armIds: readonly string[], field: string): JsonObject {
  const own = Object.entries(weights).filter(([name]) => !name.includes("*"));
  const matched = new Map<string, string>();
  const spelled: [string, JsonValue][] = [];
  for (const pattern of Object.keys(weights).filter((name) => name.includes("*"))) {
    const ids = armIds.filter((id) => matchesPattern(pattern, id));
    const at = `${field}["${pattern}"]`;
    if (ids.length === 0) throw invalid(at, `matches no arm${didYouMean(pattern, armIds) || `: ${armIds.join(", ")}`}`);
    for (const id of ids.filter((each) => !Object.hasOwn(weights, each))) {
      const other = matched.get(id);
      if (other !== undefined) throw invalid(at, `arm '${id}' matches '${other}' too: name the arm itself beside them`);
      matched.set(id, pattern);
      spelled.push([id, weights[pattern] ?? 0]);
    }
  }
  return Object.fromEntries([...own, ...spelled]);
}

const PARTS: readonly string[] = ["stages", "tiers", "domains"];

/** Returns a policy's parameters with arms in place of patterns, in the weights of its stages, tiers or domains. */
export function expandWeightPatterns(parameters: JsonObject, armIds: readonly string[], field: string): JsonObject {
  const entries = Object.entries(parameters).map(([name, parts]) => {
    if (!PARTS.includes(name) || !Array.isArray(parts)) return [name, parts] as const;
    const spelled = (parts as readonly JsonObject[]).map(({ weights, ...part }, i) =>
      weights === undefined
        ? part
        : { ...part, weights: expandPatterns(weights as JsonObject, armIds, `${field}.${name}[${i}].weights`) },
    );
    return [name, spelled] as const;
  });
  return Object.fromEntries(entries);
}
