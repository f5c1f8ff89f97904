/**
 * Mutual exclusion by name among the servers of a database. A hold is a row that its holder renews; the row is free
 * when it was not renewed for a while by the database's clock. A lock bound to a session would have to be an advisory
 * lock, or keep a transaction open for hours, which would prevent vacuuming.
 */
import { randomBytes } from "node:crypto";
import type { Holds } from "../evaluation-store.ts";
import type { Connections } from "./database.ts";

/**
 * How long a hold lasts without renewal, in milliseconds: a holder that was paused for longer may have lost it to
 * another.
 */
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
          // While the database is unreachable, no other server can take the hold, and the holder keeps it until it expires.
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
        // If releasing fails, the hold runs out.
        calls.query("release", [name, holder]).catch(() => undefined);
      };
    },
  };
}
