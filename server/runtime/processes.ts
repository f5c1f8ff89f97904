/**
 * Several processes of one server on one machine, by Node's cluster: the first hands each connection that comes to one of the
 * others, starts again those that die, and has no other part in what they do. They find each other in their store, as
 * replicas on several machines do.
 */
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import type { Registry } from "prom-client";
import type { Config } from "./config.ts";
import { configOptions, variableOf } from "./options.ts";
import { askFigures, createProcessesFigures, type ProcessesFigures, sayFigures } from "./process-figures.ts";
import { say } from "./terminal.ts";

/** Between the deaths of a process and its next start, so that one that cannot live takes no processor from the others. */
const RESTART_MS = 1_000;

/** Whether it is the one that starts the others; of a server of one process it is that one. */
export function isFirstProcess(): boolean {
  return cluster.isPrimary;
}

/** Processes that make tasks share the machine's cores, unless the operator says how many threads each has. */
function variablesOf({ workers, processes }: Config): Readonly<Record<string, string>> {
  const spec = configOptions.workers;
  if (workers !== spec.defaultValue) return {};
  return { [variableOf(spec)]: String(Math.max(2, Math.ceil(workers / processes))) };
}

/**
 * Starts the server's processes, and ends when they have: once told to, which drains them, or at once where one cannot begin.
 * Sets the process's exit code.
 */
export async function superviseProcesses(config: Config, told: Promise<void>): Promise<void> {
  const figures = createProcessesFigures();
  let isStopping = false;
  const stop = (): void => {
    isStopping = true;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGTERM");
  };
  const watchOver = async (): Promise<void> => {
    let hasServed = false;
    while (!isStopping) {
      const worker = cluster.fork(variablesOf(config));
      worker.once("listening", () => (hasServed = true));
      worker.on("message", (message: unknown) => answer(worker, message, figures));
      const [code, signal] = (await once(worker, "exit")) as [number | null, string | null];
      figures.ended(worker.id);
      if (isStopping) {
        process.exitCode ??= code === 0 ? 0 : 1;
        return;
      }
      // It said why: an option, a port, a replica that differs. Where it served before, it may be able to again: what it lacks
      // now, as its database, may come back, and the others serve meanwhile.
      if (!hasServed && code !== null) {
        process.exitCode = code;
        return stop();
      }
      say(`gradus: process ${worker.process.pid} ended with ${signal ?? code}, and is started again`);
      await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
    }
  };
  void told.then(stop);
  await Promise.all(Array.from({ length: config.processes }, watchOver));
  process.exit();
}

// Metrics: whichever process is asked for them answers for all.

const ASKED = "gradus:metrics";

interface Question {
  readonly type: typeof ASKED;
  readonly id: number;
}

type Answer = Question & { readonly text?: string; readonly problem?: string };

function isOurs(message: unknown): message is Answer {
  return typeof message === "object" && message !== null && (message as Partial<Question>).type === ASKED;
}

function answer(worker: Worker, message: unknown, figures: ProcessesFigures): void {
  if (!isOurs(message)) return;
  const reply = (more: Partial<Answer>): void => void (worker.isConnected() && worker.send({ ...message, ...more }));
  const all = Object.values(cluster.workers ?? {}).filter((each) => each?.isConnected() === true);
  const asked = Promise.all(all.map((each) => askFigures(each as Worker, figures)));
  asked.then(figures.text).then(
    (text) => reply({ text }),
    (error: unknown) => reply({ problem: String(error) }),
  );
}

/** Gives the metrics of all processes of the server, of which this is one, in Prometheus's text format. */
export function ofAllProcesses(registry: Registry): () => Promise<string> {
  if (!cluster.isWorker) return () => registry.metrics();
  // The first process asks all in turn.
  sayFigures(registry);
  const waiting = new Map<number, PromiseWithResolvers<string>>();
  let ids = 0;
  process.on("message", (message) => {
    if (!isOurs(message)) return;
    const { id, text, problem } = message;
    if (text === undefined) waiting.get(id)?.reject(new Error(problem));
    else waiting.get(id)?.resolve(text);
    waiting.delete(id);
  });
  // Listening keeps the channel, and with it the process; a server has its ports for that.
  process.channel?.unref();
  return () => {
    const asked = Promise.withResolvers<string>();
    waiting.set(++ids, asked);
    process.send?.({ type: ASKED, id: ids } satisfies Question);
    return asked.promise;
  };
}
