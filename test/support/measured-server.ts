/** The real server as a child process whose memory can be asked for. */
import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import nodeFlags from "../../cli/node-flags.json" with { type: "json" };

export interface MeasuredServer {
  readonly grpcPort: number;
  readonly httpPort: number;
  /** Lines of its log so far. */
  readonly lines: readonly string[];
  /** Returns the exit code, or the signal that ended the server; undefined: the server runs. */
  ended(): number | NodeJS.Signals | undefined;
  /** Returns the memory that the server holds after garbage collections, in bytes. */
  memory(): Promise<NodeJS.MemoryUsage>;
  stop(): Promise<number | NodeJS.Signals>;
}

type Message = { readonly grpcPort: number; readonly httpPort: number } | { readonly memory: NodeJS.MemoryUsage };

/** Starts a server; flags as `gradus serve` takes them, in camel case. */
export async function startMeasured(
  flags: Readonly<Record<string, string | readonly string[]>>,
): Promise<MeasuredServer> {
  const entry = fileURLToPath(new URL("./measured-server-entry.ts", import.meta.url));
  const given = { port: "0", httpPort: "0", logFormat: "json", ...flags };
  const execArgv = ["--expose-gc", ...nodeFlags];
  const child = fork(entry, [JSON.stringify(given)], { execArgv, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream as NodeJS.ReadableStream).on("line", (line) => lines.push(line));
  let end: number | NodeJS.Signals | undefined;
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once("exit", (code, signal) => resolve((end = code ?? signal ?? 0)));
  });
  const answer = async (): Promise<Message> => {
    const ended = exited.then((how) => {
      throw new Error(`the server ended with ${how}:\n${lines.slice(-40).join("\n")}`);
    });
    return Promise.race([new Promise<Message>((resolve) => child.once("message", resolve)), ended]);
  };
  const started = (await answer()) as { readonly grpcPort: number; readonly httpPort: number };
  return {
    ...started,
    lines,
    ended: () => end,
    async memory() {
      child.send("memory");
      return ((await answer()) as { readonly memory: NodeJS.MemoryUsage }).memory;
    },
    stop: () => stop(child, exited),
  };
}

function stop(child: ChildProcess, exited: Promise<number | NodeJS.Signals>): Promise<number | NodeJS.Signals> {
  child.kill("SIGTERM");
  return exited;
}
