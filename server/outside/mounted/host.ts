/**
 * One local host: a process of Python's that has imported what is mounted, and its workers, each of which connects to a socket
 * of ours when it is ready. How both speak is said at ProviderFrame in the contract.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import type { DescribeResponse, ProviderFrame, VerifyResponses } from "../../../proto/gen/gradus/v1/provider_pb.js";
import { listenAt, restIfSlow } from "./connections.ts";
import { createFrameReader, type FrameContent, frameBytes } from "./frames.ts";
import { type FailureKind, ITEM_LIMITS, kindOfFailure } from "./provider.ts";

export interface HostOptions {
  /** Path of the interpreter, or its name. */
  readonly python: string;
  /** What runs there; left out: the host that Gradus's Python package brings. */
  readonly program?: readonly string[];
  /** A Python file, or what else it knows, e.g. "reasoning-gym". */
  readonly target: string;
  readonly workers: number;
  readonly memoryMib: number;
  readonly allow: { readonly read: readonly string[]; readonly net: readonly string[] };
  /** Absolute paths that nothing of it may read, even in its own folder. */
  readonly hidden?: readonly string[];
  /** Receives HostReady.sources, whether or not the host serves something. */
  readonly onSources?: (paths: readonly string[]) => void;
  /** Ends the host when it is aborted. */
  readonly signal?: AbortSignal;
}

/** How a worker came to its end. */
export interface WorkerEnd {
  /** "host": all of them ended, and it says nothing of what this one did. */
  readonly kind: FailureKind | "host";
  readonly how: string;
}

export interface Worker {
  readonly id: number;
  /** False: it is too large for a frame. */
  send(call: number, content: FrameContent): boolean;
  /** Asks what it holds and has not told yet. */
  tellHeld(): void;
  kill(): void;
}

/** What a worker holds of a call's answers. */
export interface Held {
  readonly call: number;
  readonly verified: VerifyResponses;
}

export interface HostListener {
  onWorker(worker: Worker): void;
  /** How many more of that worker's frames are to come for what it was asked. */
  onFrame(worker: Worker, frame: ProviderFrame): number;
  /** Asked for, or before its end. */
  onHeld(worker: Worker, held: Held): void;
  /** Once for each worker that was told of. */
  onWorkerEnd(worker: Worker, end: WorkerEnd): void;
  /** Once, when the process has ended. */
  onEnd(why: string): void;
}

export interface Host {
  readonly described: DescribeResponse;
  /** How workers are locked in. */
  readonly locked: string;
  readonly pid: number;
  close(): Promise<void>;
}

export type StartedHost =
  { readonly kind: "started"; readonly host: Host } | { readonly kind: "failed"; readonly why: string };

const PROGRAM = ["-B", "-m", "gradus.serve.host"];
/** Where a host is started: a folder that can hold no module, for Python imports from where it is started. */
const FOLDER = "/proc";
/** HostReady.walls that a host must have. */
const WALLS_MIN = 2;
const OLDER =
  "its Python package of Gradus is older than this server, and would show its code the server's files: install the one of this release (pip install ./clients/python in a checkout)";
/** Importing takes seconds, and trying thousands of levels minutes, for which nobody else waits. */
const START_MS_MAX = 600_000;
/** From a connection to its first frame; and from a worker's end to the word of how it came about. */
const WORD_MS_MAX = 5000;
/** What a host may take to end a worker, or itself. */
const KILL_MS_MAX = 5000;
/** From the word of how a worker ended to the end of what it had told. */
const LAST_WORDS_MS_MAX = 1000;
/** For so long a worker holds what came of answers: to be woken for each costs more than all else. */
const HOLD_MS = 10;
const STDERR_LENGTH_MAX = 4000;
/** Of the server's own variables a host sees where programs and packages are, and nothing else. */
const PASSED = ["PATH", "HOME", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "TMPDIR", "LANG"];

export async function startHost(options: HostOptions, listener: HostListener): Promise<StartedHost> {
  const folder = await mkdtemp(join(tmpdir(), "gradus-host-"));
  const host = new RunningHost(options, listener, folder);
  return host.start();
}

