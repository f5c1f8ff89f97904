/**
 * Whether a level does what a level must, tried on one seed before it is served: the same again for the same seed, a verdict for
 * its reference answer and for nonsense, and the right ones. `gradus env check` tries far more.
 */
import { onOneLine } from "../../../envs/lib/words.ts";
import type { Described, DescribedLevel } from "./described.ts";
import { readFacts } from "./findings.ts";
import { wholeOf } from "./instance.ts";
import type { Failure, Generated, Provider, Verified } from "./provider.ts";

/** Seeds of which one has to have an instance. */
const SEEDS = [0n, 1n, 2n, 3n];
const NONSENSE = "gradus: this is no answer";

/** Why the level is not served; undefined: it is. */
export async function whyNotServed(
  provider: Provider,
  described: Described,
  { name, parametersJson, rows }: DescribedLevel,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { asked } = described;
  const seeds = rows === 0 ? SEEDS : SEEDS.filter((seed) => seed < BigInt(rows));
  const make = () => provider.generate(asked, { level: name, parametersJson, seeds }, { signal });
  const [first, second] = await Promise.all([make(), make()]);
  const place = first.findIndex(({ kind }) => kind === "made");
  const [made, again] = [first[place], second[place]];
  if (made?.kind !== "made") return whyNone(first);
  if (again?.kind !== "made") return `making the same seed again failed: ${whyNone(second)}`;
  const whole = wholeOf(described, made.instance);
  const other = wholeOf(described, again.instance);
  if (typeof whole === "string") return whole;
  if (typeof other === "string") return other;
  if (Buffer.compare(whole.bytes, other.bytes) !== 0 || whole.canonical !== other.canonical)
    return "one seed gave two instances: it depends on more than the seed, e.g. on a random state of its own";
  const ask = (answer: string) => provider.verify(asked, { instance: whole.bytes, answer }, { signal });
  const nonsense = verdictOf(described, await ask(NONSENSE));
  if (nonsense.kind === "none") return `it cannot verify an answer: ${nonsense.why}`;
  if (nonsense.isRight) return "it takes nonsense for a right answer";
  if (whole.reference === undefined) return undefined;
  const reference = verdictOf(described, await ask(whole.reference));
  if (reference.kind === "none") return `it cannot verify its own reference answer: ${reference.why}`;
  return reference.isRight ? undefined : "it takes its own reference answer for wrong";
}

function whyNone(results: readonly Generated[]): string {
  const failed = results.find((result): result is Failure => result.kind === "failure");
  if (failed !== undefined) return `making an instance failed (${failed.failure}): ${onOneLine(failed.detail)}`;
  const exhausted = results.find((result) => result.kind === "exhausted");
  return exhausted === undefined ? "it gave nothing" : `its seeds have no instances: ${onOneLine(exhausted.message)}`;
}

type Judged = { readonly kind: "verdict"; readonly isRight: boolean } | { readonly kind: "none"; readonly why: string };

function verdictOf(described: Described, verified: Verified): Judged {
  if (verified.kind === "failure") return { kind: "none", why: `${verified.failure}: ${onOneLine(verified.detail)}` };
  const read = readFacts(described, verified.facts);
  if (read.kind === "wrong") return { kind: "none", why: read.why };
  const { facts } = read;
  return { kind: "verdict", isRight: facts.kind === "feasible" || (facts.kind === "graded" && facts.solved) };
}
