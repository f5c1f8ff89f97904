/**
 * Applies the operator's changes, each a text "path=value", to a run file's YAML tree before it is read. The original
 * tree is not modified.
 */
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  Pair,
  parseDocument,
  Scalar,
  visit,
  YAMLMap,
  YAMLSeq,
} from "yaml";
import { didYouMean } from "../../envs/lib/text.ts";
import { keyOf, type Reading } from "./read-fields.ts";

/** Text offset of a value that comes from an operator's change ("path=value") and not from the file. */
export const NOWHERE = -1;

/** One step of a path, e.g. `arms`, `[3]` or `["easy"]`. */
const STEP = /\["([^"]*)"\]|\[(\d+)\]|([^.[]+)/g;

/** Returns the tree with a change applied. An invalid change is added to the problems, and undefined is returned. */
export function changed(reading: Reading, contents: Node | null, change: string): Node | undefined {
  const at = change.indexOf("=");
  const [path, text] = at < 1 ? ["", ""] : [change.slice(0, at), change.slice(at + 1)];
  const steps = [...path.matchAll(STEP)].map(([step, key, index]) => key ?? index ?? step);
  const value = parseDocument(text, { intAsBigInt: true, prettyErrors: false });
  const refuse = (message: string): undefined => {
    reading.problems.push({ offset: NOWHERE, field: path || change, message });
  };
  if (steps.length === 0) return refuse('wants path=value, e.g. "length=3200"');
  const [wrong] = [...value.errors, ...value.warnings];
  if (wrong !== undefined) return refuse(`its value is not YAML: ${wrong.message}`);
  visit(value, { Node: (_, node) => void (node.range = [NOWHERE, NOWHERE, NOWHERE]) });
  return withValue({ reading, value: value.contents ?? new Scalar(null), refuse }, contents ?? undefined, steps);
}

interface Setting {
  readonly reading: Reading;
  readonly value: Node;
  readonly refuse: (message: string) => undefined;
}

function withValue(setting: Setting, given: Node | undefined, steps: readonly string[]): Node | undefined {
  if (steps.length === 0) return setting.value;
  const node = isAlias(given) ? setting.reading.aliases.get(given) : given;
  if (isSeq(node)) return withItem(setting, node, steps);
  if (isMap(node)) return withEntry(setting, node, steps);
  if (node === undefined || (isScalar(node) && node.value === null)) return withEntry(setting, new YAMLMap(), steps);
  return setting.refuse(`has no '${steps.join(".")}' in it, because it is a single value`);
}

/**
 * Returns how many of the first steps form one of the names when they are joined by dots, because a name may contain
 * dots. It prefers the longest match. 0: no name matches.
 */
function stepsOf(names: readonly string[], steps: readonly string[]): number {
  const counts = steps.map((_, i) => steps.length - i);
  return counts.find((count) => names.includes(steps.slice(0, count).join("."))) ?? 0;
}

function nameOf(item: YAMLMap): string {
  const pair = item.items.find((each) => ["id", "name"].includes(keyOf(each)));
  return isScalar(pair?.value) ? String(pair.value.value) : "";
}

/** Changes an item of a list. The first steps of the path are the item's id or name, or its index from 0. */
function withItem(setting: Setting, list: YAMLSeq, steps: readonly string[]): Node | undefined {
  const names = list.items.map((item) => {
    const of = isAlias(item) ? setting.reading.aliases.get(item) : item;
    return isMap(of) ? nameOf(of) : "";
  });
  const count = stepsOf(names, steps);
  const [first = ""] = steps;
  const index = count > 0 ? names.indexOf(steps.slice(0, count).join(".")) : /^\d+$/.test(first) ? Number(first) : -1;
  const item = list.items[index];
  if (!isNode(item)) {
    const known = names.filter((name) => name !== "");
    const near = didYouMean(steps.slice(0, -1).join(".") || first, known);
    return setting.refuse(
      `there is no '${first}' among ${list.items.length} entries${near || `: ${known.join(", ")}`}`,
    );
  }
  const made = withValue(setting, item, steps.slice(count || 1));
  if (made === undefined) return undefined;
  const copy = new YAMLSeq();
  copy.items = list.items.with(index, made);
  copy.range = list.range ?? null;
  return copy;
}

/** Returns a field's name in snake case, as in the contract. The file may have it in camel case. */
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function withEntry(setting: Setting, map: YAMLMap, steps: readonly string[]): Node | undefined {
  const keys = map.items.map(keyOf);
  const exact = stepsOf(keys, steps);
  const names = exact > 0 ? keys : keys.map(snake);
  const count = exact || stepsOf(names, [snake(steps[0] ?? ""), ...steps.slice(1)]) || 1;
  const name = steps.slice(0, count).join(".");
  const index = names.indexOf(exact > 0 ? name : snake(name));
  const before = map.items[index]?.value;
  const made = withValue(setting, isNode(before) ? before : undefined, steps.slice(count));
  if (made === undefined) return undefined;
  const key = new Scalar(keys[index] ?? name);
  key.range = [NOWHERE, NOWHERE, NOWHERE];
  const isSet = index < 0 || count === steps.length;
  const pair = new Pair(isSet ? key : map.items[index]?.key, made);
  const copy = new YAMLMap();
  copy.items = index < 0 ? [...map.items, pair] : map.items.with(index, pair);
  copy.range = map.range ?? null;
  return copy;
}
