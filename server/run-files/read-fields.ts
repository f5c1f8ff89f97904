/**
 * Checks a run file's YAML tree against the contract's message types. Valid values become ProtoJSON, and invalid ones
 * become problems.
 */
import type { DescField, JsonObject, JsonValue } from "@bufbuild/protobuf";
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  visit,
  type YAMLMap,
} from "yaml";
import { didYouMean } from "../../envs/lib/text.ts";
import { autoFields } from "./contract.ts";
import { type Read, readAny, readDuration, readEnum, readScalar, shown } from "./read-values.ts";

/** Error in a run file, with its text offset. */
export interface Problem {
  readonly offset: number;
  /** Name of the field in the contract, e.g. "policy.bandit.epsilon". */
  readonly field: string;
  readonly message: string;
}

/** State while a run file is read. */
export interface Reading {
  readonly aliases: ReadonlyMap<Alias, Node>;
  readonly problems: Problem[];
  /** Text offset of each field, by its name in the contract. */
  readonly offsets: Map<string, number>;
  /** Number of YAML nodes that may still be read. Aliases can make a small file expand to a huge tree. */
  nodesLeft: number;
  /** Fields that the file may have at its top level. */
  readonly top: readonly DescField[];
}

/** Maximum number of paths that an error suggests for a misplaced field. */
const PLACES_MAX = 4;
/**
 * Maximum number of YAML nodes in a file. The largest valid run, with 1,024 arms in 64 stages and a weight for each,
 * has 70,000.
 */
export const NODES_MAX = 200_000;
const ARM = "gradus.v1.Arm";
/**
 * Maximum depth of JSON whose fields the contract does not define. A YAML alias may stand for a node that contains the
 * alias itself, so the depth could be infinite.
 */
const DEPTH_MAX = 64;

/**
 * Returns the node that each YAML alias stands for. The yaml library's own method is slower, because it searches the
 * whole document for each alias.
 */
