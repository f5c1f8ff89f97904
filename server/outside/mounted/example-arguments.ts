/** Makes example arguments that a tool's JSON Schema allows, to test the tool with. */

type Schema = Readonly<Record<string, unknown>>;

/**
 * Returns a small value that a JSON Schema allows. Considers only the schema's keywords that check-arguments.ts checks.
 */
export function exampleOf(schema: unknown, depth = 0): unknown {
  if (typeof schema !== "object" || schema === null || depth > 8) return "a";
  const { type, enum: choices, const: only, properties, required, items, ...limits } = schema as Schema;
  if (only !== undefined) return only;
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  const named: unknown = Array.isArray(type) ? type[0] : type;
  const limit = (name: string): number => (typeof limits[name] === "number" ? limits[name] : 0);
  const least = "exclusiveMinimum" in limits ? limit("exclusiveMinimum") + 1 : limit("minimum");
  switch (named) {
    case "integer":
    case "number":
      return "maximum" in limits ? Math.min(Math.max(1, least), limit("maximum")) : Math.max(1, least);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return Array.from({ length: Math.max(limit("minItems"), limit("maxItems") === 0 ? 1 : 0) }, () =>
        exampleOf(items, depth + 1),
      );
    case "object":
    case undefined:
      if (named === undefined && properties === undefined) return depth === 0 ? {} : "a";
      return exampleObject((properties ?? {}) as Schema, required, depth);
    default:
      return "a".repeat(Math.max(1, limit("minLength")));
  }
}

function exampleObject(properties: Schema, required: unknown, depth: number): Schema {
  const names = new Set([...Object.keys(properties), ...(Array.isArray(required) ? required.map(String) : [])]);
  return Object.fromEntries([...names].map((name) => [name, exampleOf(properties[name], depth + 1)]));
}
