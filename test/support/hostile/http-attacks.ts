/** Hostile requests to the HTTP port. */
import { type DescMethod, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { frame } from "../../server/transport/grpc/raw.ts";
import {
  type Headers,
  type HttpAttack,
  MESSAGE_BYTES_MAX,
  type RequestOf,
  WAITING_MS,
  anyMethod,
  bidiMethods,
  body,
  bytesOf,
  oddPath,
  pathOf,
} from "./attack.ts";
import { hostileText } from "./values.ts";

/** Generates JSON with values of the wrong type. */
function confusedJson(method: DescMethod): fc.Arbitrary<string> {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    hostileText,
    fc.constantFrom(
      "NaN",
      "9".repeat(400),
      "\ud800",
      "1e999",
      "-0",
      "AAAA====",
      "2026-13-45T99:99:99Z",
      "99999999999s",
    ),
  );
  const name = fc.oneof(
    fc.constantFrom(...method.input.fields.flatMap((field) => [field.name, field.jsonName]), "__proto__", "$typeName"),
    hostileText,
  );
  return fc.dictionary(name, value, { maxKeys: 4 }).map((json) => JSON.stringify(json));
}

function jsonBody(method: DescMethod, requestOf: RequestOf): fc.Arbitrary<Uint8Array> {
  const right = requestOf(method).map((message) => {
    try {
      return toJsonString(method.input, message);
    } catch {
      // A duration out of range cannot be written as JSON.
      return "{}";
    }
  });
  const broken = fc.constantFrom(
    "",
    "{",
    "null",
    "[]",
    "1",
    '"x"',
    "[".repeat(9000),
    '{"spec":'.repeat(7000),
    "\ud800",
  );
  return fc
    .oneof<fc.WeightedArbitrary<string>[]>(
      { weight: 8, arbitrary: right },
      { weight: 4, arbitrary: confusedJson(method) },
      { weight: 1, arbitrary: broken },
      { weight: 1, arbitrary: fc.constant(`{"x":"${"x".repeat(MESSAGE_BYTES_MAX)}"}`) },
    )
    .map(bytesOf);
}

type Sent = Pick<HttpAttack, "headers" | "body">;

/** Generates a request body for each of the HTTP port's protocols, by its content type. */
function httpBody(method: DescMethod, requestOf: RequestOf): fc.Arbitrary<Sent> {
  const binary = body(method, requestOf);
  const framed = fc.oneof({ weight: 4, arbitrary: binary.map(frame) }, fc.uint8Array({ maxLength: 20 }));
  const as = (type: string, bodies: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Sent> =>
    bodies.map((sent) => ({ headers: { "content-type": type }, body: sent }));
  const json = jsonBody(method, requestOf);
  if (method.methodKind !== "unary")
    return fc.oneof(as("application/connect+json", json.map(frame)), as("application/grpc-web+proto", framed));
  return fc.oneof(
    { weight: 6, arbitrary: as("application/json", json) },
    { weight: 2, arbitrary: as("application/proto", binary) },
    { weight: 2, arbitrary: as("application/grpc-web+proto", framed) },
    { weight: 1, arbitrary: as("application/grpc-web+json", json.map(frame)) },
    { weight: 1, arbitrary: as("application/grpc", framed) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom("text/plain", "", "application/json; charset=latin1", "x/y")
        .chain((type) => as(type, json)),
    },
  );
}

const ODD_HTTP: readonly Headers[] = [
  { "connect-timeout-ms": "x" },
  { "connect-timeout-ms": "0" },
  { "connect-timeout-ms": "9999999999" },
  { "connect-protocol-version": "2" },
  { "content-encoding": "gzip" },
  { "content-encoding": "zstd" },
  { "accept-encoding": "nope" },
  { "x-request-id": "__proto__" },
  { "x-big": "x".repeat(9000) },
  { "x-big": "x".repeat(20_000) },
  { origin: "https://evil.example" },
  { te: "chunked" },
  { expect: "200-ok" },
];

export function httpAttack(requestOf: RequestOf): fc.Arbitrary<HttpAttack> {
  const post = (method: DescMethod, { headers, body: sent }: Sent): HttpAttack => {
    const ms = WAITING_MS[method.name];
    const grpc = headers["content-type"]?.startsWith("application/grpc") === true;
    const deadline: Headers =
      ms === undefined ? {} : grpc ? { "grpc-timeout": `${ms}m` } : { "connect-timeout-ms": `${ms}` };
    return { kind: "http", verb: "POST", path: pathOf(method), headers: { ...deadline, ...headers }, body: sent };
  };
  const calls = fc
    .oneof({ weight: 9, arbitrary: anyMethod }, fc.constantFrom(...bidiMethods))
    .chain((method) => httpBody(method, requestOf).map((sent) => post(method, sent)));
  const odd = fc
    .tuple(calls, fc.constantFrom(...ODD_HTTP))
    .map(([attack, headers]): HttpAttack => ({ ...attack, headers: { ...headers, ...attack.headers } }));
  const verbs = fc
    .tuple(calls, fc.constantFrom("GET", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"))
    .map(([attack, verb]): HttpAttack => ({ ...attack, verb, body: new Uint8Array() }));
  const paths = fc
    .tuple(calls, fc.oneof(oddPath, fc.constantFrom("/metrics", "/healthz", "/metrics/../x", "//", "/?x=%00")))
    .map(([attack, path]): HttpAttack => ({ ...attack, path }));
  return fc.oneof(
    { weight: 14, arbitrary: calls },
    { weight: 2, arbitrary: odd },
    { weight: 1, arbitrary: verbs },
    { weight: 1, arbitrary: paths },
  );
}
