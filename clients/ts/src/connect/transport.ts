/** Transport over the Connect protocol and fetch, for browsers and networks that allow only HTTP/1.1. */
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { errorInfoType, reasonOfInfo, reasonOfText, waitReasonKey } from "../details.ts";
import type { ErrorReason } from "../details.ts";
import { abortedError, codeName, GradusError, readDelayMs, retryDelayKey } from "../errors.ts";
import type { ConnectionMistake, GradusCode } from "../errors.ts";
import { tokenOf } from "../token.ts";
import type { Attempt, Transport } from "../transport.ts";

export interface ConnectOptions {
  /** Bearer token, if the server needs one. */
  readonly token?: string | undefined;
}

function codeOf(error: ConnectError, caught: unknown): GradusCode {
  // Report an error of fetch, a TypeError without a status code, as UNAVAILABLE: the server did not answer.
  if (caught instanceof TypeError || error.cause instanceof TypeError) return "UNAVAILABLE";
  // Blame the caller for a value that its field cannot hold. Connect reports it as INTERNAL.
  if (error.rawMessage.startsWith("serialize binary: ")) return "INVALID_ARGUMENT";
  return codeName(error.code);
}

const httpPort = "give the URL of the server's HTTP port, http://host:8080 by default";

/**
 * Returns the mistake behind an error of Node's fetch: the port speaks no HTTP/1.1 or no TLS, or its certificate is not
 * accepted. Undefined if the reason is unknown; browsers do not give it.
 */
function mistakeBehind(caught: unknown): { readonly mistake: ConnectionMistake; readonly words: string } | undefined {
  const reasons: string[] = [];
  for (let cause = caught; cause instanceof Error; cause = cause.cause)
    reasons.push(`${"code" in cause ? String(cause.code) : ""} ${cause.message}`);
  const reason = reasons.join("\n");
  if (/HPE_|HTTP\/1\.1 protocol|ALERT_NO_APPLICATION_PROTOCOL/.test(reason))
    return { mistake: "grpc_port", words: `speaks no HTTP/1.1, as gRPC ports do not: ${httpPort}` };
  if (/WRONG_VERSION_NUMBER/.test(reason))
    return { mistake: "no_tls", words: "speaks no TLS: write http:// in place of https://" };
  if (/CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|ALTNAME/.test(reason))
    return { mistake: "certificate", words: `has a certificate that is not accepted: ${reasons.at(-1)?.trim() ?? ""}` };
  return undefined;
}

/** Returns the possible reasons of a failure that fetch does not explain, in words. */
function unanswered(baseUrl: string): string {
  const secure = baseUrl.startsWith("https:") ? "" : " it speaks TLS (then write https://),";
  return `no server answers at ${baseUrl},${secure} or it refuses the origin of this page (its --cors-origin)`;
}

/** Matches the errors that Connect gives for an answer that does not follow its protocol. */
const otherForm = /^HTTP \d+$|^unsupported content type|^missing content type|^invalid content type/;

function fromConnectError(caught: unknown, baseUrl: string, attempt: Attempt): GradusError {
  if (attempt.signal?.aborted) return abortedError(attempt.signal);
  const error = ConnectError.from(caught);
  const code = codeOf(error, caught);
  const { rawMessage } = error;
  const found = code === "UNAVAILABLE" ? mistakeBehind(caught) : undefined;
  if (found !== undefined) {
    const { mistake, words } = found;
    return new GradusError(code, `${baseUrl} ${words}`, { mistake, cause: caught });
  }
  if (code !== "UNAVAILABLE" && otherForm.test(rawMessage)) {
    const words = `${baseUrl} answers, but not as a Gradus server does (${rawMessage}): ${httpPort}`;
    return new GradusError(code, words, { mistake: "not_gradus", cause: caught });
  }
  const retryDelayMs = readDelayMs(error.metadata.get(retryDelayKey));
  const gone = caught instanceof TypeError || error.cause instanceof TypeError;
  const message = gone ? `${rawMessage}: ${unanswered(baseUrl)}` : rawMessage;
  return new GradusError(code, message, { retryDelayMs, reason: reasonIn(error), cause: caught });
}

function reasonIn({ details, metadata }: ConnectError): ErrorReason | undefined {
  for (const detail of details)
    if ("type" in detail && detail.type === errorInfoType) {
      const reason = reasonOfInfo(detail.value);
      if (reason !== undefined) return reason;
    }
  return reasonOfText(metadata.get(waitReasonKey));
}

/**
 * Returns a URL that fetch accepts, or throws INVALID_ARGUMENT. Without this check, a browser would complete an
 * incomplete URL by the address of its page.
 */
function checked(baseUrl: string): string {
  if (URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol)) return baseUrl;
  const remedy = /^[\w.-]+(:\d+)?$/.test(baseUrl) ? `: write 'http://${baseUrl}'` : "";
  const wanted = "baseUrl: want the URL of the server's HTTP port, e.g. http://localhost:8080";
  throw new GradusError("INVALID_ARGUMENT", `${wanted}; got '${baseUrl}'${remedy}`);
}

async function* once<T>(message: T): AsyncGenerator<T> {
  yield message;
}

/** Returns a transport to the HTTP port of a server at a base URL. */
export function connectTransport(baseUrl: string, options: ConnectOptions): Transport {
  const token = tokenOf(options.token);
  const transport = createConnectTransport({ baseUrl: checked(baseUrl), useBinaryFormat: true });
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  return {
    unary: async (method, message, attempt) => {
      try {
        const reply = await transport.unary(method, attempt.signal, attempt.timeoutMs, headers, message as never);
        return reply.message;
      } catch (error) {
        throw fromConnectError(error, baseUrl, attempt);
      }
    },
    async *serverStream<O extends DescMessage>(
      method: Parameters<Transport["serverStream"]>[0],
      message: object,
      attempt: Attempt,
    ) {
      try {
        const input = once(message as never);
        const reply = await transport.stream(method, attempt.signal, attempt.timeoutMs, headers, input);
        for await (const item of reply.message) yield item as MessageShape<O>;
      } catch (error) {
        throw fromConnectError(error, baseUrl, attempt);
      }
    },
    close: () => undefined,
  };
}
