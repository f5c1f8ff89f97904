/**
 * Runs a host: a local Python process that has loaded a mounted Python file. The host's worker processes connect to a
 * socket of the server. ProviderFrame in provider.proto describes the protocol.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import type { DescribeResponse, ProviderFrame, VerifyResponses } from "../../../proto/gen/gradus/v1/provider_pb.js";
import { listenAt, restIfSlow } from "./worker-connections.ts";
import { createFrameReader, type FrameContent, frameBytes } from "./provider-frames.ts";
import { ITEM_LIMITS, kindOfFailure } from "./provider.ts";
import type { FailureKind } from "./rules.ts";

export interface HostOptions {
  /** Path or name of the Python interpreter. */
  readonly python: string;
  /**
   * Command-line arguments of the interpreter. Defaults to `-B -m gradus.serve.host`, the host program of the gradus
   * package.
   */
  readonly program?: readonly string[];
  /** Python file to mount, or another target that the host knows, e.g. "reasoning-gym". */
  readonly target: string;
  readonly workers: number;
  readonly memoryMib: number;
  readonly allow: { readonly read: readonly string[]; readonly net: readonly string[] };
  /** Absolute paths that the host and its workers may not read, even if they lie in the host's own folder. */
  readonly hidden?: readonly string[];
  /** Called with the paths of the Python files that the host imported (HostReady.sources), even if loading fails. */
  readonly onSources?: (paths: readonly string[]) => void;
  /** Aborts when the host must end. */
  readonly signal?: AbortSignal;
}

/** How a worker process ended. */
export interface WorkerEnd {
  /** Kind of failure. "host": the whole host process ended, so this worker is not to blame. */
  readonly kind: FailureKind | "host";
  readonly how: string;
}

export interface Worker {
  readonly id: number;
  /** Sends a message (frame) of call number `call` to the worker. Returns false if the frame is too large. */
  send(call: number, content: FrameContent): boolean;
  /** Tells the worker to send at once the results that it has collected. */
  tellHeld(): void;
  kill(): void;
}

/** Results of a call that a worker collected to send them together, and has not sent yet. */
export interface Held {
  readonly call: number;
  readonly verified: VerifyResponses;
}

export interface HostListener {
  onWorker(worker: Worker): void;
  /**
   * Handles a frame from a worker. Returns how many more frames with results the worker has yet to send for its current
   * request.
   */
  onFrame(worker: Worker, frame: ProviderFrame): number;
  /**
   * Called with results that a worker had collected, and that its host sent on the worker's behalf: after `tellHeld` or
   * before the worker's end.
   */
  onHeld(worker: Worker, held: Held): void;
  /** Called once for each worker that was passed to `onWorker`, when it has ended. */
  onWorkerEnd(worker: Worker, end: WorkerEnd): void;
  /** Called once, when the host process has ended. */
  onEnd(why: string): void;
}

export interface Host {
  readonly described: DescribeResponse;
  /** How the workers are isolated from the machine, in words for the log. */
  readonly locked: string;
  readonly pid: number;
  close(): Promise<void>;
}

export type StartedHost =
  | { readonly kind: "started"; readonly host: Host }
  /** `isKilled`: another process has killed the host, e.g. the kernel for lack of memory, so a second try may succeed. */
  | { readonly kind: "failed"; readonly why: string; readonly isKilled: boolean };

const PROGRAM = ["-B", "-m", "gradus.serve.host"];
/**
 * Working directory of a host process. It must contain no Python modules, because Python would import them from there.
 */
const FOLDER = "/proc";
/**
 * Minimum number of isolation measures, e.g. a file-system filter, that a host process must report (HostReady.walls).
 */
const WALLS_MIN = 2;
const OLDER =
  "its Python package gradus is older than this server, so its code could read the server's files: install the package of this release (pip install ./clients/python in a checkout)";
/**
 * Maximum time for a host process to start, in milliseconds. Importing takes seconds, and testing thousands of levels
 * takes minutes.
 */
