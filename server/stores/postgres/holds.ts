/**
 * Who works on what, among the servers of a database: a row that its holder renews, and that is free when it has not been for
 * a while by the database's clock. A lock that goes with a session would be an advisory one, or keep a transaction open for
 * hours, for which nothing could be vacuumed.
 */
import { randomBytes } from "node:crypto";
import type { Holds } from "../evaluation-store.ts";
import type { Connections } from "./database.ts";

/** How long a hold lasts that is not renewed: a holder that was paused for longer may have lost it to another. */
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
          // The database is away: nobody else takes it while it is, until it has run out.
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
        // Where that fails it runs out.
        calls.query("release", [name, holder]).catch(() => undefined);
      };
    },
  };
}
