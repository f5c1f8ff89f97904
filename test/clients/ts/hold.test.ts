/** Tests HoldEvaluation: a call to take hold ends by the deadline, and the hold itself lasts longer. */
import { create } from "@bufbuild/protobuf";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { callerOver } from "../../../clients/ts/src/caller.ts";
import { GradusError } from "../../../clients/ts/src/errors.ts";
import { evaluationHandle } from "../../../clients/ts/src/evaluation.ts";
import { HoldEvaluationResponseSchema } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import type { Transport } from "../../../clients/ts/src/transport.ts";

/** Returns a handle on a server that sends `replies` messages on HoldEvaluation's stream and then none. */
function handleOf(replies: number) {
  const signals: AbortSignal[] = [];
  const transport = {
    serverStream: async function* (_method: unknown, _input: unknown, { signal }: { signal: AbortSignal }) {
      signals.push(signal);
      for (let i = 0; i < replies; i++) yield create(HoldEvaluationResponseSchema, {});
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new GradusError("CANCELLED", "the call was cancelled");
    },
  } as unknown as Transport;
  return { handle: evaluationHandle(callerOver(transport, {}), "e"), signals };
}

test("a server that says nothing is asked no longer than the deadline", async () => {
  const { handle, signals } = handleOf(0);
  const failure: unknown = await handle.hold({ deadlineMs: 20 }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test("a caller who leaves is told so", async () => {
  const { handle } = handleOf(0);
  const failure: unknown = await handle.hold({ signal: AbortSignal.timeout(20) }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "CANCELLED" });
});

test("what is held stays held after the deadline, until it is released", async () => {
  const { handle, signals } = handleOf(1);
  const hold = await handle.hold({ deadlineMs: 20 });
  const lost = hold.lost.catch((error: unknown) => error);
  expect(await Promise.race([lost, sleep(60, "held")])).toBe("held");
  hold.release();
  expect(signals[0]?.aborted).toBe(true);
  expect(await lost).toMatchObject({ code: "CANCELLED" });
});
