/** Stands between clients and a server, and notes when it was asked and when it asked to wait. Speaks HTTP/2 in the clear. */
import { connect, createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";

/** A refusal with a delay, and how long its connection then asked for nothing. */
export interface Waited {
  readonly delayMs: number;
  /** Undefined: it never asked again. */
  readonly waitedMs: number | undefined;
}

export interface Proxy {
  readonly address: string;
  readonly waits: readonly Waited[];
  stop(): void;
}

const RESOURCE_EXHAUSTED = "8";

function withoutPseudo(headers: IncomingHttpHeaders, ...kept: readonly string[]): IncomingHttpHeaders {
  const entries = Object.entries(headers).filter(([name]) => !name.startsWith(":") || kept.includes(name));
  return Object.fromEntries(entries);
}

export async function startProxy(target: string): Promise<Proxy> {
  const waits: { delayMs: number; waitedMs: number | undefined }[] = [];
  const server = createServer({ settings: { initialWindowSize: 2 ** 22 } });
  server.on("session", (session) => {
    const upstream = connect(`http://${target}`, { settings: { initialWindowSize: 2 ** 22 } });
    // A connection that breaks is its client's to mend.
    upstream.on("error", () => session.destroy());
    session.on("error", () => upstream.destroy());
    session.on("close", () => upstream.close());
    let refused: { readonly at: number; readonly wait: (typeof waits)[number] } | undefined;
    const note = (headers: IncomingHttpHeaders): void => {
      if (headers["grpc-status"] !== RESOURCE_EXHAUSTED || headers["retry-delay-ms"] === undefined) return;
      const wait = { delayMs: Number(headers["retry-delay-ms"]), waitedMs: undefined };
      waits.push(wait);
      refused = { at: performance.now(), wait };
    };
    session.on("stream", (down: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      if (refused !== undefined) refused.wait.waitedMs = performance.now() - refused.at;
      refused = undefined;
      const up = upstream.request(withoutPseudo(headers, ":method", ":path", ":scheme", ":authority"));
      let trailers: IncomingHttpHeaders = {};
      down.on("error", () => up.close());
      up.on("error", () => down.close());
      down.on("wantTrailers", () => down.sendTrailers(withoutPseudo(trailers)));
      up.on("trailers", (got: IncomingHttpHeaders) => {
        note(got);
        trailers = got;
      });
      up.on("response", (got: IncomingHttpHeaders) => {
        note(got);
        if (down.destroyed) return;
        const last = got["grpc-status"] !== undefined;
        down.respond(withoutPseudo(got, ":status"), last ? { endStream: true } : { waitForTrailers: true });
        if (!last) up.pipe(down);
      });
      up.on("close", () => down.close(up.rstCode));
      down.on("close", () => up.close(down.rstCode));
      down.pipe(up);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    waits,
    stop: () => void server.close(),
  };
}