const START_MS_MAX = 600_000;
/**
 * Maximum wait in milliseconds: for the first frame of a new connection, and for the host's report after a worker's
 * connection closed.
 */
const WORD_MS_MAX = 5000;
/**
 * Maximum time for a host process to stop a worker or itself, in milliseconds. After that, the server kills the host.
 */
const KILL_MS_MAX = 5000;
/** Maximum time, in milliseconds, to read the remaining output of a worker whose end was reported. */
const LAST_WORDS_MS_MAX = 1000;
/**
 * Time, in milliseconds, for which a worker collects results before it sends them together. Sending each result alone
 * would cost more.
 */
const HOLD_MS = 10;
const STDERR_LENGTH_MAX = 4000;
/** Environment variables of the server that a host gets: paths of programs and packages, and the language. */
const PASSED = ["PATH", "HOME", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "TMPDIR", "LANG"];

export async function startHost(options: HostOptions, listener: HostListener): Promise<StartedHost> {
  const folder = await mkdtemp(join(tmpdir(), "gradus-host-"));
  const host = new RunningHost(options, listener, folder);
  return host.start();
}

/** The connection of a worker whose first frame named its number and the right secret. */
interface Connected extends Worker {
  readonly socket: Socket;
  ended: boolean;
}

class RunningHost {
  readonly #options: HostOptions;
  readonly #listener: HostListener;
  readonly #folder: string;
  readonly #secret = randomBytes(32);
  readonly #workers = new Map<number, Connected>();
  readonly #sockets = new Set<Socket>();
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #server: Server | undefined;
  #ready: ((started: StartedHost) => void) | undefined;
  #said = "";
  #isEnded = false;
  /** Resolves when the temporary folder with the socket is removed. Undefined: its removal has not begun. */
  #removed: Promise<void> | undefined;

  constructor(options: HostOptions, listener: HostListener, folder: string) {
    this.#options = options;
    this.#listener = listener;
    this.#folder = folder;
    const { python, program = PROGRAM } = options;
    const path = python.includes("/") ? resolve(python) : python;
    this.#child = spawn(path, program, { cwd: FOLDER, env: environmentOfHost(options.target), stdio: "pipe" });
    this.#exited = this.#watch();
  }

