/** A TCP proxy that cuts every connection at a random place; before half of the cuts it swallows the replies. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { Rng } from "../../envs/lib/rng.ts";

export interface Proxy {
  readonly address: string;
  /** Number of connections that were cut or swallowed, by kind. */
  readonly faults: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Maximum number of reply bytes in a connection's life. */
const LIFE_BYTES_MAX = 40_000;

/**
 * Starts a proxy. `target` returns the server's port now; undefined: there is none. With a `lifeBytesMax` of Infinity
 * no connection is cut.
 */
export async function startProxy(
  rng: Rng,
  target: () => number | undefined,
  lifeBytesMax = LIFE_BYTES_MAX,
): Promise<Proxy> {
  const faults = new Map<string, number>();
  const open = new Set<Socket>();
  let links = 0;
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    // The proxy breaks connections by design: the other end sees that.
    socket.on("error", () => socket.destroy());
  };

  const link = async (client: Socket): Promise<void> => {
    keep(client);
    // A client that connects while the server is down waits for the next server: a refused client would wait longer
    // each time.
    let port = target();
    for (; port === undefined && !client.destroyed; port = target()) await setTimeout(10);
    if (port === undefined) return;
    const server = connect(port, "127.0.0.1");
    keep(server);
    const fate = links++ % 2 === 0 ? "cut" : "swallow";
    let left = lifeBytesMax === Infinity ? Infinity : rng.int(0, lifeBytesMax);
    const cut = (): void => {
      client.destroy();
      server.destroy();
    };
    client.on("data", (bytes) => server.write(bytes));
    server.on("data", (bytes) => {
      left -= bytes.length;
      if (left > 0) return void client.write(bytes);
      faults.set(fate, (faults.get(fate) ?? 0) + 1);
      if (fate === "cut") return cut();
      // The client hears nothing that the server says from here on; then the proxy cuts the connection.
      server.removeAllListeners("data").resume();
      void setTimeout(rng.int(20, 300)).then(cut);
    });
    client.on("close", cut);
    server.on("close", cut);
  };

  const listener = createServer((client) => void link(client)).listen(0, "127.0.0.1");
  await once(listener, "listening");
  return {
    address: `127.0.0.1:${(listener.address() as AddressInfo).port}`,
    faults,
    close: async () => {
      for (const socket of open) socket.destroy();
      listener.close();
      await once(listener, "close");
    },
  };
}
