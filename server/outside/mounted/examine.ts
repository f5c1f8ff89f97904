/**
 * Whether a level does what a level must, tried on a few seeds before it is served: the same again for the same seed, a verdict
 * for its reference answer and for nonsense, and the right ones. `gradus env check` tries far more.
 */
import { onOneLine } from "../../../envs/lib/words.ts";
import type { Described, DescribedLevel } from "./described.ts";
import { readFacts } from "./findings.ts";
import { wholeOf, type WholeInstance } from "./instance.ts";
import { type Failure, type Generated, NOTHING, type Provider, type Verified } from "./provider.ts";

/** Seeds of which one has to have an instance; rows, where there are some. */
const SEEDS = [0n, 1n, 2n, 3n];
/** An instance that is made in less is cheap: further seeds are tried. */
const CHEAP_MS = 200;
const NONSENSE = "gradus: this is no answer";
/** Scorers that measure a distance take it for the nearest number. Those that raise at it give no reward for it. */
const NO_NUMBER = "nan";

export type Finding =
  | { readonly kind: "lawful" }
  /** It is not served, and why. */
  | { readonly kind: "unlawful"; readonly why: string }
  /** It could not be asked: nothing was found of it. */
  | { readonly kind: "unavailable"; readonly why: string };

/** Never rejects, as providers do not. */
export async function tryLevel(
  provider: Provider,
  described: Described,
  level: DescribedLevel,
  signal: AbortSignal,
): Promise<Finding> {
  const finding = await new Trial(provider, described, level, signal).run();
  return signal.aborted ? { kind: "unavailable", why: "the server stops" } : finding;
}

const LAWFUL: Finding = Object.freeze({ kind: "lawful" });

class Trial {
  readonly #provider: Provider;
  readonly #described: Described;
  readonly #level: DescribedLevel;
  readonly #signal: AbortSignal;

  constructor(provider: Provider, described: Described, level: DescribedLevel, signal: AbortSignal) {
    this.#provider = provider;
    this.#described = described;
    this.#level = level;
    this.#signal = signal;
  }

  async run(): Promise<Finding> {
    const { rows } = this.#level;
    let first: { readonly seed: bigint; readonly whole: WholeInstance } | undefined;
    let message = "it has none";
    let isCheap = true;
    for (const seed of rows === 0 ? SEEDS : SEEDS.filter((row) => row < BigInt(rows))) {
      const beganMs = performance.now();
      const generated = await this.#make(seed);
      if (generated.kind === "failure") return failed("making an instance failed", generated);
      if (generated.kind === "exhausted") {
        ({ message } = generated);
        continue;
      }
      const whole = wholeOf(this.#described, generated.instance);
      if (typeof whole === "string") return unlawful(whole);
      first ??= { seed, whole };
      const finding = await this.#tryAnswers(whole);
      if (finding.kind !== "lawful") return finding;
      isCheap &&= performance.now() - beganMs <= CHEAP_MS;
      if (!isCheap) break;
    }
    if (first === undefined) return unlawful(`its seeds have no instances: ${onOneLine(message)}`);
    const again = await this.#tryAgain(first.seed, first.whole, false);
    // Once more by a process that has done nothing before: what depends on the process is found out before it is served.
    return again.kind === "lawful" && isCheap ? this.#tryAgain(first.seed, first.whole, true) : again;
  }

  async #make(seed: bigint, fresh = false): Promise<Generated> {
    const { name: level, parametersJson } = this.#level;
    const asked = { level, parametersJson, seeds: [seed] };
    const [generated = NOTHING] = await this.#provider.generate(this.#described.asked, asked, {
      signal: this.#signal,
      fresh,
    });
    return generated;
  }

  async #tryAgain(seed: bigint, before: WholeInstance, fresh: boolean): Promise<Finding> {
    const again = await this.#make(seed, fresh);
    if (again.kind === "failure") return failed("making the same seed again failed", again);
    if (again.kind === "exhausted") return unlawful("one seed has an instance, and then it has none");
    const whole = wholeOf(this.#described, again.instance);
    if (typeof whole === "string") return unlawful(whole);
    if (Buffer.compare(whole.bytes, before.bytes) === 0 && whole.canonical === before.canonical) return LAWFUL;
    return unlawful(
      fresh
        ? "one seed gave another instance in another process: it depends on more than the seed, e.g. on the clock, or the process"
        : "one seed gave two instances: it depends on more than the seed, e.g. on a random state of its own",
    );
  }

  async #tryAnswers({ bytes: instance, reference }: WholeInstance): Promise<Finding> {
    const ask = async (answer: string): Promise<Judged> =>
      verdictOf(
        this.#described,
        await this.#provider.verify(this.#described.asked, { instance, answer }, { signal: this.#signal }),
      );
    const nonsense = await ask(NONSENSE);
    if (nonsense.kind === "none") return nonsense.found("it cannot verify an answer");
    const number = reference === NO_NUMBER ? undefined : await ask(NO_NUMBER);
    for (const [answer, judged] of [[NONSENSE, nonsense] as const, [NO_NUMBER, number] as const])
      if (judged?.kind === "verdict" && judged.isRight)
        return unlawful(`it takes nonsense for a right answer: '${answer}'`);
    if (reference === undefined) return LAWFUL;
    const right = await ask(reference);
    if (right.kind === "none") return right.found("it cannot verify its own reference answer");
    return right.isRight ? LAWFUL : unlawful("it takes its own reference answer for wrong");
  }
}

const unlawful = (why: string): Finding => ({ kind: "unlawful", why });

function failed(what: string, { failure, detail }: Failure): Finding {
  const kind = failure === "unavailable" ? "unavailable" : "unlawful";
  return { kind, why: `${what} (${failure}): ${onOneLine(detail)}` };
}

type Judged =
  | { readonly kind: "verdict"; readonly isRight: boolean }
  | { readonly kind: "none"; readonly found: (what: string) => Finding };

function verdictOf(described: Described, verified: Verified): Judged {
  if (verified.kind === "failure") return { kind: "none", found: (what) => failed(what, verified) };
  const read = readFacts(described, verified.facts);
  if (read.kind === "wrong") return { kind: "none", found: (what) => unlawful(`${what}: ${read.why}`) };
  const { facts } = read;
  return { kind: "verdict", isRight: facts.kind === "feasible" || (facts.kind === "graded" && facts.solved) };
}
