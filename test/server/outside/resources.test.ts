/** Tests of requests by asynchronous environments: limits, attempts, deadlines, and a resource that is down. */
import { describe, expect, test } from "vitest";
import type { Resource, VerifyContext } from "../../../envs/resource.ts";
import type { Failed } from "../../../envs/facts.ts";
import { FAILURES_MAX } from "../../../server/outside/gate/resource-health.ts";
import { runParty } from "../../../server/tasks/making/make.ts";
import { createResources } from "../../../server/outside/gate/resources.ts";
import { type Party, partyOf } from "../../../server/base/fair-turns.ts";
import { NO_ANSWER } from "../../support/environments/flaky.ts";
import { type Ask, RIGHT } from "../../support/environments/slow.ts";
import { fakeClock, settled } from "../curriculum/support.ts";

type Answer = Awaited<ReturnType<Ask>>;

const BIG: Resource = {
  name: "judge",
  concurrencyMax: 2,
  waitingMax: 3,
  heldBytesMax: 1000,
  timeLimitMs: 5000,
};

const party = (caller: string, connection = ""): Party => ({ caller, connection });
const ANY = { party: party("anybody"), bytes: 1, signal: undefined, deadlineMs: undefined };

/** A judge that answers when the test tells it to. */
function judge(resource: Partial<Resource> = {}) {
  const clock = fakeClock();
  const failures: unknown[] = [];
  const resources = createResources({ clock, onFailure: (error) => failures.push(error) });
  const changes: (readonly [string, string | undefined])[] = [];
  resources.onChange((name, down) => changes.push([name, down]));
  const asked: { readonly context: VerifyContext; answer(answer: Answer): void; fail(error: Error): void }[] = [];
  const verify = (context: VerifyContext): Promise<Answer> =>
    new Promise((resolve, reject) => asked.push({ context, answer: resolve, fail: reject }));
  const whole = { ...BIG, ...resource };
  const run = (more: { bytes?: number; signal?: AbortSignal; deadlineMs?: number; party?: Party } = {}) =>
    resources.run(whole, { ...ANY, verify, ...more });
  return { clock, resources, asked, run, changes, failures, whole };
}

/** A resource that always gives the same answer, and counts its calls. */
function steady(answer: (attempt: number) => Answer, resource: Partial<Resource> = {}) {
  const { clock, resources, changes, whole } = judge(resource);
  let asked = 0;
  const verify = async ({ attempt }: VerifyContext): Promise<Answer> => {
    asked++;
    return answer(attempt);
  };
  const run = () => resources.run(whole, { ...ANY, verify });
  return { clock, resources, changes, run, asked: () => asked };
}

test("so many at once, so many waiting, and more is refused with a delay", async () => {
  const { resources, asked, run } = judge();
  const outcomes = Array.from({ length: 7 }, () => run());
  await settled();
  expect(asked).toHaveLength(2);
  expect(resources.load()).toEqual([{ name: "judge", running: 2, waiting: 3, heldBytes: 5, down: false }]);
  const refused = await Promise.all(outcomes.slice(5));
  for (const outcome of refused)
    expect(outcome).toMatchObject({ kind: "failed", reason: "overloaded", retryable: true });
  expect((refused[0] as Failed).retryDelayMs).toBeGreaterThan(0);
  for (let i = 0; i < 5; i++) {
    asked[i]?.answer(RIGHT);
    await settled();
  }
  expect(await Promise.all(outcomes.slice(0, 5))).toEqual(Array(5).fill(RIGHT));
  expect(resources.load()).toEqual([{ name: "judge", running: 0, waiting: 0, heldBytes: 0, down: false }]);
});

test("so many bytes are held; what is larger than all of them never fits", async () => {
  const { asked, run } = judge();
  const first = run({ bytes: 900 });
  await settled();
  expect(await run({ bytes: 101 })).toMatchObject({ reason: "overloaded", retryable: true });
  expect(await run({ bytes: 1001 })).toMatchObject({ reason: "overloaded", retryable: false });
  asked[0]?.answer(RIGHT);
  expect(await first).toEqual(RIGHT);
});

test("one resource that is full holds up no other", async () => {
  const { resources, run } = judge();
  for (let i = 0; i < 5; i++) void run();
  await settled();
  const other = { ...BIG, name: "sandbox" };
  const verify = async (): Promise<Answer> => RIGHT;
  expect(await resources.run(other, { ...ANY, verify })).toEqual(RIGHT);
});

