/** A TCP proxy before a server, which drops replies and connections as a test tells it to. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /**
   * The next message with a text in it reaches the server, and its connection breaks as soon as the server answers: the
   * answer is lost. Resolves when that has happened.
   */
  cutReplyTo(text: string): Promise<void>;
  /** Breaks all connections, and lets nothing through from now on. */
  cutAll(): void;
  /** New connections go through again. */
  mend(): void;
}

export async function cuttingProxy(serverPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cutting: { readonly text: string; readonly cut: () => void } | undefined;
  let closed = false;
  const server = createServer((client) => {
    if (closed) return void client.destroy();
    const upstream = connect(serverPort, "127.0.0.1");
    let onReply: (() => void) | undefined;
    const end = (): void => [client, upstream].forEach((socket) => void socket.destroy());
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end).on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on("data", (bytes) => {
      if (cutting !== undefined && bytes.includes(cutting.text)) {
        onReply = cutting.cut;
        cutting = undefined;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (onReply === undefined) return void client.write(bytes);
      end();
      onReply();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  const cutAll = (): void => {
    closed = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    cutReplyTo: (text) => new Promise((cut) => (cutting = { text, cut })),
    cutAll,
    mend: () => void (closed = false),
    async [Symbol.asyncDispose]() {
      cutAll();
      server.close();
      await once(server, "close");
    },
  };
}
