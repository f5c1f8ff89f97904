/** Tests of how new connections are let in, counted in rounds of the event loop. */
import type { EventEmitter } from "node:events";
import { createServer, Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createArrivals } from "../../../server/transport/arrivals.ts";
import { createTurns } from "../../../server/transport/connection-turns.ts";

const round = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Connection of an address that is never used. */
function socketOf(address: string): Socket {
  return Object.defineProperty(new Socket(), "remoteAddress", { value: address });
}

function watched({ turns = createTurns(), mayConnect = (_: Socket): boolean => true } = {}) {
  const server = createServer();
  const entered: (string | undefined)[] = [];
  server.on("connection", ({ remoteAddress }: Socket) => entered.push(remoteAddress));
  createArrivals(turns, { mayConnect }).watch(server);
  const arrive = (...addresses: string[]): readonly Socket[] => {
    const sockets = addresses.map(socketOf);
    for (const socket of sockets) (server as EventEmitter).emit("connection", socket);
    return sockets;
  };
  return { entered, arrive };
}

describe("connections that arrive together", () => {
  test("are let in one in each round of the event loop, addresses by turns", async () => {
    const { entered, arrive } = watched();
    arrive("many", "many", "many", "one");
    const counts: number[] = [];
    while (entered.length < 4) {
      await round();
      counts.push(entered.length);
    }
    expect(counts).toEqual([1, 2, 3, 4]);
    expect(entered).toEqual(["many", "one", "many", "many"]);
  });

  test("wait while calls wait for their turns, but not for ever", async () => {
    let asked = 0;
    const isIdle = (): boolean => ++asked < 0;
    const { entered, arrive } = watched({ turns: Object.assign(createTurns(), { isIdle }) });
    arrive("one", "two");
    while (asked === 0) await round();
    expect(entered).toEqual(["one"]);
    while (entered.length < 2) await round();
  });

  test("wait while another address calls", async () => {
    let asked = 0;
    const isAlone = (address: string): boolean => ++asked < 0 || address === "";
    const { entered, arrive } = watched({ turns: Object.assign(createTurns(), { isAlone }) });
    arrive("one", "two");
    while (asked === 0) await round();
    expect(entered).toEqual(["one"]);
    while (entered.length < 2) await round();
  });

  test("are dropped if they have ended or are refused", async () => {
    const { entered, arrive } = watched({ mayConnect: ({ remoteAddress }) => remoteAddress !== "refused" });
    const [ended, refused] = arrive("ended", "refused", "sound");
    ended?.destroy();
    while (entered.length === 0) await round();
    expect(entered).toEqual(["sound"]);
    expect(refused?.destroyed).toBe(true);
  });
});