test("two resources of one name are a mistake of the environments'", () => {
  const { resources, run } = judge();
  void run();
  const job = { ...ANY, verify: async () => RIGHT };
  expect(() => resources.run({ ...BIG }, job)).toThrow("bug: two different resources have the name 'judge'");
});

test("the deadline is the caller's or the resource's, whichever comes first", async () => {
  const { clock, asked, run } = judge();
  void run({ deadlineMs: clock.now() + 100 });
  void run({ deadlineMs: clock.now() + 1e6 });
  await settled();
  expect(asked.map(({ context }) => context.deadlineMs - clock.now())).toEqual([100, 5000]);
  expect(asked[0]?.context).toMatchObject({ attempt: 1, attemptsMax: 3 });
});

test("what takes too long is given up, told so, and keeps its place until it has ended", async () => {
  const { clock, asked, run } = judge({ concurrencyMax: 1 });
  const slow = run({ deadlineMs: clock.now() + 5001 });
  const behind = run();
  await settled();
  await clock.advance(5000);
  expect(asked[0]?.context.signal.aborted).toBe(true);
  expect(await slow).toMatchObject({ kind: "failed", reason: "timeout", retryable: true });
  // No other request takes its place: the aborted one may still be at work.
  expect(asked).toHaveLength(1);
  asked[0]?.fail(new Error("given up"));
  await settled();
  expect(asked).toHaveLength(2);
  asked[1]?.answer(RIGHT);
  expect(await behind).toEqual(RIGHT);
});

test("a caller that leaves takes what waits out of the queue, and aborts what is asked", async () => {
  const { resources, asked, run } = judge({ concurrencyMax: 1 });
  const leaving = new AbortController();
  const outcomes = [run({ signal: leaving.signal }), run({ signal: leaving.signal })];
  const stays = run();
  await settled();
  leaving.abort();
  expect(await Promise.all(outcomes)).toEqual([{ kind: "cancelled" }, { kind: "cancelled" }]);
  expect(asked[0]?.context.signal.aborted).toBe(true);
  asked[0]?.fail(new Error("given up"));
  await settled();
  expect(asked).toHaveLength(2);
  asked[1]?.answer(RIGHT);
  expect(await stays).toEqual(RIGHT);
  expect(await run({ signal: leaving.signal })).toEqual({ kind: "cancelled" });
  expect(resources.load()).toMatchObject([{ running: 0, waiting: 0 }]);
});

test("what fails is tried again, after as long as it says", async () => {
  const { clock, run, asked } = steady((attempt) => (attempt < 3 ? { ...NO_ANSWER, retryDelayMs: 400 } : RIGHT));
  const outcome = run();
  await settled();
  expect(asked()).toBe(1);
  await clock.advance(399);
  expect(asked()).toBe(1);
  await clock.advance(401);
  expect(asked()).toBe(3);
  expect(await outcome).toEqual(RIGHT);
});

test("not more than three times, nor where it does not help, nor past the deadline, nor for long", async () => {
  const always = steady(() => NO_ANSWER);
  const outcome = always.run();
  await always.clock.advance(10_000);
  expect([await outcome, always.asked()]).toEqual([NO_ANSWER, 3]);

  const final: Failed = {
    kind: "failed",
    reason: "resource_unavailable",
    resource: "judge",
    detail: "it refuses the text",
    retryable: false,
  };
  const refusing = steady(() => final);
  expect([await refusing.run(), refusing.asked()]).toEqual([final, 1]);

  const patient = steady(() => ({ ...NO_ANSWER, retryDelayMs: 60_000 }));
  expect([await patient.run(), patient.asked()]).toMatchObject([{ retryDelayMs: 60_000 }, 1]);

  const { clock, asked, run } = judge();
  const late = run({ deadlineMs: clock.now() + 50 });
  await settled();
  asked[0]?.answer({ ...NO_ANSWER, retryDelayMs: 51 });
  expect(await late).toMatchObject({ kind: "failed" });
  expect(asked).toHaveLength(1);
});

test("a verifier that throws is a bug: it is told, and the sample has no reward", async () => {
  const { clock, asked, run, failures } = judge();
  const outcome = run({ deadlineMs: clock.now() + 1 });
  await settled();
  asked[0]?.fail(new Error("oh"));
  expect(await outcome).toMatchObject({ kind: "failed", reason: "internal", retryable: true });
  expect(failures).toEqual([new Error("oh")]);
});

