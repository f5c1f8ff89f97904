/**
 * A small server on loopback that speaks SandboxFusion's `POST /run_code`, and misbehaves on demand. It runs Python
 * without isolation.
 */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface FusionRequest {
  readonly language: string;
  readonly code: string;
  readonly stdin: string;
  /** Seconds. */
  readonly run_timeout: number;
  readonly [field: string]: unknown;
}

export type FusionBehaviour =
  | { readonly kind: "run" }
  | { readonly kind: "reply"; readonly json: unknown }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "raw"; readonly body: string }
  | { readonly kind: "reset" }
  | { readonly kind: "silence" };

export interface FusionServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly FusionRequest[];
}

/** Starts the server. `behave` gets the number of earlier requests. */
export async function startFusionServer(
  behave: (request: FusionRequest, index: number) => FusionBehaviour = () => ({ kind: "run" }),
): Promise<FusionServer> {
  const requests: FusionRequest[] = [];
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = JSON.parse(await text(incoming)) as FusionRequest;
    requests.push(request);
    const behaviour = incoming.url === "/run_code" ? behave(request, requests.length - 1) : NOT_FOUND;
    if (behaviour.kind === "silence") return;
    if (behaviour.kind === "reset") return void incoming.socket.destroy();
    response.writeHead(behaviour.kind === "status" ? behaviour.status : 200, { "content-type": "application/json" });
    if (behaviour.kind === "run") response.end(JSON.stringify(await run(request)));
    else if (behaviour.kind === "reply") response.end(JSON.stringify(behaviour.json));
    else response.end(behaviour.kind === "raw" ? behaviour.body : "{}");
  };
  const server = createServer((incoming, response) => void handle(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const NOT_FOUND: FusionBehaviour = { kind: "status", status: 404 };

/** Answers as SandboxFusion does: Success if the status is 0, Failed if it is not or the time is over. */
async function run({ code, stdin, run_timeout: seconds }: FusionRequest): Promise<object> {
  const child = spawn("python3", ["-c", code], { stdio: "pipe" });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill("SIGKILL");
  }, seconds * 1000);
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  clearTimeout(timer);
  const result = timedOut ? { status: "TimeLimitExceeded" } : { status: "Finished", return_code: status ?? -9 };
  const overall = !timedOut && status === 0 ? "Success" : "Failed";
  return { status: overall, message: "", compile_result: null, run_result: { ...result, stdout, stderr }, files: {} };
}
