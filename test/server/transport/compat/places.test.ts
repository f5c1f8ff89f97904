/** Tests of sessions' places: a caller may have all of them until another wants one. */
import { expect, test } from "vitest";
import { createPlaces, type SessionPlace } from "../../../../server/transport/compat/session-places.ts";

interface Held extends SessionPlace {
  readonly ended: () => boolean;
}

/** Returns a session's place. `idleMs` is undefined while the server answers the session. */
function place(caller: string, idleMs: number | undefined): Held {
  let ended = false;
  return {
    caller,
    idleSinceMs: idleMs === undefined ? undefined : performance.now() - idleMs,
    giveUp: () => (ended = true),
    ended: () => ended,
  };
}

test("a caller that has all places gives the one that is idle longest to another", () => {
  const places = createPlaces(4);
  const mine = [20, 30, undefined, 10].map((idleMs) => place("mine", idleMs));
  for (const each of mine) expect(places.enter(each)).toBe(true);
  expect(places.enter(place("mine", 0))).toBe(false);
  expect([places.enter(place("other", 0)), places.enter(place("other", 0))]).toEqual([true, true]);
  expect(mine.map(({ ended }) => ended())).toEqual([true, true, false, false]);
  // Each caller has two places now.
  expect(places.enter(place("other", 0))).toBe(false);
  expect(places.enter(place("third", 0))).toBe(true);
});

test("a session that is worked on keeps its place", () => {
  const places = createPlaces(2);
  const busy = [place("mine", undefined), place("mine", undefined)];
  for (const each of busy) places.enter(each);
  expect(places.enter(place("other", 0))).toBe(false);
  expect(busy.map(({ ended }) => ended())).toEqual([false, false]);
});

test("while all places are taken, a minute without a request is enough to lose one", () => {
  const places = createPlaces(2);
  const idle = place("mine", 61_000);
  places.enter(place("mine", 59_000));
  places.enter(idle);
  expect(places.enter(place("mine", 0))).toBe(true);
  expect(idle.ended()).toBe(true);
  expect(places.enter(place("mine", 0))).toBe(false);
});

test("a place that is left is free", () => {
  const places = createPlaces(1);
  const gone = place("mine", 0);
  places.enter(gone);
  places.leave(gone);
  expect(places.enter(place("other", 0))).toBe(true);
  expect(gone.ended()).toBe(false);
});