  async start(): Promise<StartedHost> {
    const { promise, resolve } = Promise.withResolvers<StartedHost>();
    this.#ready = resolve;
    const late = setTimeout(() => this.#end(`it was not ready within ${START_MS_MAX} ms`), START_MS_MAX);
    const { signal } = this.#options;
    const stop = (): void => this.#end("it was closed");
    if (signal?.aborted === true) stop();
    signal?.addEventListener("abort", stop, { once: true });
    const socket = join(this.#folder, "workers");
    try {
      this.#server = await listenAt(socket, (connection) => this.#take(connection));
      if (this.#isEnded) this.#server.close();
      else this.#tell(this.#startFrame(socket));
    } catch (error) {
      this.#end(`cannot open a socket for its workers (${String(error)})`);
    }
    const started = await promise;
    clearTimeout(late);
    signal?.removeEventListener("abort", stop);
    if (started.kind === "failed") await this.close();
    return started;
  }

  #startFrame(socket: string): FrameContent {
    const { target, workers, memoryMib, allow, hidden = [] } = this.#options;
    return {
      case: "start",
      value: {
        $typeName: "gradus.v1.HostStart",
        target,
        workers,
        memoryMib,
        allow: { $typeName: "gradus.v1.HostAllowance", read: [...allow.read], net: [...allow.net] },
        socket,
        secret: this.#secret,
        generateMs: ITEM_LIMITS.generateMs,
        verifyMs: ITEM_LIMITS.verifyMs,
        holdMs: HOLD_MS,
        hidden: [...hidden],
        startFolder: process.cwd(),
      },
    };
  }

  async close(): Promise<void> {
    this.#end("it was closed");
    await Promise.all([this.#exited, this.#removed]);
  }

  /** Reads the output of the host process. Resolves when the process has ended. */
  #watch(): Promise<void> {
    const child = this.#child;
    const read = createFrameReader((frame) => this.#heed(frame));
    child.stdout?.on("data", (chunk: Buffer) => this.#reading(() => read(chunk)));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#said = (this.#said + text).slice(-STDERR_LENGTH_MAX);
    });
    // Writing to an ended process fails. The error is ignored, because the exit event reports the end.
    child.stdin?.on("error", () => undefined);
    return new Promise((resolve) => {
      child.once("error", (error) => {
        this.#end(`it cannot be started (${error.message})`);
        resolve();
      });
      // Child processes that the host left behind may keep its output open. They are killed here, because "close" would
      // wait for them.
      child.once("exit", () => this.#killAll());
      child.once("close", (code, signal) => {
        const last = this.#said.trim().split("\n").at(-1) ?? "";
        this.#end(`it ended with ${signal ?? `status ${code}`}${last === "" ? "" : `: ${last}`}`, signal === "SIGKILL");
        resolve();
      });
    });
  }

  /** Calls `read`, which parses output of the host or a worker. Ends the host if the output is not a valid frame. */
  #reading(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#end(`it sent invalid output: ${String(error)}`);
    }
  }

  #tell(content: FrameContent): void {
    const bytes = frameBytes(0, content);
    if (bytes !== undefined) this.#child.stdin?.write(bytes);
  }

  #heed({ content }: ProviderFrame): void {
    if (content.case === "ready") {
      const { described, refused, locked, walls, sources } = content.value;
      this.#options.onSources?.(sources);
      if (described === undefined)
        return this.#end(refused === "" ? "it serves no environment, and gives no reason" : refused);
      if (walls < WALLS_MIN) return this.#end(OLDER);
      const { pid = -1 } = this.#child;
      this.#answer({ kind: "started", host: { described, locked, pid, close: () => this.close() } });
    } else if (content.case === "ended") {
      const { worker: id, kind, how } = content.value;
      const worker = this.#workers.get(id);
      if (worker !== undefined) this.#hearOut(worker, { kind: kindOfFailure(kind), how });
    } else if (content.case === "held") {
      const { worker: id, call, verified } = content.value;
      const worker = this.#workers.get(id);
      if (worker !== undefined && verified !== undefined) this.#listener.onHeld(worker, { call, verified });
    } else throw new Error(`the host sent an unexpected frame '${content.case ?? "empty"}'`);
  }

