/** Module of policies that each break a law, for `gradus policies check`. */
import weakestPart from "../../../examples/policies/weakest-part.ts";
import type { PolicyDefinition } from "../../../server/curriculum/policies/policy.ts";

const whole = weakestPart[0] as unknown as PolicyDefinition<unknown, readonly number[]>;
let calls = 0;

export default [
  { ...whole, kind: "short", probabilities: () => [1] },
  { ...whole, kind: "moody", probabilities: () => new Array<number>(8).fill(0).with(calls++ % 8, 1) },
  { ...whole, kind: "forgetful", state: { encode: () => null, decode: () => new Array<number>(8).fill(1) } },
];
