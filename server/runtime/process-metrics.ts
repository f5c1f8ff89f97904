/**
 * Adds up the metrics of all processes of one server. Counts of ended processes stay in the sum, because Prometheus
 * would take a lower counter for a restart and count too much.
 */
import type { Worker } from "node:cluster";
import { AggregatorRegistry, type Registry } from "prom-client";

export type Figures = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

export interface ProcessesFigures {
  /** Stores the newest metrics of a process. */
  readonly said: (process: number, figures: Figures) => void;
  readonly ended: (process: number) => void;
  /** Returns the metrics of all processes, added up, in Prometheus's text format. */
  readonly text: () => Promise<string>;
}

export function createProcessesFigures(): ProcessesFigures {
  const newest = new Map<number, Figures>();
  /** Sum of the counters and histograms of all ended processes. */
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
  /** Metrics of the process. Undefined: they cannot be collected now. */
  readonly figures?: Figures | undefined;
}

function isAsked(message: unknown): message is Pick<FiguresMessage, "type"> {
  return typeof message === "object" && message !== null && (message as Partial<FiguresMessage>).type === ASKED;
}

/**
 * Maximum time to wait for a process's metrics, in milliseconds. If it is busy or starting, its last metrics are used.
 */
const ANSWER_MS_MAX = 3000;

/** Requests the metrics of a process, and waits until they are stored, or for at most ANSWER_MS_MAX. */
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

/** Sends this process's metrics to the first process whenever the first process requests them. */
export function sayFigures(registry: Registry): void {
  process.on("message", (message) => {
    if (!isAsked(message)) return;
    const say = (figures?: Figures): void => void process.send?.({ type: ASKED, figures } satisfies FiguresMessage);
    registry.getMetricsAsJSON().then(say, () => say());
  });
}
