/** Finds out which kind of program listens at an address. Used only after a failure, to explain it. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** Program that listens at a port, as far as a first exchange of bytes shows. */
export interface Listener {
  readonly tls: boolean;
  readonly protocol: "http1" | "http2" | "other" | "silent";
  /** Whether the program answers like a Gradus server's HTTP port. */
  readonly gradus: boolean;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

const patienceMs = 1_000;
/** Number of bytes of a reply that are enough to recognize its protocol. */
const replyBytesMax = 4_096;

/** Returns a request for a Gradus HTTP port, in HTTP/1.1, which a gRPC port does not speak. */
const question = ({ host, port }: Place): string =>
  [
    "POST /gradus.v1.EnvironmentService/ListEnvironments HTTP/1.1",
    `Host: ${host.includes(":") ? `[${host}]` : host}:${port}`,
    "Content-Type: application/json",
    "Content-Length: 2",
    "Connection: close",
    "",
    "{}",
  ].join("\r\n");

/** Text that web servers refuse at once, even if the program behind them is slow. */
const nonsense = "?\r\n\r\n";

type Reply =
  | { readonly kind: "refused" }
  /** Result if the connection was made. `bytes` arrived before it closed or the time was over. */
  | { readonly kind: "connected"; readonly bytes: Buffer; readonly closed: boolean; readonly alpn: string | false };

/** Sends a text over a socket once it is connected, and returns the reply. */
function exchange(socket: Socket, connected: "connect" | "secureConnect", text: string): Promise<Reply> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let open = false;
    const end = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      const alpn = "alpnProtocol" in socket ? (socket.alpnProtocol as string | false) : false;
      resolve(open ? { kind: "connected", bytes: Buffer.concat(chunks), closed, alpn } : { kind: "refused" });
    };
    const timer = setTimeout(() => end(false), patienceMs);
    socket.once(connected, () => {
      open = true;
      socket.write(text);
    });
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (chunks.reduce((sum, { length }) => sum + length, 0) >= replyBytesMax) end(false);
    });
    socket.once("error", () => end(true));
    socket.once("close", () => end(true));
  });
}

/**
 * Returns whether a reply comes from a Gradus server: it lists environments, or contains an error in Connect's form.
 */
const isGradus = (text: string): boolean =>
  /^content-type: application\/json/im.test(text) && /\{"(environments":\[|code":"[a-z_]+")/.test(text);

/** Returns whether a reply is HTTP/2, which always begins with a SETTINGS frame on stream 0. */
const isHttp2 = (bytes: Buffer): boolean => bytes.length >= 9 && bytes[3] === 4 && bytes.readUInt32BE(5) === 0;

function protocolOf(bytes: Buffer): Omit<Listener, "tls"> {
  const text = bytes.toString("latin1");
  if (text.startsWith("HTTP/1.")) return { protocol: "http1", gradus: isGradus(text) };
  if (bytes.length === 0) return { protocol: "silent", gradus: false };
  return { protocol: isHttp2(bytes) ? "http2" : "other", gradus: false };
}

/** Returns which kind of program listens at an address. Undefined if nothing accepts connections. */
export async function listenerAt(place: Place): Promise<Listener | undefined> {
  const plain = await exchange(connect(place), "connect", question(place));
  if (plain.kind === "refused") return undefined;
  const { bytes, closed } = plain;
  if (bytes.length === 0 && !closed) {
    const second = await exchange(connect(place), "connect", nonsense);
    return { tls: false, ...protocolOf(second.kind === "connected" ? second.bytes : bytes) };
  }
  // A server with TLS answers plain text with a TLS alert, or closes the connection.
  const maybeTls = bytes.length === 0 || (bytes[0] === 0x15 && bytes[1] === 3);
  if (!maybeTls) return { tls: false, ...protocolOf(bytes) };
  const overTls = (...ALPNProtocols: readonly string[]): Promise<Reply> => {
    const options = { ...place, rejectUnauthorized: false, ALPNProtocols: [...ALPNProtocols] };
    return exchange(connectTls(options), "secureConnect", question(place));
  };
  const secret = await overTls("h2", "http/1.1");
  if (secret.kind === "refused") return { tls: false, ...protocolOf(bytes) };
  if (secret.alpn !== "h2") return { tls: true, ...protocolOf(secret.bytes) };
  // Try HTTP/1.1 too. A Gradus server's HTTP port speaks both versions of HTTP; a gRPC port speaks only HTTP/2.
  const older = await overTls("http/1.1");
  const found = older.kind === "refused" ? undefined : protocolOf(older.bytes);
  return { tls: true, ...(found?.gradus === true ? found : { protocol: "http2", gradus: false }) };
}
