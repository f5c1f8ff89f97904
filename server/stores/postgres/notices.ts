/**
 * Tells the other servers of a database, by NOTIFY, which runs were written to. Notices are only hints: some databases
 * and poolers deliver none. So servers with waiting calls also read their runs from time to time.
 */
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { CONNECT_MS, type Connections } from "./database.ts";
import { statements } from "./statements.ts";

/**
 * Minimum time between two notices of this server, in milliseconds. The later notice names all runs written in between.
 */
const GAP_MS = 20;
/** Maximum number of runs that one notice names, because its text must be shorter than 8,000 bytes. */
const NAMED_MAX = 256;
/** Delay after a failure before the next attempt, in milliseconds. */
const RETRY_MS = 5000;

export function createNotices(url: string, calls: Connections) {
  const name = randomUUID();
  const heard = new EventEmitter().setMaxListeners(0);
  const written = new Set<number>();
  let [isSending, isClosed] = [false, false];
  let ear: pg.Client | undefined;

  const send = async (): Promise<void> => {
    isSending = true;
    while (written.size > 0 && !isClosed) {
      const named = [...written].slice(0, NAMED_MAX);
      for (const key of named) written.delete(key);
      const notify = calls.query("notify", [[name, ...named].join(" ")]);
      const pauseMs = await notify.then(
        () => GAP_MS,
        () => RETRY_MS,
      );
      await sleep(pauseMs, undefined, { ref: false });
    }
    isSending = false;
  };
  const connect = (): void => {
    ear = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, application_name: "gradus" });
    ear.on("notification", ({ payload = "" }) => {
      const [from, ...keys] = payload.split(" ");
      if (from !== name) for (const key of keys) heard.emit(key);
    });
    ear.on("error", () => undefined);
    ear.on("end", () => {
      if (!isClosed) setTimeout(connect, RETRY_MS).unref();
    });
    const made = ear;
    const listening = made.connect().then(() => made.query(statements.listen));
    listening.catch(() => made.end());
  };

  return {
    /** Tells the other servers that this server wrote to a run. */
    tell: (key: number): void => {
      written.add(key);
      if (!isSending) void send();
    },
    /** Calls `onChange` whenever another server wrote to a run. The returned function stops that. */
    listen: (key: number, onChange: () => void) => {
      // The connection for notices is opened at the first call, so a process without waiting calls has none.
      if (ear === undefined) connect();
      heard.on(String(key), onChange);
      return () => heard.off(String(key), onChange);
    },
    close: (): void => {
      isClosed = true;
      void ear?.end();
    },
  };
}
