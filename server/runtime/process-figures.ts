/**
 * The metrics of the processes of one server together. What a process had counted when it ended is counted still: a counter
 * that went back would be taken for a restart of all of them, and their whole past for what was done since.
 */
import type { Worker } from "node:cluster";
import { AggregatorRegistry, type Registry } from "prom-client";

/** Of one process. */
export type Figures = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

export interface ProcessesFigures {
  /** A process's newest. */
  readonly said: (process: number, figures: Figures) => void;
  readonly ended: (process: number) => void;
  /** Prometheus's text format. */
  readonly text: () => Promise<string>;
}

export function createProcessesFigures(): ProcessesFigures {
  const newest = new Map<number, Figures>();
  /** What those that ended had counted, as one. */
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

interface Said {
  readonly type: typeof ASKED;
  /** Undefined: they cannot be had now. */
  readonly figures?: Figures | undefined;
}

function isAsked(message: unknown): message is Pick<Said, "type"> {
  return typeof message === "object" && message !== null && (message as Partial<Said>).type === ASKED;
}

/** A process that begins, or is held up, is passed over: what it said last is told. */
const ANSWER_MS_MAX = 3000;

/** Has a process say its figures. */
export async function askFigures(worker: Worker, { said }: ProcessesFigures): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const hear = (message: unknown): void => {
    if (!isAsked(message) || worker.isDead()) return;
    const { figures } = message as Said;
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

/** In a process that is asked. */
export function sayFigures(registry: Registry): void {
  process.on("message", (message) => {
    if (!isAsked(message)) return;
    const say = (figures?: Figures): void => void process.send?.({ type: ASKED, figures } satisfies Said);
    registry.getMetricsAsJSON().then(say, () => say());
  });
}