  #answer(started: StartedHost): void {
    this.#ready?.(started);
    this.#ready = undefined;
  }

  /** Accepts a connection to the socket. The first frame says which worker has connected. */
  #take(socket: Socket): void {
    let worker: Connected | undefined;
    this.#sockets.add(socket);
    let [frames, more] = [0, 0];
    const late = setTimeout(() => socket.destroy(), WORD_MS_MAX);
    const read = createFrameReader((frame) => {
      frames++;
      if (worker !== undefined) return void (more = this.#listener.onFrame(worker, frame));
      worker = this.#greet(socket, frame);
      clearTimeout(late);
    });
    socket.on("data", (chunk: Buffer) => {
      frames = 0;
      try {
        read(chunk);
        restIfSlow(socket, frames, more);
      } catch (error) {
        // The connection sent an invalid frame. Before its first frame named a worker, there is no worker to stop.
        if (worker === undefined) socket.destroy();
        else this.#kill(worker, `a worker sent invalid output: ${String(error)}`);
      }
    });
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearTimeout(late);
      this.#sockets.delete(socket);
      if (worker !== undefined) this.#await(worker);
    });
  }

  #greet(socket: Socket, { content }: ProviderFrame): Connected {
    if (content.case !== "hello") throw new Error("a worker's first message is not a WorkerHello");
    const { secret, worker: id } = content.value;
    if (secret.length !== this.#secret.length || !timingSafeEqual(secret, this.#secret) || this.#workers.has(id))
      throw new Error("a worker's first message has the wrong secret");
    const worker: Connected = {
      id,
      socket,
      ended: false,
      send: (call, frame) => {
        const bytes = frameBytes(call, frame);
        if (bytes !== undefined) socket.write(bytes);
        return bytes !== undefined;
      },
      tellHeld: () => this.#tell({ case: "tellHeld", value: { $typeName: "gradus.v1.TellHeld", worker: id } }),
      kill: () => this.#kill(worker, "the server asked for it"),
    };
    this.#workers.set(id, worker);
    this.#listener.onWorker(worker);
    return worker;
  }

  #kill(worker: Connected, why: string): void {
    this.#tell({ case: "kill", value: { $typeName: "gradus.v1.KillWorker", worker: worker.id } });
    const late = setTimeout(() => {
      if (!worker.ended) this.#end(`it did not end a worker within ${KILL_MS_MAX} ms: ${why}`);
    }, KILL_MS_MAX);
    late.unref();
  }

  /**
   * After a worker's connection closed, waits at most WORD_MS_MAX for the host to report how the worker ended. Without
   * a report, the worker counts as crashed.
   */
  #await(worker: Connected): void {
    const late = setTimeout(
      () => this.#endWorker(worker, { kind: "crashed", how: "its connection closed" }),
      WORD_MS_MAX,
    );
    late.unref();
  }

  /**
   * Reads a worker's remaining output for at most LAST_WORDS_MS_MAX, then passes the worker's end on to the listener.
   */
  #hearOut(worker: Connected, end: WorkerEnd): void {
    if (worker.socket.closed) return this.#endWorker(worker, end);
    const finish = (): void => {
      clearTimeout(late);
      this.#endWorker(worker, end);
    };
    const late = setTimeout(finish, LAST_WORDS_MS_MAX);
    worker.socket.once("close", finish).resume();
  }

  #endWorker(worker: Connected, end: WorkerEnd): void {
    if (worker.ended) return;
    worker.ended = true;
    this.#workers.delete(worker.id);
    worker.socket.destroy();
    this.#listener.onWorkerEnd(worker, end);
  }

  #end(why: string, isKilled = false): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#killAll();
    this.#server?.close();
    for (const worker of this.#workers.values()) this.#endWorker(worker, { kind: "host", how: why });
    for (const socket of this.#sockets) socket.destroy();
    this.#removed = rm(this.#folder, { recursive: true, force: true });
    const isReady = this.#ready === undefined;
    this.#answer({ kind: "failed", why, isKilled });
    if (isReady) this.#listener.onEnd(why);
  }

  /** Kills the host and all its child processes, which are in the host's process group. */
  #killAll(): void {
    this.#child.kill("SIGKILL");
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // The signal could not be sent: the process group has ended or was never created.
    }
  }
}

function environmentOfHost(target: string): Record<string, string> {
  const passed = PASSED.flatMap((name) => {
    const value = process.env[name];
    const kept = name === "PYTHONPATH" ? packageFolders(value, target) : value;
    return kept === undefined ? [] : [[name, kept] as const];
  });
  // The fixed hash seed makes hashes equal in all processes. Unbuffered output arrives at once.
  return { ...Object.fromEntries(passed), PYTHONHASHSEED: "0", PYTHONUTF8: "1", PYTHONUNBUFFERED: "1" };
}

/**
 * Returns the PYTHONPATH of a host, with absolute folders, because a host starts in another folder.
 *
 * Leaves out the server's start folder and the mounted file's folder: their modules could replace Python's own before
 * the isolation is active. The host imports modules from those folders later.
 */
function packageFolders(folders = "", target: string): string | undefined {
  const absolute = folders.split(delimiter).flatMap((folder) => (folder === "" ? [] : [resolve(folder)]));
  const leftOut = [process.cwd(), dirname(resolve(target))].map(realOf);
  const kept = absolute.filter((folder) => !leftOut.includes(realOf(folder)));
  return kept.length === 0 ? undefined : kept.join(delimiter);
}

function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