test("a resource that fails again and again is down: told once, not asked, and asked again after a while", async () => {
  let answer: Answer = { ...NO_ANSWER, retryDelayMs: 60_000 };
  const { clock, run, asked, changes } = steady(() => answer);
  for (let i = 0; i < FAILURES_MAX; i++) await run();
  expect(changes).toEqual([["judge", "the judge hung up"]]);
  expect(await run()).toMatchObject({
    reason: "resource_unavailable",
    resource: "flaky-judge",
    retryable: true,
    retryDelayMs: 1000,
    detail: "resource 'judge' is down: the judge hung up",
  });
  expect(asked()).toBe(FAILURES_MAX);
  await clock.advance(1000);
  expect(changes.at(-1)).toEqual(["judge", undefined]);
  // One failure now suffices, and the gate then waits twice as long.
  await run();
  expect(asked()).toBe(FAILURES_MAX + 1);
  expect(await run()).toMatchObject({ retryDelayMs: 2000 });
  await clock.advance(2000);
  answer = RIGHT;
  expect(await run()).toEqual(RIGHT);
  expect(changes.map(([, down]) => down !== undefined)).toEqual([true, false, true, false]);
  answer = { ...NO_ANSWER, retryDelayMs: 60_000 };
  await run();
  expect(changes).toHaveLength(4);
});

test("time that the callers themselves did not give says nothing of the resource", async () => {
  const { clock, asked, run, changes } = judge();
  for (let i = 0; i < FAILURES_MAX; i++) {
    const outcome = run({ deadlineMs: clock.now() + 10 });
    await settled();
    await clock.advance(10);
    asked[i]?.answer({ kind: "failed", reason: "timeout", detail: "no verdict within 10 ms", retryable: true });
    expect(await outcome).toMatchObject({ kind: "failed", reason: "timeout" });
  }
  expect(changes).toEqual([]);
});

test("one that can be probed is told to be back only when it answers", async () => {
  let down = true;
  let probes = 0;
  const probe = async (): Promise<Failed | undefined> => {
    probes++;
    return down ? NO_ANSWER : undefined;
  };
  const { clock, run, changes } = steady(() => ({ ...NO_ANSWER, retryDelayMs: 60_000 }), { probe });
  for (let i = 0; i < FAILURES_MAX; i++) await run();
  await clock.advance(1000 + 2000);
  expect([probes, changes.length]).toEqual([2, 1]);
  down = false;
  await clock.advance(4000);
  expect([probes, changes.at(-1)]).toEqual([3, ["judge", undefined]]);
});

test("those who wait for a resource that goes down do not wait in vain", async () => {
  const { asked, run } = judge({ concurrencyMax: 1, waitingMax: 100, heldBytesMax: 1000 });
  const outcomes = Array.from({ length: 20 }, () => run());
  for (let i = 0; i < FAILURES_MAX; i++) {
    await settled();
    asked[i]?.answer({ ...NO_ANSWER, retryDelayMs: 60_000 });
  }
  const kinds = (await Promise.all(outcomes)).map((outcome) => outcome.kind === "failed" && outcome.reason);
  expect(kinds).toEqual(Array(20).fill("resource_unavailable"));
  expect(asked).toHaveLength(FAILURES_MAX);
});

test("a resource whose verifier tries again itself is attempted once", async () => {
  const attempts: number[] = [];
  const { run, asked } = steady((attempt) => (attempts.push(attempt), NO_ANSWER), { attemptsMax: 1 });
  expect(await run()).toEqual(NO_ANSWER);
  expect([attempts, asked()]).toEqual([[1], 1]);
});

