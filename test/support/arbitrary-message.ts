/** Messages of any kind, made from the contract itself: a field that is added to it is in them at once. */
import { type DescField, type DescMessage, type MessageInitShape, type MessageShape, create } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import fc from "fast-check";

const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme-ascii", maxLength: 200 }));

const scalars: Partial<Record<ScalarType, fc.Arbitrary<unknown>>> = {
  [ScalarType.STRING]: text,
  [ScalarType.BOOL]: fc.boolean(),
  [ScalarType.DOUBLE]: fc.double(),
  [ScalarType.UINT32]: fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 0xffff_ffff })),
  [ScalarType.INT32]: fc.nat(),
  [ScalarType.UINT64]: fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, 2n ** 64n - 1n)),
};

function scalar(type: ScalarType): fc.Arbitrary<unknown> {
  const found = scalars[type];
  if (found === undefined) throw new Error(`no arbitrary for scalars of type ${ScalarType[type]}`);
  return found;
}

type Schemas = readonly DescMessage[];

function value(field: DescField, outer: Schemas): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case "list":
      return fc.array(one(field, outer), { maxLength: 3 });
    case "map":
      return fc.dictionary(text, one(field, outer), { maxKeys: 3 });
    default:
      return one(field, outer);
  }
}

/** Of a list or a map: one of its values. */
function one({ message, enum: numbers, scalar: type }: DescField, outer: Schemas): fc.Arbitrary<unknown> {
  if (message !== undefined) return init(message, outer);
  if (numbers !== undefined) return fc.constantFrom(...numbers.values.map(({ number }) => number));
  if (type === undefined) throw new Error("a field is a message, an enum or a scalar");
  return scalar(type);
}

/** A message of a kind has another of its kind in it at most, and that one none. */
function init(schema: DescMessage, outer: Schemas = []): fc.Arbitrary<Record<string, unknown>> {
  const path = [...outer, schema];
  const isDeep = ({ message }: DescField): boolean => path.filter((each) => each === message).length > 1;
  const plain = schema.fields.filter((field) => field.oneof === undefined && !isDeep(field));
  const fields = fc.record(Object.fromEntries(plain.map((field) => [field.localName, value(field, path)])), {
    requiredKeys: [],
  });
  const oneofs = Object.fromEntries(
    schema.oneofs.map((oneof) => [
      oneof.localName,
      fc.oneof(
        ...oneof.fields.map((field) => fc.record({ case: fc.constant(field.localName), value: value(field, path) })),
      ),
    ]),
  );
  return fc.tuple(fields, fc.record(oneofs, { requiredKeys: [] })).map(([a, b]) => ({ ...a, ...b }));
}

export function arbitraryMessage<D extends DescMessage>(schema: D): fc.Arbitrary<MessageShape<D>> {
  return init(schema).map((fields) => create(schema, fields as MessageInitShape<D>));
}