/** A worker's connection, from its first frame on. */
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
  /** The folder of its socket. */
  #removed: Promise<void> | undefined;

  constructor(options: HostOptions, listener: HostListener, folder: string) {
    this.#options = options;
    this.#listener = listener;
    this.#folder = folder;
    const { python, program = PROGRAM } = options;
    const path = python.includes("/") ? resolve(python) : python;
    this.#child = spawn(path, program, { cwd: FOLDER, env: environmentOfHost(options.target), stdio: "pipe" });
    this.#exited = this.#watch();
    options.signal?.addEventListener("abort", () => this.#end("it was closed"), { once: true });
  }

  async start(): Promise<StartedHost> {
    const { promise, resolve } = Promise.withResolvers<StartedHost>();
    this.#ready = resolve;
    const late = setTimeout(() => this.#end(`it was not ready within ${START_MS_MAX} ms`), START_MS_MAX);
    const socket = join(this.#folder, "workers");
    try {
      this.#server = await listenAt(socket, (connection) => this.#take(connection));
      this.#tell(this.#startFrame(socket));
    } catch (error) {
      this.#end(`no socket for its workers (${String(error)})`);
    }
    const started = await promise;
    clearTimeout(late);
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

  /** Hears what the process says, until it has ended. */
  #watch(): Promise<void> {
    const child = this.#child;
    const read = createFrameReader((frame) => this.#heed(frame));
    child.stdout?.on("data", (chunk: Buffer) => this.#reading(() => read(chunk)));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#said = (this.#said + text).slice(-STDERR_LENGTH_MAX);
    });
    // A write to what has ended: that it has is told by its end.
    child.stdin?.on("error", () => undefined);
    return new Promise((resolve) => {
      child.once("error", (error) => {
        this.#end(`it cannot be started (${error.message})`);
        resolve();
      });
      // What it leaves behind may hold its output open, of which the next event waits for the end.
      child.once("exit", () => this.#killAll());
      child.once("close", (code, signal) => {
        const last = this.#said.trim().split("\n").at(-1) ?? "";
        this.#end(`it ended with ${signal ?? `status ${code}`}${last === "" ? "" : `: ${last}`}`);
        resolve();
      });
    });
  }

  /** A host that says what is no frame is none. */
  #reading(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#end(`it said what cannot be read: ${String(error)}`);
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
        return this.#end(refused === "" ? "it serves nothing, and does not say why" : refused);
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
    } else throw new Error(`a frame of a host's that is '${content.case ?? "empty"}'`);
  }

  #answer(started: StartedHost): void {
    this.#ready?.(started);
    this.#ready = undefined;
  }

  /** A connection is nobody's until its first frame says whose. */
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
        // It said what is no frame, or answered what it was not asked.
        if (worker === undefined) socket.destroy();
        else this.#kill(worker, `it said what cannot be read: ${String(error)}`);
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
    if (content.case !== "hello") throw new Error("a worker's first frame is no hello");
    const { secret, worker: id } = content.value;
    if (secret.length !== this.#secret.length || !timingSafeEqual(secret, this.#secret) || this.#workers.has(id))
      throw new Error("a worker of somebody else's");
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
      kill: () => this.#kill(worker, "it was ended"),
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

  /** Its connection is gone: the host says how it ended, or nobody does. */
  #await(worker: Connected): void {
    const late = setTimeout(
      () => this.#endWorker(worker, { kind: "crashed", how: "its connection closed" }),
      WORD_MS_MAX,
    );
    late.unref();
  }

  /** It has ended, and what it told before may be read yet. */
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

  #end(why: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#killAll();
    this.#server?.close();
    for (const worker of this.#workers.values()) this.#endWorker(worker, { kind: "host", how: why });
    for (const socket of this.#sockets) socket.destroy();
    this.#removed = rm(this.#folder, { recursive: true, force: true });
    const isReady = this.#ready === undefined;
    this.#answer({ kind: "failed", why });
    if (isReady) this.#listener.onEnd(why);
  }

  /** The host's processes, all of which are in the group that its first one leads. */
  #killAll(): void {
    this.#child.kill("SIGKILL");
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // There is none any more, or it has not begun.
    }
  }
}

function environmentOfHost(target: string): Record<string, string> {
  const passed = PASSED.flatMap((name) => {
    const value = process.env[name];
    const kept = name === "PYTHONPATH" ? packageFolders(value, target) : value;
    return kept === undefined ? [] : [[name, kept] as const];
  });
  // Hashes are the same in all processes; what is printed comes at once.
  return { ...Object.fromEntries(passed), PYTHONHASHSEED: "0", PYTHONUTF8: "1", PYTHONUNBUFFERED: "1" };
}

/**
 * Absolute, for a host is started elsewhere. The start folder is left out, and the target's own: its modules would stand in for
 * Python's before the walls are up, and are imported later.
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
