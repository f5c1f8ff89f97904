import type { Rng } from "./rng.ts";

/** Some of the numbers 0 … size − 1, each once, in random order; every selection is as likely as any other. */
export function sample(size: number, count: number, rng: Rng): readonly number[] {
  return rng.shuffle(Array.from({ length: size }, (_, i) => i)).slice(0, count);
}
