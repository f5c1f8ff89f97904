/** Generators of all hostile requests. `fast-check` makes an attack from a seed, prints it and shrinks it. */
import fc from "fast-check";
import { type Attack, type SocketAttack, bytesOf } from "./attack.ts";
import { grpcAttack } from "./grpc-attacks.ts";
import { httpAttack } from "./http-attacks.ts";
import { hostileRequests } from "./messages.ts";
import type { Knowledge } from "./requests.ts";

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/** A client's empty SETTINGS frame. */
const SETTINGS = Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0);

/** Bytes that are no request, for either port. */
const socketAttack: fc.Arbitrary<SocketAttack> = fc.record({
  kind: fc.constant("socket" as const),
  port: fc.constantFrom("grpc" as const, "http" as const),
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .constantFrom(
        "GET / HTTP/1.1\r\n\r\n",
        "POST /x HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        PREFACE,
        "\x16\x03\x01\x02\x00",
      )
      .map(bytesOf),
    fc.uint8Array({ maxLength: 200 }).map((more) => Uint8Array.from([...bytesOf(PREFACE), ...SETTINGS, ...more])),
  ),
});

/** Anything that a hostile client sends. */
export function attacks(knowledge: Knowledge): fc.Arbitrary<Attack> {
  const requestOf = hostileRequests(knowledge);
  return fc.oneof<fc.WeightedArbitrary<Attack>[]>(
    { weight: 30, arbitrary: grpcAttack(requestOf) },
    { weight: 20, arbitrary: httpAttack(requestOf) },
    { weight: 1, arbitrary: socketAttack },
  );
}