describe("who asks shares the resource with others", () => {
  const one = { concurrencyMax: 1, waitingMax: 100, heldBytesMax: 1000 };
  /**
   * Sends requests of each party in order, answers each after a second, and returns the parties in the order of
   * service.
   */
  async function order(wanted: readonly (readonly [party: Party, count: number])[], resource: Partial<Resource> = one) {
    const { clock, resources, whole } = judge(resource);
    const served: string[] = [];
    const outcomes = wanted.flatMap(([of, count]) =>
      Array.from({ length: count }, () => {
        const verify = async (): Promise<Answer> => {
          served.push(of.connection);
          await new Promise<void>((resolve) => clock.setTimer(1000, resolve));
          return RIGHT;
        };
        return resources.run(whole, { ...ANY, party: of, verify });
      }),
    );
    for (let i = 0; i < outcomes.length; i++) await clock.advance(1000);
    await Promise.all(outcomes);
    return served.join("");
  }

  test.each<readonly [string, readonly (readonly [Party, number])[], string]>([
    [
      "one behind another's twelve",
      [
        [party("a", "a"), 12],
        [party("b", "b"), 1],
      ],
      "abaaaaaaaaaaa",
    ],
    [
      "one behind twelve of twelve connections elsewhere",
      [..."cdefghijklmn"].map((name) => [party("a", name), 1] as const).concat([[party("b", "b"), 1]]),
      "cbdefghijklmn",
    ],
    [
      "one behind twelve of another connection from the same place",
      [
        [party("a", "a"), 12],
        [party("a", "b"), 1],
      ],
      "abaaaaaaaaaaa",
    ],
    [
      "two that have as much to do",
      [
        [party("a", "a"), 4],
        [party("b", "b"), 4],
      ],
      "abababab",
    ],
    [
      "a run beside an address with two connections",
      [
        [party("a", "a"), 4],
        [party("a", "c"), 4],
        [party("r", "r"), 4],
      ],
      "arcracrcaccc",
    ],
  ])("%s", async (_name, wanted, expected) => {
    const served = await order(wanted);
    if (expected.length > 12 || wanted.length === 2) expect(served).toBe(expected);
    // The run has half of the first turns, however many connections the address has.
    else expect([...served.slice(0, 8)].filter((name) => name === "r")).toHaveLength(4);
  });

  test("who has most waiting makes room for others, and is told to come again", async () => {
    const { asked, run } = judge({ concurrencyMax: 1, waitingMax: 3, heldBytesMax: 1000 });
    const many = Array.from({ length: 4 }, () => run({ party: party("a", "a") }));
    await settled();
    const other = run({ party: party("b", "b") });
    expect(await many[3]).toMatchObject({ reason: "overloaded", retryable: true });
    // A party that would then hold more than its share makes no place for itself: its own request is refused.
    const second = run({ party: party("b", "b") });
    expect(await second).toMatchObject({ reason: "overloaded" });
    for (let i = 0; i < 4; i++) {
      asked[i]?.answer(RIGHT);
      await settled();
    }
    expect(await Promise.all([...many.slice(0, 3), other])).toEqual(Array(4).fill(RIGHT));
  });

  test("the same where it is bytes that are held", async () => {
    const { run } = judge({ concurrencyMax: 1, waitingMax: 100, heldBytesMax: 1000 });
    const many = [400, 300, 300].map((bytes) => run({ bytes, party: party("a", "a") }));
    await settled();
    void run({ bytes: 200, party: party("b", "b") });
    expect(await many[2]).toMatchObject({ reason: "overloaded" });
  });
});

test("a token with 256 runs and connections is one caller: another's program is the next", async () => {
  const { asked, run } = judge({ waitingMax: 1000 });
  for (let i = 0; i < 256; i++) {
    void run({ party: runParty(`run-${i}`, "hostile") });
    void run({ party: partyOf({ caller: "hostile", peer: `10.0.0.1:${i}` }) });
  }
  void run({ party: partyOf({ caller: "other", peer: "10.0.0.1:256" }) });
  await settled();
  expect(asked.map(({ context }) => context.party?.caller)).toEqual(["token hostile", "token hostile"]);
  asked[0]?.answer(RIGHT);
  await settled();
  expect(asked[2]?.context.party?.caller).toBe("token other");
});

test("a resource with turns of its own takes some of each caller, however many another has there", async () => {
  const { asked, run } = judge({ concurrencyMax: 4, concurrencyEach: 2, waitingMax: 100 });
  for (let i = 0; i < 10; i++) void run({ party: party("many", `${i}`) });
  for (let i = 0; i < 3; i++) void run({ party: party("few") });
  await settled();
  const callers = () => asked.map(({ context }) => context.party?.caller);
  expect(callers()).toEqual(["many", "many", "many", "many", "few", "few"]);
  // The third request takes the place that its caller's first one leaves.
  asked[4]?.answer(RIGHT);
  await settled();
  expect(callers().slice(6)).toEqual(["few"]);
});

test("what took all of its time is not tried again here, nor what was refused", async () => {
  for (const reason of ["timeout", "overloaded"] as const) {
    const { run, asked } = steady(() => ({ ...NO_ANSWER, reason, resource: undefined }));
    expect([await run(), asked()]).toMatchObject([{ reason }, 1]);
  }
});
