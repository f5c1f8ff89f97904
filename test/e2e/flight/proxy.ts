/**
 * Stands between clients and a server, and notes when each stream of steps was refused, and when it came again. Speaks
 * HTTP/2 in the clear. It has a port for each stream, for grpc-js has one connection to an address, whatever its clients.
 */
import { connect, createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";

/** A refusal with a delay, and how long its port was then asked for nothing. */
export interface Waited {
  readonly delayMs: number;
  /** User agent of the client. */
  readonly agent: string;
  /** Undefined: it never asked again. */
  readonly waitedMs: number | undefined;
}

export interface Proxy {
  readonly addresses: readonly string[];
  readonly waits: readonly Waited[];
  stop(): void;
}

const RESOURCE_EXHAUSTED = "8";

function withoutPseudo(headers: IncomingHttpHeaders, ...kept: readonly string[]): IncomingHttpHeaders {
  const entries = Object.entries(headers).filter(([name]) => !name.startsWith(":") || kept.includes(name));
  return Object.fromEntries(entries);
}

export async function startProxy(target: string, ports: number): Promise<Proxy> {
  const waits: Waited[] = [];
  const servers = Array.from({ length: ports }, () => portOf(target, waits));
  const listening = servers.map(async (server) => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  const addresses = await Promise.all(listening);
  return { addresses, waits, stop: () => servers.forEach((server) => server.close()) };
}

function portOf(target: string, waits: Waited[]): Http2Server {
  const server = createServer({ settings: { initialWindowSize: 2 ** 22 } });
  let refused: { readonly at: number; readonly place: number } | undefined;
  const asked = (): void => {
    const wait = refused && waits[refused.place];
    if (refused === undefined || wait === undefined) return;
    waits[refused.place] = { ...wait, waitedMs: performance.now() - refused.at };
    refused = undefined;
  };
  const answered = (headers: IncomingHttpHeaders, agent: string): void => {
    if (headers["grpc-status"] !== RESOURCE_EXHAUSTED || headers["retry-delay-ms"] === undefined) return;
    refused = { at: performance.now(), place: waits.length };
    waits.push({ delayMs: Number(headers["retry-delay-ms"]), agent, waitedMs: undefined });
  };
  server.on("session", (session) => {
    const upstream = connect(`http://${target}`, { settings: { initialWindowSize: 2 ** 22 } });
    // A connection that breaks is its client's to mend.
    upstream.on("error", () => session.destroy());
    session.on("error", () => upstream.destroy());
    session.on("close", () => upstream.close());
    session.on("stream", (down: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      asked();
      const agent = headers["user-agent"] ?? "";
      const up = upstream.request(withoutPseudo(headers, ":method", ":path", ":scheme", ":authority"));
      let trailers: IncomingHttpHeaders = {};
      down.on("error", () => up.close());
      up.on("error", () => down.close());
      down.on("wantTrailers", () => down.sendTrailers(withoutPseudo(trailers)));
      up.on("trailers", (got: IncomingHttpHeaders) => {
        answered(got, agent);
        trailers = got;
      });
      up.on("response", (got: IncomingHttpHeaders) => {
        answered(got, agent);
        if (down.destroyed) return;
        const last = got["grpc-status"] !== undefined;
        down.respond(withoutPseudo(got, ":status"), last ? { endStream: true } : { waitForTrailers: true });
        if (!last) up.pipe(down);
      });
      up.on("close", () => {
        if (up.rstCode !== 0) down.close(up.rstCode);
      });
      down.on("close", () => {
        if (down.rstCode !== 0) up.close(down.rstCode);
      });
      down.pipe(up);
    });
  });
  return server;
}