export function aliasesOf(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const aliases = new Map<Alias, Node>();
  visit(document, {
    Alias(_, alias) {
      const node = anchors.get(alias.source);
      if (node !== undefined) aliases.set(alias, node);
    },
    Value(_, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return aliases;
}

/** Returns a node, or the node that an alias stands for. Undefined: there is none. */
function resolved({ aliases }: Reading, node: unknown): Node | undefined {
  if (isAlias(node)) return aliases.get(node);
  return isNode(node) ? node : undefined;
}

/**
 * Returns whether nothing is written after the field's name, as in "name:". The value null, as in "name: null", is not
 * empty.
 */
function isEmpty(node: Node | undefined): boolean {
  return node === undefined || (isScalar(node) && node.value === null && (node.source ?? "") === "");
}

function isNull(node: Node | undefined): boolean {
  return node !== undefined && isScalar(node) && node.value === null && !isEmpty(node);
}

/** Returns whether a field's value is the word auto, and the word stands for the field's default (autoFields). */
function isAuto({ name, parent }: DescField, node: Node | undefined): boolean {
  return node !== undefined && isScalar(node) && node.value === "auto" && autoFields.has(`${parent.typeName}.${name}`);
}

function inWords(node: Node | undefined): string {
  if (isMap(node)) return "fields";
  if (isSeq(node)) return "a list";
  return isScalar(node) ? shown(node.value) : "nothing";
}

interface FieldPlace {
  readonly offset: number;
  readonly field: string;
}

/**
 * Reads the fields of a protobuf message from a YAML map. If the node is no map, adds a problem and returns undefined.
 * Fields with a problem are left out of the result.
 */
export function readFields(
  reading: Reading,
  fields: readonly DescField[],
  node: Node | undefined,
  place: FieldPlace,
): JsonObject | undefined {
  if (isEmpty(node)) return {};
  if (!isMap(node)) return problem(reading, place, `wants fields, each as "name: value"; got ${inWords(node)}`);
  const read: JsonObject = {};
  const oneofs = new Map<string, string>();
  for (const pair of node.items) {
    const given = keyOf(pair);
    const found = fields.find(({ name, jsonName }) => name === given || jsonName === given);
    const name = found?.name ?? given;
    const at = {
      offset: rangeStart(pair.key) ?? place.offset,
      field: place.field === "" ? name : `${place.field}.${name}`,
    };
    const value = resolved(reading, pair.value);
    if (found === undefined) {
      problem(reading, at, unknownField(reading, given, fields));
      continue;
    }
    if (Object.hasOwn(read, name)) problem(reading, at, "is given twice: remove one");
    reading.offsets.set(at.field, at.offset);
    if (isNull(value) || isAuto(found, value)) continue;
    const json = readField(reading, found, value, at);
    if (json !== undefined) read[name] = json;
    if (found.oneof === undefined) continue;
    const other = oneofs.get(found.oneof.name);
    if (other !== undefined) problem(reading, at, `must not be given together with '${other}': remove one`);
    oneofs.set(found.oneof.name, name);
  }
  return read;
}

function unknownField({ top }: Reading, given: string, fields: readonly DescField[]): string {
  const names = fields.map(({ name }) => name);
  const near = didYouMean(given, names);
  if (near !== "") return `is not a known field${near}`;
  const places = placesOf(given, top);
  if (places.length > 0) return `is not a field of this object; it belongs to ${places.join(", or to ")}`;
  return `is not a known field; ${names.length === 0 ? "its parent takes no fields" : `known fields: ${names.join(", ")}`}`;
}

/**
 * Returns the paths of the contract's fields with this name, its plural or its singular, e.g. "arms[].weight". The
 * paths with the fewest steps come first.
 */
function placesOf(given: string, top: readonly DescField[]): readonly string[] {
  const names = [given, `${given}s`, given.replace(/s$/, "")];
  const seen = new Set<string>();
  const within = (fields: readonly DescField[], path: string): readonly string[] =>
    fields.flatMap(({ name, message, fieldKind }) => {
      const own = names.includes(name) ? [path + name] : [];
      if (message === undefined || message.typeName.startsWith("google.") || seen.has(message.typeName)) return own;
      seen.add(message.typeName);
      return [...own, ...within(message.fields, `${path}${name}${fieldKind === "list" ? "[]" : ""}.`)];
    });
  const depth = (path: string): number => path.split(".").length;
  return [...within(top, "")].sort((a, b) => depth(a) - depth(b)).slice(0, PLACES_MAX);
}

function readField(
  reading: Reading,
  desc: DescField,
  node: Node | undefined,
  place: FieldPlace,
): JsonValue | undefined {
  switch (desc.fieldKind) {
    case "list":
      return readItems(reading, desc, node, place);
    case "map":
      return readEntries(reading, desc, node, place);
    default:
      return readOne(reading, desc, node, place);
  }
}

type DescOne = DescField & { readonly fieldKind: "scalar" | "enum" | "message" };

/** Word after a pattern of environments whose arms grow, e.g. "np/* growing". */
const GROWING = /\s+growing\s*$/;

/**
 * Returns the arm that the file writes only as a pattern of environments, e.g. "np/*" or "np/* growing". Undefined: the
 * node is no such pattern.
 */
function familyOf(node: Node | undefined): JsonObject | undefined {
  if (!isScalar(node) || typeof node.value !== "string" || !node.value.includes("*")) return undefined;
  const environment = node.value.replace(GROWING, "");
  return { spec: { environment }, ...(environment !== node.value && { grow: {} }) };
}

function readOne(
  reading: Reading,
  desc: Pick<DescOne, "message" | "enum" | "scalar">,
  node: Node | undefined,
  place: FieldPlace,
): JsonValue | undefined {
  if (!spend(reading, place)) return undefined;
  const { message, enum: names, scalar } = desc;
  if (message?.typeName === "google.protobuf.Struct") {
    if (isEmpty(node) || isMap(node)) return readPlain(reading, node, place) ?? {};
    return problem(reading, place, `wants fields, each as "name: value"; got ${inWords(node)}`);
  }
  const family = message?.typeName === ARM ? familyOf(node) : undefined;
  if (family !== undefined) return family;
  if (message !== undefined && message.typeName !== "google.protobuf.Duration")
    return readFields(reading, message.fields, node, place);
  return single(reading, node, place, (given) => {
    if (message !== undefined) return readDuration(given);
    if (names !== undefined) return readEnum(names, given);
    if (scalar === undefined) throw new Error(`${place.field} has neither a message, an enum nor a scalar type`);
    return readScalar(scalar, given);
  });
}

/** Reads JSON whose fields the contract does not define, e.g. the parameters of an operator's own policy. */
function readPlain(reading: Reading, given: unknown, place: FieldPlace, depth = 0): JsonValue | undefined {
  if (!spend(reading, place)) return undefined;
  if (depth > DEPTH_MAX) return problem(reading, place, `has more than ${DEPTH_MAX} levels of nesting, the limit`);
  const node = resolved(reading, given);
  if (isMap(node)) {
    const entries = node.items.flatMap((pair): readonly (readonly [string, JsonValue])[] => {
      const name = keyOf(pair);
      const entry = { offset: rangeStart(pair.key) ?? place.offset, field: `${place.field}.${name}` };
      setOnce(reading, entry);
      const json = readPlain(reading, pair.value, entry, depth + 1);
      return json === undefined ? [] : [[name, json]];
    });
    return Object.fromEntries(entries);
  }
  if (isSeq(node))
    return node.items.flatMap((item, i) => {
      const entry = { offset: rangeStart(item) ?? place.offset, field: `${place.field}[${i}]` };
      return readPlain(reading, item, entry, depth + 1) ?? [];
    });
  if (node === undefined || isEmpty(node) || isNull(node)) return null;
  return single(reading, node, place, readAny);
}

/** Counts one more YAML node that is read, and returns whether the file has no more than NODES_MAX. */
function spend(reading: Reading, place: FieldPlace): boolean {
  reading.nodesLeft--;
  if (reading.nodesLeft === 0) problem(reading, place, `the file has more than ${NODES_MAX} values`);
  return reading.nodesLeft > 0;
}

function single(
  reading: Reading,
  node: Node | undefined,
  place: FieldPlace,
  read: (given: unknown) => Read,
): JsonValue | undefined {
  if (isEmpty(node)) return problem(reading, place, "must have a value");
  if (!isScalar(node)) return problem(reading, place, `wants one value; got ${inWords(node)}`);
  const result = read(node.value);
  return result.kind === "value" ? result.value : problem(reading, place, result.message);
}

function readItems(
  reading: Reading,
  desc: DescField & { readonly fieldKind: "list" },
  node: Node | undefined,
  place: FieldPlace,
): JsonValue | undefined {
  if (isEmpty(node)) return [];
  // The field `arms` may hold one pattern of environments instead of a list, as in "arms: np/*" or "arms: np/*
  // growing".
  if (desc.message?.typeName === ARM && familyOf(node) !== undefined)
    return [readOne(reading, desc, node, place) ?? {}];
  if (!isSeq(node)) return problem(reading, place, `wants a list, each item after "- "; got ${inWords(node)}`);
  const items = node.items.map((item, i) => {
    const at = resolved(reading, item);
    const start = rangeStart(item) ?? place.offset;
    const itemPlace = { offset: start, field: `${place.field}[${i}]` };
    reading.offsets.set(itemPlace.field, start);
    return readOne(reading, desc, at, itemPlace);
  });
  return items.filter((item) => item !== undefined);
}

function readEntries(
  reading: Reading,
  desc: DescField & { readonly fieldKind: "map" },
  node: Node | undefined,
  place: FieldPlace,
): JsonValue | undefined {
  if (isEmpty(node)) return {};
  if (!isMap(node)) return problem(reading, place, `wants names with values, e.g. {easy: 0.5}; got ${inWords(node)}`);
  const entries = node.items.flatMap((pair): readonly (readonly [string, JsonValue])[] => {
    const name = keyOf(pair);
    const entry = { offset: rangeStart(pair.key) ?? place.offset, field: `${place.field}["${name}"]` };
    setOnce(reading, entry);
    const json = readOne(reading, desc, resolved(reading, pair.value), entry);
    return json === undefined ? [] : [[name, json]];
  });
  return Object.fromEntries(entries);
}

/**
 * Records the place of a map's entry in the file, and reports a name that is given twice. The keys 1 and "1" are the
 * same name here, although YAML distinguishes them.
 */
function setOnce(reading: Reading, entry: FieldPlace): void {
  if (reading.offsets.has(entry.field)) problem(reading, entry, "is given twice: remove one");
  reading.offsets.set(entry.field, entry.offset);
}

function problem(reading: Reading, { offset, field }: FieldPlace, message: string): undefined {
  reading.problems.push({ offset, field, message });
}

/** Returns a key as it is written in the file. An arm may be called 1 or true, which YAML does not read as text. */
export function keyOf({ key }: YAMLMap["items"][number]): string {
  if (!isScalar(key)) return String(key);
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function rangeStart(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
