/**
 * Locks that are identified by names, among the servers of a database. A lock is a row that its holder renews; a row
 * that was not renewed for a while is free. PostgreSQL's own locks are not used: they would need a transaction that
 * stays open for hours, which prevents vacuuming.
 */
import { randomBytes } from "node:crypto";
import type { Holds } from "../evaluation-store.ts";
import type { Connections } from "./database.ts";

/** Time that a lock lasts without renewal, in milliseconds. A holder that was paused for longer may have lost it. */
export const HOLD_MS = 15_000;

export function postgresHolds(calls: Connections, holdMs = HOLD_MS): Holds {
  return {
    async hold(name, onLost = () => undefined) {
      const holder = randomBytes(8);
      const held = await calls.query("hold", [name, holder, holdMs]);
      if (held.length === 0) return undefined;
      let keptAtMs = performance.now();
      const stop = (): void => clearInterval(timer);
      const renew = async (): Promise<void> => {
        const askedAtMs = performance.now();
        const isKept = await calls.query("keepHold", [name, holder, holdMs]).then(
          (rows) => rows.length > 0,
          // While the database is away, no other server can take the lock, so the holder keeps it until it expires.
          () => performance.now() - keptAtMs < holdMs,
        );
        if (isKept) return void (keptAtMs = askedAtMs);
        stop();
        onLost();
      };
      const timer = setInterval(() => void renew(), holdMs / 3);
      timer.unref();
      return () => {
        stop();
        // If releasing fails, the lock expires.
        calls.query("release", [name, holder]).catch(() => undefined);
      };
    },
  };
}
