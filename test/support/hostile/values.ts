/** Values that break careless code, by the contract's types. */
import { ScalarType } from "@bufbuild/protobuf";
import fc from "fast-check";
import { hostileTexts } from "../../envs/hostile.ts";

const TEXTS = [
  "",
  " ",
  "\0",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "../../../../etc/passwd",
  "..%2f..%2fetc%2fpasswd",
  "/",
  "a/0/0",
  "a/99999999999999999999/0",
  "file:///etc/passwd",
  "'; DROP TABLE runs; --",
  "${process.exit(1)}",
  "%s%n%00",
  "NaN",
  "-1",
  "1e400",
  "\u202egnp.eman",
  "\r\nx-injected: 1",
  "\ud83d\ude00",
  // A name that is cut after 64 UTF-16 units is cut inside the last character.
  `${"x".repeat(63)}\ud83d\ude00`,
  `${"x".repeat(127)}\ud83d\ude00`,
  "x".repeat(65),
  "\u00e9".repeat(129),
  "x".repeat(257),
  "\ud83d\ude00".repeat(300),
  "\u0000\u0001\u001f\u007f\u0085\u2028\ufeff",
];

/** Short hostile texts, for names and ids. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 80 }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 300 }) },
);

/** Texts without half a surrogate pair, which cannot be sent in binary; attacks.ts sends such texts in JSON. */
const sendable = (length: number): readonly string[] => [...hostileTexts(length)].map((text) => text.toWellFormed());

/** Completions that have broken parsers, some above the attacked server's limit of 4 KiB. */
export const hostileCompletion: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...sendable(600)) },
  { weight: 1, arbitrary: fc.constantFrom(...sendable(6000)) },
  { weight: 2, arbitrary: hostileText },
);

const DOUBLES = [
  NaN,
  Infinity,
  -Infinity,
  -0,
  5e-324,
  1.7976931348623157e308,
  -1,
  0.5,
  1,
  2 ** 31,
  2 ** 53,
  1e21,
  1e-9,
];
const UINT32 = [0, 1, 2, 255, 256, 4096, 4097, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
const INT32 = [0, 1, -1, 999, 2 ** 31 - 1, -(2 ** 31)];
const UINT64 = [0n, 1n, 4097n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];
const INT64 = [0n, 1n, -1n, 315_576_000_000n, 315_576_000_001n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)];

/** Generates a value of a scalar field, extreme more often than not. */
export function hostileScalar(type: ScalarType): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return hostileText;
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 64 });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return fc.oneof(fc.constantFrom(...DOUBLES), fc.double());
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.oneof(fc.constantFrom(...UINT32), fc.nat());
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return fc.oneof(fc.constantFrom(...INT32), fc.integer());
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return fc.oneof(fc.constantFrom(...UINT64), fc.bigInt(0n, 2n ** 64n - 1n));
    default:
      return fc.oneof(fc.constantFrom(...INT64), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n));
  }
}

/** Generates numbers, some of which are values of an enum. */
export const hostileEnum: fc.Arbitrary<number> = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constantFrom(...INT32));
