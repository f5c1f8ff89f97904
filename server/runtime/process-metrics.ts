/**
 * Adds up the metrics of the processes of one server. The counts of an ended process stay in the sum. Otherwise a
 * counter would go down, and Prometheus would read that as a restart and count all its past again.
 */
import type { Worker } from "node:cluster";
import { AggregatorRegistry, type Registry } from "prom-client";

/** Metrics of one process. */
export type Figures = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

export interface ProcessesFigures {
  /** Stores the newest metrics of a process. */
  readonly said: (process: number, figures: Figures) => void;
  readonly ended: (process: number) => void;
  /** Returns the sum in Prometheus's text format. */
  readonly text: () => Promise<string>;
}

export function createProcessesFigures(): ProcessesFigures {
  const newest = new Map<number, Figures>();
  /** Sum of the counts of all ended processes. */
  let past: Figures = [];
  return {
    said: (process, figures) => void newest.set(process, figures),
    ended(process) {
      const counted = (newest.get(process) ?? []).filter(({ type }) => ["counter", "histogram"].includes(String(type)));
      newest.delete(process);
      const together = AggregatorRegistry.aggregate([past, counted]);
      past = together.getMetricsAsArray() as unknown as Figures;
    },
    text: () => AggregatorRegistry.aggregate([...newest.values(), past]).metrics(),
  };
}

const ASKED = "gradus:figures";

interface FiguresMessage {
  readonly type: typeof ASKED;
  /** Undefined: the metrics cannot be collected now. */
  readonly figures?: Figures | undefined;
}

function isAsked(message: unknown): message is Pick<FiguresMessage, "type"> {
  return typeof message === "object" && message !== null && (message as Partial<FiguresMessage>).type === ASKED;
}

/**
 * Maximum time to wait for a process, in milliseconds. For a process that is starting or busy, its last metrics count.
 */
const ANSWER_MS_MAX = 3000;

/** Asks a process for its metrics, and waits for the answer. */
export async function askFigures(worker: Worker, { said }: ProcessesFigures): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const hear = (message: unknown): void => {
    if (!isAsked(message) || worker.isDead()) return;
    const { figures } = message as FiguresMessage;
    if (figures !== undefined) said(worker.id, figures);
    resolve();
  };
  const timer = setTimeout(resolve, ANSWER_MS_MAX);
  worker.on("message", hear).once("exit", resolve);
  worker.send({ type: ASKED }, (error) => error && resolve());
  await promise;
  clearTimeout(timer);
  worker.off("message", hear).off("exit", resolve);
}

/** Answers the first process when it asks this process for its metrics. */
export function sayFigures(registry: Registry): void {
  process.on("message", (message) => {
    if (!isAsked(message)) return;
    const say = (figures?: Figures): void => void process.send?.({ type: ASKED, figures } satisfies FiguresMessage);
    registry.getMetricsAsJSON().then(say, () => say());
  });
}
