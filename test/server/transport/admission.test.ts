/** Tests that the callers that hold most are refused, and no more of them than needed. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { nobody, watchOpenCalls } from "../../../server/transport/admission.ts";
import type { RpcError } from "../../../server/base/rpc.ts";
import { until } from "../../support/patience.ts";

/** Time for several checks of callers' usage, in milliseconds. */
const looksMs = 300;

function callThatHolds(bufferedBytes: number, connection: object = {}, peer = "127.0.0.1:4000") {
  const refusals: RpcError[] = [];
  const refuse = (error: RpcError): void => {
    refusals.push(error);
    own.bufferedBytes = 0;
  };
  const own = {
    connection,
    peer,
    account: nobody(),
    bufferedBytes,
    receivingSinceMs: undefined,
    refuse,
    refusals,
    abort: () => undefined,
  };
  return own;
}

test("the largest go first, until the rest are within the limit", async () => {
  const held = watchOpenCalls(100, 60_000);
  const calls = [10, 60, 5, 70, 20].map((bytes) => callThatHolds(bytes));
  for (const each of calls) held.add(each);
  await until(() => calls[3]?.refusals.length === 1);
  expect(calls.map(({ refusals }) => refusals.length)).toEqual([0, 0, 0, 1, 0]);
  const [refusal] = calls[3]?.refusals ?? [];
  expect(refusal).toMatchObject({ code: "RESOURCE_EXHAUSTED", retryDelayMs: 1000 });
  expect(refusal?.message).toMatch(/more than 100 bytes .*--max-held-bytes/);
});

test("many small answers of one caller are ended before another's one large request", async () => {
  const held = watchOpenCalls(100, 60_000);
  const reader = callThatHolds(40);
  const connection = {};
  const unread = Array.from({ length: 30 }, () => callThatHolds(3, connection));
  for (const each of [reader, ...unread]) held.add(each);
  await until(() => unread.some(({ refusals }) => refusals.length > 0));
  expect(reader.refusals).toEqual([]);
  expect(unread.filter(({ refusals }) => refusals.length > 0)).toHaveLength(10);
});

test("calls of an address over many connections are ended before another's one large request", async () => {
  const held = watchOpenCalls(100, 60_000);
  const reader = callThatHolds(40, {}, "[2001:db8::1]:4000");
  const many = Array.from({ length: 30 }, (_, i) => callThatHolds(3, {}, `[2001:db8::2]:${4000 + i}`));
  for (const each of [reader, ...many]) held.add(each);
  await until(() => many.some(({ refusals }) => refusals.length > 0));
  expect(reader.refusals).toEqual([]);
  expect(many.filter(({ refusals }) => refusals.length > 0)).toHaveLength(10);
});

test("up to the limit nobody is refused, and who has left does not count", async () => {
  const held = watchOpenCalls(100, 60_000);
  const stays = callThatHolds(100);
  const leaves = callThatHolds(100);
  held.add(stays);
  held.add(leaves)();
  await sleep(looksMs);
  expect([stays, leaves].map(({ refusals }) => refusals.length)).toEqual([0, 0]);
});

test("it looks again after all had left", async () => {
  const held = watchOpenCalls(100, 60_000);
  const gone = callThatHolds(1);
  held.add(gone)();
  await sleep(looksMs);
  const large = callThatHolds(101);
  held.add(large);
  await until(() => large.refusals.length > 0);
  expect(large.refusals).toHaveLength(1);
});
