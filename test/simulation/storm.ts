/**
 * Disturbs replicas, by a seed and one fault after the other. It kills and restarts them and the database, and stops
 * replicas in the midst of a request to the database. It also cuts the database's answers to commits, and makes one
 * replica's judge go and come back.
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Rng } from "../../envs/lib/rng.ts";
import type { Postgres } from "../support/postgres.ts";
import type { Replica, Replicas } from "../support/replicas.ts";

/** Time for which a replica is stopped, in milliseconds. */
export const PAUSE_MS = 3_000;

/** Connection to the database that can inject a fault into its replica's next query. */
export interface Link {
  readonly port: number;
  /** The next request's answer is not heard, and the connection is cut. */
  cutNextAnswer(): void;
  /** Calls back when the next request of this kind has gone on to the database. */
  onNext(pattern: RegExp, callback: () => void): void;
  /** Cancels the faults that were ordered and have not happened yet. */
  calm(): void;
  close(): void;
}

export async function startLink(target: number): Promise<Link> {
  const open = new Set<Socket>();
  let cutting = false;
  let waiting: { readonly pattern: RegExp; readonly callback: () => void } | undefined;
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const listener = createServer((replica) => {
    const database = connect(target, "127.0.0.1");
    keep(replica);
    keep(database);
    let isCut = false;
    replica.on("data", (bytes) => {
      database.write(bytes);
      const text = bytes.toString("latin1");
      if (cutting && /insert|update|commit|append/i.test(text)) {
        cutting = false;
        isCut = true;
      }
      if (waiting?.pattern.test(text) === true) {
        const { callback } = waiting;
        waiting = undefined;
        callback();
      }
    });
    database.on("data", (bytes) => {
      // The database has executed the query, and the reply is lost.
      if (isCut) replica.destroy();
      else replica.write(bytes);
    });
    replica.on("close", () => database.destroy());
    database.on("close", () => replica.destroy());
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    cutNextAnswer: () => (cutting = true),
    onNext: (pattern, callback) => (waiting = { pattern, callback }),
    calm: () => {
      cutting = false;
      waiting = undefined;
    },
    close: () => {
      for (const socket of open) socket.destroy();
      listener.close();
    },
  };
}

export interface Storm {
  readonly rng: Rng;
  readonly replicas: Replicas;
  readonly links: readonly Link[];
  readonly postgres: Postgres | undefined;
  readonly judge: { isDown: boolean };
  readonly count: (fault: string) => void;
}

/** Stops a replica in the middle of a transaction, with all its locks. */
async function stopForAWhile({ count }: Storm, replica: Replica, link: Link | undefined): Promise<void> {
  await Promise.race([
    sleep(2_000),
    new Promise<void>((resolve) =>
      link === undefined ? resolve() : link.onNext(/for update|insert|update/i, resolve),
    ),
  ]);
  const pid = replica.server?.pid;
  if (pid === undefined) return;
  process.kill(pid, "SIGSTOP");
  count("replica stopped");
  await sleep(PAUSE_MS);
  process.kill(pid, "SIGCONT");
}

/** Kind of fault: kill, stop, database, cut or judge. */
export async function oneFault(storm: Storm, fault: string): Promise<void> {
  const { rng, replicas, links, postgres, judge, count } = storm;
  const i = rng.int(0, replicas.all.length - 1);
  const replica = replicas.all[i] as Replica;
  switch (fault) {
    case "kill":
      await replica.kill("SIGKILL");
      count("replica killed");
      // A server whose connection is cut while it opens the database ends. Its supervisor restarts it.
      links[i]?.calm();
      return replica.start();
    case "stop":
      return stopForAWhile(storm, replica, links[i]);
    case "database":
      if (postgres === undefined) return;
      await postgres.stop("immediate");
      count("database killed");
      await sleep(rng.int(0, 1_000));
      return postgres.start();
    case "cut":
      for (let cuts = rng.int(1, 5); cuts > 0; cuts--) {
        links[i]?.cutNextAnswer();
        count("reply to a commit cut");
        await sleep(rng.int(50, 300));
      }
      return;
    case "judge":
      judge.isDown = !judge.isDown;
      count("judge of one replica gone, or back");
      return;
  }
}

/** Goes on until it is over, and calls back when each kind of fault has been. */
export async function storms(storm: Storm, isOver: () => boolean, onEach: () => void): Promise<void> {
  const { rng } = storm;
  const kinds = ["kill", "stop", "judge", ...(storm.postgres === undefined ? [] : ["cut", "database", "cut"])];
  while (!isOver()) {
    for (const fault of rng.shuffle(kinds)) {
      await sleep(rng.int(500, 2_000));
      if (isOver()) return;
      await oneFault(storm, fault);
    }
    onEach();
  }
}
