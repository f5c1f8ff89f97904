/** Messages with hostile fields. Descriptors lead to every field of every message of the contract. */
import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type Message,
  clone,
  create,
  toBinary,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import fc from "fast-check";
import { type Knowledge, rightRequests } from "./requests.ts";
import { hostileEnum, hostileScalar, hostileText } from "./values.ts";

/**
 * Generates messages of a method: right ones, those with a few changed fields, and those with nothing right in them.
 */
export function hostileRequests(knowledge: Knowledge): (method: DescMethod) => fc.Arbitrary<Message> {
  const right = rightRequests(knowledge);
  const made = new Map<DescMethod, fc.Arbitrary<Message>>();
  return (method) => {
    const found = made.get(method);
    if (found !== undefined) return found;
    const { input } = method;
    const wild = hostileMessage(input).map((init) => create(input, init as never));
    const seeds = right(method).map((init) => create(input, init as never));
    const requests = fc.oneof(
      { weight: 3, arbitrary: seeds },
      { weight: 6, arbitrary: seeds.chain((message) => changed(input, message, 1)) },
      { weight: 2, arbitrary: seeds.chain((message) => changed(input, message, 3)) },
      { weight: 1, arbitrary: wild },
    );
    made.set(method, requests);
    return requests;
  };
}

/** A place where a message can be changed. */
interface Spot {
  readonly message: Message;
  readonly field: DescField;
}

/** Returns every field of a message and of its nested messages, set or not. */
function spotsOf(desc: DescMessage, message: Message): readonly Spot[] {
  const spots: Spot[] = [];
  const seen = reflect(desc, message);
  for (const field of desc.fields) {
    spots.push({ message, field });
    if (field.fieldKind === "message" && seen.isSet(field))
      spots.push(...spotsOf(field.message, seen.get(field).message));
    if (field.fieldKind === "list" && field.listKind === "message")
      for (const item of seen.get(field)) spots.push(...spotsOf(field.message, (item as { message: Message }).message));
  }
  return spots;
}

/** Generates the message with up to `changes` fields changed, at any depth. */
function changed(desc: DescMessage, message: Message, changes: number): fc.Arbitrary<Message> {
  const spots = spotsOf(desc, message);
  // A message without fields has nothing to change.
  if (spots.length === 0) return fc.constant(message);
  const change = fc.nat(spots.length - 1).chain((at) => {
    return hostileValue((spots[at] as Spot).field).map((value) => ({ at, value }));
  });
  return fc.array(change, { minLength: 1, maxLength: changes }).map((all) => {
    const copy = clone(desc, message);
    const places = spotsOf(desc, copy);
    for (const { at, value } of all) put(places[at] as Spot, value);
    return copy;
  });
}

/** Sets a field in the form of generated code; undefined clears it. */
function put({ message, field }: Spot, value: unknown): void {
  const target = message as unknown as Record<string, unknown>;
  const { oneof, localName } = field;
  if (oneof !== undefined)
    target[oneof.localName] = value === undefined ? { case: undefined } : { case: localName, value };
  else if (value === undefined) Reflect.deleteProperty(target, localName);
  else target[localName] = value;
}

const NOTHING = { weight: 1, arbitrary: fc.constant(undefined) };

function hostileValue(field: DescField): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case "scalar":
      return hostileScalar(field.scalar);
    case "enum":
      return hostileEnum;
    case "message":
      return fc.oneof(NOTHING, { weight: 3, arbitrary: complete(field.message) });
    case "list":
      return field.listKind === "message"
        ? listOf(complete(field.message), (item) => toBinary(field.message, item).length)
        : listOf(itemOf(field), (item) => (typeof item === "string" ? Buffer.byteLength(item) : 8));
    case "map":
      return fc.dictionary(
        fc.oneof(fc.constantFrom(...MAP_KEYS), hostileText),
        field.mapKind === "message" ? complete(field.message) : itemOf(field),
        { maxKeys: 40 },
      );
  }
}

const MAP_KEYS = ["a", "toString", "__proto__", "format_score", "numbers_min", "numbers_max", "cities_max"] as const;

function itemOf(field: DescField & { readonly fieldKind: "list" | "map" }): fc.Arbitrary<unknown> {
  return field.enum !== undefined
    ? hostileEnum
    : field.scalar === undefined
      ? fc.constant({})
      : hostileScalar(field.scalar);
}

/** Lengths above the limits of the attacked server, and above those that no flag changes. */
const LENGTHS = [9, 257, 4097] as const;

/**
 * Maximum size of a list, so that lists of 4,097 lists of 4,097 completions are not gigabytes. It is more than a
 * message may have.
 */
const LIST_BYTES_MAX = 1024 ** 2;

function listOf<T>(items: fc.Arbitrary<T>, sizeOf: (item: T) => number): fc.Arbitrary<readonly T[]> {
  const repeated = (item: T, length: number): readonly T[] =>
    new Array<T>(Math.min(length, Math.ceil(LIST_BYTES_MAX / (sizeOf(item) + 1)))).fill(item);
  return fc.oneof(
    { weight: 30, arbitrary: fc.array(items, { maxLength: 3 }) },
    // Equal items: a list over its limit is refused whatever is in it.
    {
      weight: 3,
      arbitrary: fc.tuple(items, fc.constantFrom(...LENGTHS)).map(([item, length]) => repeated(item, length)),
    },
  );
}

const wildMessages = new Map<DescMessage, fc.Arbitrary<unknown>>();

/** Generates an argument of `create` for a message in which every field may be wrong. */
function hostileMessage(desc: DescMessage): fc.Arbitrary<unknown> {
  const found = wildMessages.get(desc);
  if (found !== undefined) return found;
  const members = desc.members.map((member): readonly [string, fc.Arbitrary<unknown>] => {
    if (member.kind !== "oneof") return [member.localName, optional(hostileValue(member))];
    const cases = member.fields.map((field) =>
      hostileValue(field).map((value) =>
        value === undefined ? { case: undefined } : { case: field.localName, value },
      ),
    );
    return [member.localName, fc.oneof(...cases)];
  });
  const message = fc
    .record(Object.fromEntries(members))
    .map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)));
  wildMessages.set(desc, message);
  return message;
}

function optional(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(NOTHING, { weight: 3, arbitrary });
}

/** Generates a hostile message that can stand in another message. */
function complete(desc: DescMessage): fc.Arbitrary<Message> {
  return fc
    .constant(null)
    .chain(() => hostileMessage(desc))
    .map((init) => create(desc, init as never));
}
