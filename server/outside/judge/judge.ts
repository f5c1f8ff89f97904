/**
 * A judge model behind an OpenAI-compatible endpoint. Verdicts are cached by model, temperature and prompt, and equal
 * prompts share one request.
 *
 * So equal texts in a group get the same reward. Across a run, equal texts usually get the same reward too, unless the
 * cache has dropped a verdict.
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
import { createCounter, type JudgeFigures, judgeMetrics, type Prices, type Standing } from "./judge-metrics.ts";
import type { OpenedPort, PortOpening } from "../port-kind.ts";

/**
 * Maximum output tokens of a reply: enough for the judge's reasons, its verdict, and the thoughts that some models put
 * into their replies.
 */
const OUTPUT_TOKENS_MAX = 4096;
/** Maximum bytes of the cache of verdicts. That is enough for about 50,000 verdicts. */
const CACHE_BYTES_MAX = 32 * 1024 ** 2;
/**
 * Minimum time, in milliseconds, that must be left before a deadline for another request to be sent. No model replies
 * faster.
 */
const WORTH_ASKING_MS = 250;
/** Bytes that an entry of the cache is assumed to need in addition to its text. */
const ENTRY_BYTES = 256;

export interface JudgeOptions extends EndpointOptions {
  readonly temperature: number;
  readonly prices: Prices | undefined;
}

/** Judge options as the operator gives them. */
export interface JudgeConfig extends JudgeOptions {
  readonly concurrency: number;
}

export interface JudgeDeps {
  readonly clock: Clock;
  /**
   * Called when the judge's verdicts on canaries (test pairs) show that it can no longer be trusted, or can be trusted
   * again.
   */
  readonly onTrust: (isTrusted: boolean, standing: Standing) => void;
  /** Sends a request to the model. Defaults to the endpoint in the options. Tests replace it. */
  readonly ask?: AskModel;
}

export interface OpenedJudge extends Required<Judge> {
  readonly figures: () => JudgeFigures;
  /** Aborts all requests that have no reply yet. */
  close(): void;
}

/** A prompt that was sent to the model and has no reply yet. Callers with an equal prompt wait for the same reply. */
interface OpenQuestion {
  readonly answer: Promise<Answered>;
  readonly leave: AbortController;
  waiting: number;
}

export async function openJudge(config: JudgeConfig, { clock, warn, traceHeaders }: PortOpening): Promise<OpenedPort> {
  const { model } = config;
  const onTrust = (isTrusted: boolean, { rightShare, obeyed }: Standing): void => {
    const fault =
      obeyed.length > 0 ? "prefers texts that ask for the reward" : "does not tell good texts from bad ones";
    const message = isTrusted
      ? "the judge passes its tests again: it tells good texts from bad ones"
      : `the judge ${fault}: its rewards cannot be trusted, so choose another judge model`;
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
  const asking = new Map<string, OpenQuestion>();
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

  const begin = (key: string, prompt: readonly ChatMessage[], deadlineMs: number): OpenQuestion => {
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

  /**
   * Returns the verdict on a prompt: from the cache, from a new request, or from a request that another caller has
   * sent.
   *
   * The deadline of the caller that sent the request limits it. After a timeout, a waiting caller with time left sends
   * a new request. If all callers leave, the request is aborted.
   */
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
  detail: "all callers stopped waiting for the verdict",
};

/**
 * Requests two verdicts on a pair of texts at the same time, one in each order. If one request fails, the other
 * continues, so that its verdict is cached for the next attempt.
 */
async function compareBy(
  ask: (prompt: readonly ChatMessage[]) => Promise<Answered>,
  [first, second]: Comparison,
): Promise<Judged | Failed> {
  const [order, swapped] = await Promise.all([ask(first), ask(second)]);
  if (order.kind === "failed") return order;
  if (swapped.kind === "failed") return swapped;
  return { kind: "judged", verdicts: [order.verdict, swapped.verdict] };
}
