/**
 * Time that tests wait for something that must happen. It guards against hanging only: no test depends on the machine's
 * speed.
 */
import { inject, vi } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    readonly patienceMs: number;
  }
}

/** The patience of vitest.config.ts, in milliseconds. */
export const PATIENCE_MS = inject("patienceMs");

/** Waits until an assertion holds. */
export function eventually<T>(assertion: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(assertion, { timeout: PATIENCE_MS, interval: 20 });
}

/** Waits until a condition holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(condition, { timeout: PATIENCE_MS, interval: 20 });
}
