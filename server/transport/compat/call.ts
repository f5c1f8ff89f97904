/**
 * Calls by the clients of other gyms (NeMo Gym, OpenEnv). They are admitted, counted and logged like calls of Gradus's
 * own services.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Account, RequestHeaders } from "../admission.ts";
import { Call, type Method } from "../call-context.ts";
import type { CodeName, RpcError } from "../../base/rpc.ts";
import type { Connection } from "../connection-turns.ts";

/**
 * Returns the headers that admission reads. A client that cannot set headers may put the token into the address,
 * http://any:TOKEN@host, and so sends it as the password of Basic credentials.
 */
export function headersOf({ host, origin, authorization, ...others }: IncomingHttpHeaders): RequestHeaders {
  const key = authorization === undefined ? keyIn(others) : undefined;
  if (key !== undefined) return { host, origin, authorization: `Bearer ${key}` };
  const basic = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization ?? "")?.[1];
  if (basic === undefined) return { host, origin, authorization };
  const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(basic, "base64").toString()) ?? [];
  return { host, origin, authorization: `Bearer ${password}` };
}

/** Returns the token that OpenReward's client sends: its API key, or the secret `api_key` of the session. */
function keyIn({ "x-api-key": key, "x-secrets": secrets }: IncomingHttpHeaders): string | undefined {
  if (typeof key === "string" && key !== "") return key;
  if (typeof secrets !== "string") return undefined;
  try {
    const { api_key: secret } = JSON.parse(Buffer.from(secrets, "base64").toString()) as Record<string, unknown>;
    const { value } = secret as { readonly value: unknown };
    return typeof value === "string" ? value : undefined;
  } catch {
    // Secrets that cannot be read are no token.
    return undefined;
  }
}

/** A call that came as one message over a socket, which may carry many calls. */
export class MessageCall extends Call {
  readonly account: Account;
  readonly #socket: Socket;
  readonly #bytes: number;
  #refused: RpcError | undefined;

  constructor(method: Method, socket: Socket, account: Account, bytes: number) {
    super(method, undefined, undefined);
    this.account = account;
    this.#socket = socket;
    this.#bytes = bytes;
    this.bytesIn = bytes;
  }

  override get connection(): Connection {
    return this.method.turns(this.#socket);
  }

  override get peer(): string {
    return `${this.#socket.remoteAddress}:${this.#socket.remotePort}`;
  }

  override get bufferedBytes(): number {
    return this.#bytes + this.#socket.writableLength;
  }

  /** Always undefined, because the message is complete before it becomes a call. */
  override get receivingSinceMs(): undefined {
    return undefined;
  }

  protected override get endedBy(): CodeName {
    return this.#refused?.code ?? "CANCELLED";
  }

  override refuse(error: RpcError): void {
    this.#refused = error;
    this.abort(error);
  }
}

/**
 * Runs a call's work once its connection has its turn on the event loop, and records the status. Throws RpcError for
 * every failure.
 */
export async function answered<T>(call: Call, work: () => Promise<T>): Promise<T> {
  try {
    const refused = call.enter();
    if (refused !== undefined) throw refused;
    await call.turn();
    const answer = await call.run(work);
    call.settle("OK");
    return answer;
  } catch (thrown) {
    const failure = call.failure(thrown);
    call.settle(failure.code);
    throw failure;
  }
}
