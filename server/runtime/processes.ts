/**
 * Runs several processes of one server on one machine, with Node's cluster module. The first process only passes each
 * new connection to another process, and restarts those that die. The processes know each other through their store,
 * like servers on several machines.
 */
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import type { Registry } from "prom-client";
import type { Config } from "./config.ts";
import { configOptions, variableOf } from "./options.ts";
import { askFigures, createProcessesFigures, type ProcessesFigures, sayFigures } from "./process-metrics.ts";
import { say } from "./terminal.ts";

/**
 * Delay before a dead process is restarted, in milliseconds. Without it, a process that cannot start would take
 * processor time from the others.
 */
const RESTART_MS = 1_000;

/** Returns whether this is the first process, which starts the others. True if the server has only one process. */
export function isFirstProcess(): boolean {
  return cluster.isPrimary;
}

/**
 * Returns environment variables for a process. Processes share the machine's cores: each gets its share of worker
 * threads, unless the operator set their number.
 */
function variablesOf({ workers, processes }: Config): Readonly<Record<string, string>> {
  const spec = configOptions.workers;
  if (workers !== spec.defaultValue) return {};
  return { [variableOf(spec)]: String(Math.max(2, Math.ceil(workers / processes))) };
}

/**
 * Starts the server's processes, and resolves when all have ended. They are stopped when the promise `told`
 * resolves, or at once if a process cannot start. Sets the exit code.
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
      // If a process ends that never served, the server stops: the process has logged why, e.g. a wrong option. Other
      // processes are restarted, because the cause may pass, e.g. a database that was away.
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

// Messages by which the processes of a server exchange their metrics. Each process can answer /metrics for all of them.

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

/**
 * Waits for a server's start. Until then, the channel to the first process must keep this process alive, because the
 * first process opens the ports. Afterwards the open ports keep it alive.
 */
export async function untilStarted<T>(start: Promise<T>): Promise<T> {
  try {
    return await start;
  } finally {
    if (cluster.isWorker) process.channel?.unref();
  }
}

/** Returns a function that returns the summed metrics of all processes of this server, in Prometheus's text format. */
export function ofAllProcesses(registry: Registry): () => Promise<string> {
  if (!cluster.isWorker) return () => registry.metrics();
  // The first process requests the metrics of all processes, including this one.
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
  return () => {
    const asked = Promise.withResolvers<string>();
    waiting.set(++ids, asked);
    process.send?.({ type: ASKED, id: ids } satisfies Question);
    return asked.promise;
  };
}
