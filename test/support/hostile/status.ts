/** The message of a status, as gRPC's headers have it. */
export function messageOf(headers: Readonly<Record<string, unknown>>): string {
  const { "grpc-message": message } = headers;
  return typeof message === "string" ? decodeURIComponent(message) : "";
}
