/** Parses and checks gRPC addresses. */

/** Matches names that gRPC's own resolvers read, e.g. "dns:///host:port" (gRPC's naming document). */
const resolved = /^(dns|unix|unix-abstract|ipv4|ipv6|xds):(?!\d+$)/;
const hostAndPort = /^(?:\[([\da-f:.]+)\]|([^\s:/?#@[\]]+)):(\d{1,5})$/i;

/**
 * Returns the host and port of an address. Undefined if the address is invalid, or if only a resolver of gRPC can read
 * it.
 */
export function hostAndPortOf(address: string): { readonly host: string; readonly port: number } | undefined {
  const [, v6, name, digits] = hostAndPort.exec(address.replace(/^dns:(?!\d+$)(\/\/\/)?/, "")) ?? [];
  const [host, port] = [v6 ?? name, Number(digits)];
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** Returns what is wrong with an address, with the remedy. Undefined if the address is valid. */
export function addressProblem(address: string): string | undefined {
  if (resolved.test(address) || hostAndPortOf(address) !== undefined) return undefined;
  const [, scheme = "", rest = ""] = /^(?:([a-z][a-z\d+.-]*):\/\/)?(.*)$/is.exec(address) ?? [];
  const bare = rest.replace(/[/?#].*$/s, "");
  const extra = [...(scheme === "" ? [] : ["a scheme"]), ...(bare === rest ? [] : ["a path"])];
  if (extra.length > 0 && hostAndPortOf(bare) !== undefined) {
    const secure = /^(https|grpcs|tls)$/i.test(scheme) ? ", and ask for TLS by its own option" : "";
    return `it has ${extra.join(" and ")}: write '${bare}'${secure}`;
  }
  if (/^[^\s:]+$/.test(bare)) return `it has no port: write '${bare}:50051', or the port that the server was given`;
  return "it is not one host and one port from 1 to 65535";
}
