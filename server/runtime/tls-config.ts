/**
 * Reads the server's TLS certificate and key, checks that they belong together, and warns if clients will refuse the
 * certificate.
 */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import { readOptionFile } from "./files.ts";
import type { OptionValues } from "./options.ts";
import { ConfigProblem } from "./option-values.ts";

/** Certificates and keys for TLS, as PEM texts. */
export interface TlsConfig {
  readonly cert: string;
  readonly key: string;
  /** Certificate of an authority (CA). If set, clients must show a certificate that this CA signed. */
  readonly clientCa: string | undefined;
}

type TlsValues = Pick<OptionValues, "tlsCert" | "tlsKey" | "tlsClientCa">;

/**
 * Reads the TLS files that flags name. Throws ConfigProblem if no connection could be made with them. Undefined: no
 * TLS.
 */
export function readTls({ tlsCert, tlsKey, tlsClientCa }: TlsValues): TlsConfig | undefined {
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new ConfigProblem("--tls-cert and --tls-key must be given together, and with --tls-client-ca too");
  }
  const cert = readOptionFile("tls-cert", tlsCert);
  const key = readOptionFile("tls-key", tlsKey);
  const clientCa = tlsClientCa === undefined ? undefined : readOptionFile("tls-client-ca", tlsClientCa);
  checkCertificate("tls-cert", tlsCert, cert);
  if (tlsClientCa !== undefined && clientCa !== undefined) checkCertificate("tls-client-ca", tlsClientCa, clientCa);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === "ERR_OSSL_X509_KEY_VALUES_MISMATCH" || code === "ERR_OSSL_X509_KEY_TYPE_MISMATCH"
        ? `is the key of another certificate than --tls-cert '${tlsCert}'`
        : `must be the certificate's private key in PEM, without a password (${code ?? "it cannot be read"})`;
    throw new ConfigProblem(`--tls-key '${tlsKey}' ${why}`);
  }
  return Object.freeze({ cert, key, clientCa });
}

function checkCertificate(flag: string, path: string, text: string): void {
  if (certificateOf(text) === undefined) {
    throw new ConfigProblem(`--${flag} must be a file of certificates in PEM; '${path}' holds none that can be read`);
  }
}

function certificateOf(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}

/** Addresses that mean all interfaces. They say nothing about the name by which clients call this server. */
const anywhere: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Returns a warning for each reason why clients will refuse the certificate at the time `now`, e.g. its expiry. */
export function tlsWarnings(
  { tlsCert, tlsClientCa, host }: TlsValues & Pick<OptionValues, "host">,
  tls: TlsConfig | undefined,
  now: Date,
): readonly string[] {
  if (tls === undefined) return [];
  const named = [
    [`--tls-cert '${tlsCert}'`, tls.cert, "clients will refuse it"],
    [`--tls-client-ca '${tlsClientCa}'`, tls.clientCa, "every client's certificate will be refused"],
  ] as const;
  const times = named.flatMap(([what, text, then]) => {
    const certificate = text === undefined ? undefined : certificateOf(text);
    if (certificate === undefined) return [];
    if (certificate.validToDate < now) return [`${what} expired on ${day(certificate.validToDate)}: ${then}`];
    if (certificate.validFromDate > now)
      return [`${what} is not valid before ${day(certificate.validFromDate)}: ${then}`];
    return [];
  });
  return [...times, ...hostWarnings(`--tls-cert '${tlsCert}'`, certificateOf(tls.cert), host)];
}

const day = (date: Date): string => date.toISOString().slice(0, 10);

/** Returns a warning if the certificate does not contain the host name or address at which the server listens. */
function hostWarnings(what: string, certificate: X509Certificate | undefined, host: string): readonly string[] {
  if (certificate === undefined || anywhere.has(host)) return [];
  const isLocal = host === "127.0.0.1" || host === "::1";
  const names = isLocal ? [host, "localhost"] : [host];
  const fits = (name: string): boolean =>
    (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
  if (names.some(fits)) return [];
  const holds = certificate.subjectAltName ?? certificate.subject.replaceAll("\n", ", ");
  return [
    `${what} is for ${holds}, and not for ${names.join(" or ")} (--host): clients that call the server by this name will refuse the certificate`,
  ];
}
