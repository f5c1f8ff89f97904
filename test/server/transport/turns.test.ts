/** Tests of turns, counted in rounds of the event loop and in calls that began, not in time. */
import { create } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "vitest";
import { StepResponseSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { createTurns, UNREAD_BYTES_MAX } from "../../../server/transport/connection-turns.ts";
import { start, stopAll } from "./fixture.ts";
import { callRaw, connectRaw, frame } from "./grpc/raw.ts";
import { eventually, until } from "../../support/patience.ts";

afterEach(stopAll);

const round = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Works for longer than one round allows. */
function dear(ms = 3): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe("work that comes in one piece", () => {
  test("is done at once where there is little of it", () => {
    const done: number[] = [];
    const connection = createTurns(10_000)({});
    for (let i = 0; i < 3; i++) connection.take(() => done.push(i));
    expect(done).toEqual([0, 1, 2]);
  });

  test("is spread over rounds of the event loop where there is much", async () => {
    let done = 0;
    const connection = createTurns()({});
    for (let i = 0; i < 5; i++) {
      connection.take(() => {
        dear();
        done++;
      });
    }
    const seen = [done];
    while (done < 5) {
      await round();
      seen.push(done);
    }
    for (const [i, each] of seen.entries()) expect(each - (seen[i - 1] ?? 0)).toBeLessThanOrEqual(1);
  });

  test("is done for one connection after the other, in the order of each", async () => {
    const done: string[] = [];
    const turns = createTurns();
    const [many, few] = [turns({}), turns({})];
    const work = (name: string) => () => {
      dear();
      done.push(name);
    };
    for (let i = 0; i < 4; i++) many.take(work(`many ${i}`));
    few.take(work("few"));
    await until(() => done.length === 5);
    expect(done).toEqual(["many 0", "many 1", "few", "many 2", "many 3"]);
  });

  test("is done for one address after the other, however many connections an address has", async () => {
    const done: string[] = [];
    const turns = createTurns();
    const work = (name: string) => () => {
      dear();
      done.push(name);
    };
    for (let i = 0; i < 4; i++) turns({ remoteAddress: "many" }).take(work(`many ${i}`));
    // A session has the address of its socket.
    turns({ socket: { remoteAddress: "few" } }).take(work("few"));
    await until(() => done.length === 5);
    expect(done.indexOf("few")).toBeLessThanOrEqual(2);
  });

  test("rests after long work, so that all turns of another address's call come first", async () => {
    const done: string[] = [];
    const turns = createTurns();
    const [long, short] = [turns({ remoteAddress: "long" }), turns({ remoteAddress: "short" })];
    short.take(() => done.push("before"));
    for (const name of ["long 0", "long 1"]) {
      long.take(() => {
        dear(200);
        done.push(name);
      });
    }
    const step = (turnsLeft: number): void => {
      done.push(`short ${turnsLeft}`);
      if (turnsLeft > 0) setImmediate(() => short.take(() => step(turnsLeft - 1)));
    };
    short.take(() => step(3));
    await until(() => done.length === 7);
    expect(done).toEqual(["before", "long 0", "short 3", "short 2", "short 1", "short 0", "long 1"]);
  });

  test("does not rest while nobody else calls", async () => {
    const done: string[] = [];
    const alone = createTurns()({ remoteAddress: "alone" });
    alone.take(() => dear(200));
    alone.take(() => done.push("at once"));
    await round();
    await round();
    expect(done).toEqual(["at once"]);
  });

  test("and what is being worked on goes before what comes", async () => {
    const done: string[] = [];
    const connection = createTurns()({});
    for (const name of ["a", "b"]) {
      connection.begin(() => {
        dear();
        connection.take(() => done.push(name));
        done.push(`begins ${name}`);
      });
    }
    await until(() => done.length === 4);
    expect(done).toEqual(["begins a", "a", "begins b", "b"]);
  });

  test("is not begun for who has left by then", async () => {
    const done: string[] = [];
    const connection = createTurns()({});
    const begin = (name: string): (() => void) =>
      connection.begin(() => {
        dear();
        done.push(name);
      });
    begin("first");
    const leave = begin("gone");
    begin("last");
    leave();
    await until(() => done.includes("last"));
    expect(done).toEqual(["first", "last"]);
  });

  test("waits while the connection does not read its answers, and nobody else's does", () => {
    const done: string[] = [];
    const turns = createTurns();
    const unread = turns({});
    unread.wrote(UNREAD_BYTES_MAX + 1);
    unread.take(() => done.push("unread"));
    turns({}).take(() => done.push("other"));
    expect(done).toEqual(["other"]);
    unread.wrote(-1);
    return until(() => done.length === 2);
  });
});

const large = "x".repeat(128 * 1024);
/** Number of unread answers after which the server begins no more calls of a connection. */
const unreadMax = UNREAD_BYTES_MAX / large.length;

/** Starts a server whose answers have 128 KiB; also returns the number of calls that began. */
async function withLargeAnswers() {
  let begun = 0;
  const step = async () => {
    begun++;
    return create(StepResponseSchema, { outcome: { feedback: { detail: large } } });
  };
  const server = await start({ step }, { maxConcurrentStreams: "1000", maxInflightCalls: "2000" });
  return { server, begun: () => begun };
}

test("of a connection that reads nothing no more calls are worked on than it may leave unread, and all once it reads", async () => {
  const { server, begun } = await withLargeAnswers();
  const session = await connectRaw(server.grpcPort, { settings: { initialWindowSize: 1024 } });
  const calls = Array.from({ length: 400 }, () => callRaw(session, "Step"));
  for (const { stream } of calls) stream.pause().end(frame(new Uint8Array()));
  await eventually(() => expect(begun()).toBeGreaterThan(unreadMax));
  // Other callers are served meanwhile, each in a later round. The number of calls that began in the round which
  // reached the limit depends on the machine. Those calls end, and no other begins.
  const other = server.grpc();
  const serveOthers = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) await other.step({});
  };
  await serveOthers();
  const held = begun();
  await serveOthers();
  expect(begun() - held).toBe(10);
  expect(held).toBeLessThan(calls.length);
  for (const { stream } of calls) stream.resume();
  const ends = await Promise.all(calls.map(({ ended }) => ended));
  expect(new Set(ends.map((status) => status["grpc-status"]))).toEqual(new Set(["0"]));
  expect(begun()).toBe(calls.length + 20);
  session.destroy();
});
