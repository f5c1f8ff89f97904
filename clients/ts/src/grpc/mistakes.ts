/** Distinguishes a wrong address or wrong options from a server that is not running. */
import { GradusError } from "../errors.ts";
import type { ConnectionMistake, GradusCode } from "../errors.ts";
import { hostAndPortOf } from "./address.ts";
import type { TlsOptions } from "./channel.ts";
import { listenerAt } from "./listener.ts";
import type { Listener } from "./listener.ts";

export interface Target {
  readonly address: string;
  readonly tls: TlsOptions | undefined;
  /** Calls ListEnvironments, which every Gradus server has. Returns its error, or undefined if the call succeeded. */
  readonly ask: () => Promise<GradusError | undefined>;
}

interface Finding {
  /** Mistake in address or options. Unset if the server behind the address may only be down. */
  readonly mistake?: ConnectionMistake;
  readonly words: string;
}

const grpcPort = "give the server's gRPC port, 50051 by default";

function httpPort(address: string, secure: boolean): Finding {
  const url = `${secure ? "https" : "http"}://${address}`;
  const words = `${address} is the HTTP port of a Gradus server: ${grpcPort}, or use @gradus/client/web with '${url}'`;
  return { mistake: "http_port", words };
}

function notGradus(address: string, what: string): Finding {
  return { mistake: "not_gradus", words: `${address} ${what}, and is no Gradus server's gRPC port: ${grpcPort}` };
}

/**
 * Returns the mistake in the client's address or options that the program at the address reveals, e.g. a missing TLS
 * option. Undefined if there is none. `reason` is gRPC's text of the failure.
 */
function findingOf({ address, tls }: Target, listener: Listener, reason: string): Finding | undefined {
  const wanted = tls !== undefined && tls !== false;
  const { protocol } = listener;
  if (listener.gradus) return httpPort(address, listener.tls);
  if (protocol === "http1") return notGradus(address, "answers HTTP/1.1, as web servers do");
  if (protocol === "other") return notGradus(address, "speaks neither HTTP/2 nor TLS");
  if (protocol === "silent" && !listener.tls) {
    const words = `${address} takes connections and says nothing: it is no Gradus server's gRPC port, or a proxy whose server is down`;
    return { words };
  }
  if (wanted && !listener.tls)
    return { mistake: "no_tls", words: `${address} speaks no TLS: leave the option tls out` };
  if (!wanted && listener.tls) {
    const words = `${address} speaks TLS: give the option tls, true or { ca } with the certificates that vouch for it`;
    return { mistake: "needs_tls", words };
  }
  if (!wanted) return undefined;
  return { mistake: "certificate", words: `no TLS connection to ${address}: ${certificateWords(tls, reason)}` };
}

/**
 * Matches Node's errors for a server certificate that it does not accept. A TLS alert is instead the server's error
 * about our certificate.
 */
const unaccepted = /self.signed|unable to|has expired|not yet valid|altname|certificate chain/i;

function certificateWords(tls: TlsOptions, reason: string): string {
  if (unaccepted.test(reason) && !/\balert\b/i.test(reason))
    return `the server's certificate is not accepted (${reason}): check tls.ca, and the address`;
  const shows = typeof tls === "object" && tls.cert !== undefined;
  if (!shows) return `the server asks for a client's certificate (${reason}): give tls.cert and tls.key`;
  return `the server refuses this client's certificate, tls.cert (${reason}): it wants a valid one of its --tls-client-ca`;
}

/** Returns the reason in grpc-js's message, without the text that grpc-js adds around it. */
const plainReason = (message: string): string =>
  message
    .replace(/^No connection established\. Last error: (Error: )?/, "")
    .replace(/^Name resolution failed .*$/s, "its name cannot be resolved")
    .replace(/\s*(\([\dT:.Z-]+\))?\. Resolution note: ?$/, "")
    .replace(/^[\dA-F]+:error:[\dA-F]+:SSL routines:\w+:([^:]+):.*$/s, "$1");

/** Matches errors of grpc-js for a call that could not be sent, because there was no usable connection. */
const unconnected = /^(No connection established|Name resolution failed)|Waiting for LB pick$/;

/** Status codes that our calls get from servers other than Gradus, with or without gRPC. */
const foreign: readonly GradusCode[] = ["UNIMPLEMENTED", "UNKNOWN", "INTERNAL"];

/** Returns whether an error may come from something other than a Gradus server, or from no server at all. */
export const isSuspicious = ({ code, message }: GradusError): boolean =>
  unconnected.test(message) || foreign.includes(code);

const explained = ({ code, cause }: GradusError, { mistake, words }: Finding): GradusError =>
  new GradusError(code, words, { mistake, cause });

/**
 * Returns the error of a call, with an explanation if the address or the options are wrong. For clients that no Gradus
 * server has answered yet.
 */
export async function explain(error: GradusError, target: Target): Promise<GradusError> {
  const { address } = target;
  if (foreign.includes(error.code)) {
    const other = await target.ask();
    if (other === undefined || !foreign.includes(other.code)) return error;
    return explained(
      error,
      notGradus(address, `speaks gRPC without gradus.v1 (it says: ${other.message || other.code})`),
    );
  }
  const place = hostAndPortOf(address);
  const listener = place === undefined ? undefined : await listenerAt(place);
  const finding = listener === undefined ? undefined : findingOf(target, listener, plainReason(error.message));
  return finding === undefined ? inPlainWords(error, address) : explained(error, finding);
}

/** Returns the error unchanged, or one whose message says that nothing answers at the address. */
export function inPlainWords(error: GradusError, address: string): GradusError {
  if (error.code !== "UNAVAILABLE" || !unconnected.test(error.message)) return error;
  const words = `no server answers at ${address}: ${plainReason(error.message)}`;
  return new GradusError(error.code, words, { cause: error.cause });
}
