/** Credentials and options of grpc-js channels. */
import { credentials } from "@grpc/grpc-js";
import type { ChannelCredentials, ChannelOptions } from "@grpc/grpc-js";
import { X509Certificate } from "node:crypto";
import { GradusError } from "../errors.ts";

/** TLS options. `true` means that the client trusts the system's certificates. Certificates and keys are PEM texts. */
export type TlsOptions =
  | boolean
  | {
      /** Certificates of the authorities to trust. Defaults to the system's. */
      readonly ca?: string | Uint8Array;
      /** This client's certificate and key, if the server asks for them (mutual TLS). */
      readonly cert?: string | Uint8Array;
      readonly key?: string | Uint8Array;
      /** Name to expect in the server's certificate, if it differs from the address. */
      readonly serverName?: string;
    };

/**
 * Flow control window of HTTP/2, in bytes. A 1 MB reply at 4 ms round trip takes 112 ms with the default of 64 KB, and
 * about 10 ms with 8 MB.
 */
const windowBytes = 8 * 1024 * 1024;
const receiveBytesMax = 64 * 1024 * 1024;
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/;

const pem = (text: string | Uint8Array | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));

export function credentialsOf(tls: TlsOptions | undefined): ChannelCredentials {
  if (tls === undefined || tls === false) return credentials.createInsecure();
  if (tls === true) return credentials.createSsl();
  const [ca, key, cert] = [pem(tls.ca), pem(tls.key), pem(tls.cert)];
  if ((key === null) !== (cert === null)) throw unusable("give both tls.cert and tls.key, or neither");
  for (const [name, text] of [
    ["tls.ca", ca],
    ["tls.cert", cert],
  ] as const) {
    // Refuse a text without a certificate, which Node would treat as an empty list of certificates.
    if (text !== null && !holdsCertificate(text)) throw unusable(`${name}: want a certificate in PEM; it holds none`);
  }
  try {
    return credentials.createSsl(ca, key, cert);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error:[\dA-F]+:/, "") : String(error);
    const mismatch = /key (values|type) mismatch/.test(why);
    throw unusable(mismatch ? "tls.key is the key of another certificate than tls.cert" : `tls.key: ${why}`);
  }
}

const unusable = (why: string): GradusError => new GradusError("INVALID_ARGUMENT", why);

function holdsCertificate(text: Buffer): boolean {
  try {
    return new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
}

export function channelOptions(address: string, tls: TlsOptions | undefined): ChannelOptions {
  const serverName = typeof tls === "object" ? tls.serverName : undefined;
  return {
    "grpc-node.flow_control_window": windowBytes,
    "grpc.max_receive_message_length": receiveBytesMax,
    // Give each client its own connection, because a busy server divides its capacity among connections. grpc-js's pool
    // of connections could also return one that the client has given up.
    "grpc.use_local_subchannel_pool": 1,
    // Look for a server soon after it restarts. By default grpc-js waits from 1 s up to 2 min.
    "grpc.initial_reconnect_backoff_ms": 250,
    "grpc.max_reconnect_backoff_ms": 5_000,
    // Use no proxy for this machine. grpc-js would, but clients such as curl and Go do not.
    ...(loopback.test(address) ? { "grpc.enable_http_proxy": 0 } : {}),
    ...(serverName === undefined
      ? {}
      : { "grpc.ssl_target_name_override": serverName, "grpc.default_authority": serverName }),
  };
}
