/** Those that hold most are refused, and no more of them than needed. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createHeldBytes } from "../../../server/transport/admission.ts";
import type { RpcError } from "../../../server/transport/rpc.ts";

/** Enough for several looks. */
const looksMs = 300;

function holder(heldBytes: number) {
  const refusals: RpcError[] = [];
  const refuse = (error: RpcError): void => {
    refusals.push(error);
    own.heldBytes = 0;
  };
  const own = { heldBytes, refuse, refusals };
  return own;
}

test("the largest go first, until the rest are within the limit", async () => {
  const held = createHeldBytes(100);
  const holders = [10, 60, 5, 70, 20].map(holder);
  for (const each of holders) held.add(each);
  await sleep(looksMs);
  expect(holders.map(({ refusals }) => refusals.length)).toEqual([0, 0, 0, 1, 0]);
  const [refusal] = holders[3]?.refusals ?? [];
  expect(refusal).toMatchObject({ code: "RESOURCE_EXHAUSTED", retryDelayMs: 1000 });
  expect(refusal?.message).toMatch(/more than 100 bytes .*--max-held-bytes/);
});

test("up to the limit nobody is refused, and who has left does not count", async () => {
  const held = createHeldBytes(100);
  const stays = holder(100);
  const leaves = holder(100);
  held.add(stays);
  held.remove(held.add(leaves));
  await sleep(looksMs);
  expect([stays, leaves].map(({ refusals }) => refusals.length)).toEqual([0, 0]);
});

test("it looks again after all had left", async () => {
  const held = createHeldBytes(100);
  held.remove(held.add(holder(1)));
  await sleep(looksMs);
  const large = holder(101);
  held.add(large);
  await sleep(looksMs);
  expect(large.refusals).toHaveLength(1);
});
