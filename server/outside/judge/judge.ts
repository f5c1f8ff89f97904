/**
 * A judge model behind an OpenAI-compatible endpoint. Verdicts are remembered by all that they depend on, and a prompt
 * that several ask at once is asked once: the same text gets the same reward within a group and, mostly, within a run.
 */
import { LRUCache } from "lru-cache";
import type { Failed } from "../../../envs/facts.ts";
import type { ChatMessage } from "../../../envs/prompt.ts";
import { hashKey } from "../../../envs/lib/rng.ts";
import type { AskContext, Comparison, Judge, Judged, Verdict } from "../../../envs/ports.ts";
import { comparisonOf } from "../../../envs/writing/question.ts";
import type { Clock } from "../../base/clock.ts";
import { unlessAborted } from "../../base/waiting.ts";
import { type AskModel, createEndpoint, type EndpointOptions } from "../chat-endpoint.ts";
import { type Answered, askForVerdict } from "./ask.ts";
import { createCanaries } from "./canaries.ts";
import { CANARIES } from "./canary-texts.ts";
import { createCounter, type JudgeFigures, judgeMetrics, type Prices, type Standing } from "./counts.ts";
import type { OpenedPort, PortOpening } from "../kind.ts";

/** Reasons before a verdict, a few sentences; the rest is for judges that think in their replies. */
const OUTPUT_TOKENS_MAX = 4096;
/** Verdicts that are remembered: some 50,000 of them. */
const CACHE_BYTES_MAX = 32 * 1024 ** 2;
/** No model gives a verdict in less. */
const WORTH_ASKING_MS = 250;
/** Of an entry, beside its reason. */
const ENTRY_BYTES = 256;

export interface JudgeOptions extends EndpointOptions {
  readonly temperature: number;
  readonly prices: Prices | undefined;
}

/** As the operator says it. */
export interface JudgeConfig extends JudgeOptions {
  readonly concurrency: number;
}

export interface JudgeDeps {
  readonly clock: Clock;
  /** Told when canaries say that the judge cannot be believed any more, and when it can be again. */
  readonly onTrust: (isTrusted: boolean, standing: Standing) => void;
  /** Left out: the options' endpoint. */
  readonly ask?: AskModel;
}

export interface OpenedJudge extends Required<Judge> {
  readonly figures: () => JudgeFigures;
  /** Breaks off what is asked. */
  close(): void;
}

/** A prompt that is being asked. */
interface Asking {
  readonly answer: Promise<Answered>;
  readonly leave: AbortController;
  waiting: number;
}

export async function openJudge(config: JudgeConfig, { clock, warn, traceHeaders }: PortOpening): Promise<OpenedPort> {
  const { model } = config;
  const onTrust = (isTrusted: boolean, { rightShare, obeyed }: Standing): void => {
    const fault = obeyed.length > 0 ? "obeys texts that ask for the reward" : "does not tell good texts from bad ones";
    const message = isTrusted
      ? "the judge tells good texts from bad ones again"
      : `the judge ${fault}: look at the model, or change it`;
    warn({ model, rightShare, obeyed }, message);
  };
  const port = createJudge({ ...config, headers: traceHeaders }, { clock, onTrust });
  return {
    kind: "opened",
    port,
    found: { model },
    metrics: judgeMetrics(port.figures),
    close: async () => port.close(),
  };
}

export function createJudge(options: JudgeOptions, { clock, onTrust, ask: given }: JudgeDeps): OpenedJudge {
  const { model, temperature, timeoutMs, prices } = options;
  const counter = createCounter(prices);
  const ask = given ?? createEndpoint({ outputTokensMax: OUTPUT_TOKENS_MAX, ...options });
  const closed = new AbortController();
  const asking = new Map<string, Asking>();
  const known = new LRUCache<string, Verdict>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ reason }) => ENTRY_BYTES + 2 * reason.length,
  });

  const askAnew = (prompt: readonly ChatMessage[], { signal, deadlineMs }: AskContext): Promise<Answered> => {
    const until = { signal: AbortSignal.any([signal, closed.signal]), deadlineMs };
    return askForVerdict({ ask, clock, counter }, prompt, until);
  };
  const soon = (): AskContext => ({ signal: closed.signal, deadlineMs: clock.now() + timeoutMs });
  const canaries = createCanaries({
    compare: (comparison) => compareBy((prompt) => askAnew(prompt, soon()), comparison),
    onJudged: counter.canary,
    onTrust,
  });

  const begin = (key: string, prompt: readonly ChatMessage[], deadlineMs: number): Asking => {
    const leave = new AbortController();
    const answer = askAnew(prompt, { signal: leave.signal, deadlineMs }).then((answered) => {
      if (asking.get(key)?.leave === leave) asking.delete(key);
      if (answered.kind === "verdict") known.set(key, answered.verdict);
      return answered;
    });
    const begun = { answer, leave, waiting: 0 };
    asking.set(key, begun);
    canaries.prompted();
    return begun;
  };

  /** Whoever asks first sets the deadline, after which who has more time asks again; it is broken off when all have left. */
  const verdictOn = async (prompt: readonly ChatMessage[], context: AskContext): Promise<Answered> => {
    const key = hashKey(model, String(temperature), JSON.stringify(prompt));
    const verdict = known.get(key);
    if (verdict !== undefined) {
      counter.remembered();
      return { kind: "verdict", verdict };
    }
    const joined = asking.get(key);
    const going = joined ?? begin(key, prompt, context.deadlineMs);
    going.waiting++;
    const answered = await unlessAborted(going.answer, context.signal);
    if (--going.waiting === 0) {
      going.leave.abort();
      if (asking.get(key) === going) asking.delete(key);
    }
    const isLate = answered?.kind === "failed" && answered.reason === "timeout";
    const hasTime = clock.now() + WORTH_ASKING_MS <= context.deadlineMs;
    return joined !== undefined && isLate && hasTime ? verdictOn(prompt, context) : (answered ?? LEFT);
  };

  return {
    figures: counter.figures,
    close: () => closed.abort(),
    async ask(comparison, context) {
      const found = await compareBy((prompt) => verdictOn(prompt, context), comparison);
      if (found.kind === "judged") counter.compared(found.verdicts);
      return found;
    },
    async probe(context) {
      const [{ candidate, ...conversation }] = CANARIES as [(typeof CANARIES)[number]];
      const [prompt] = comparisonOf(conversation, candidate);
      const answered = await askAnew(prompt, context);
      return answered.kind === "failed" ? answered : undefined;
    },
  };
}

const LEFT: Failed = {
  ...({ kind: "failed", reason: "timeout", retryable: true } as const),
  detail: "nobody waits for the verdict any more",
};

/** Both at once. The one that fails does not end the other, whose verdict is remembered for when it is asked again. */
async function compareBy(
  ask: (prompt: readonly ChatMessage[]) => Promise<Answered>,
  [first, second]: Comparison,
): Promise<Judged | Failed> {
  const [order, swapped] = await Promise.all([ask(first), ask(second)]);
  if (order.kind === "failed") return order;
  if (swapped.kind === "failed") return swapped;
  return { kind: "judged", verdicts: [order.verdict, swapped.verdict] };
}
