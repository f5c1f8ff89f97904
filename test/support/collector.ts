/** A collector of traces: an OTLP/HTTP receiver that keeps the spans it is sent. */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the span is the first of its trace. */
  readonly parentId: string;
  /** Texts and whole numbers. */
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly service: string;
  /** The resource's service.instance.id and service.version, separated by a space. */
  readonly instance: string;
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  spans(): readonly CollectedSpan[];
}

type Fields = ReadonlyMap<number, readonly (Uint8Array | bigint)[]>;

/** Fields of a message by their numbers. Their names are in https://github.com/open-telemetry/opentelemetry-proto. */
function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, (Uint8Array | bigint)[]>();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const values = fields.get(number) ?? [];
    fields.set(number, values);
    if (type === WireType.LengthDelimited) values.push(reader.bytes());
    else if (type === WireType.Varint) values.push(BigInt(reader.int64()));
    else reader.skip(type, number);
  }
  return fields;
}

const messagesOf = (fields: Fields, number: number): readonly Fields[] =>
  (fields.get(number) ?? []).map((bytes) => fieldsOf(bytes as Uint8Array));
const bytesOf = (fields: Fields, number: number): Buffer => Buffer.from((fields.get(number)?.[0] ?? []) as Uint8Array);

function attributesOf(fields: Fields, number: number): CollectedSpan["attributes"] {
  const entries = messagesOf(fields, number).map((attribute) => {
    const [value] = messagesOf(attribute, 2);
    const whole = value?.get(3)?.[0];
    return [bytesOf(attribute, 1).toString(), whole === undefined ? bytesOf(value!, 1).toString() : Number(whole)];
  });
  return Object.fromEntries(entries) as CollectedSpan["attributes"];
}

function spansOf(request: Uint8Array): readonly CollectedSpan[] {
  return messagesOf(fieldsOf(request), 1).flatMap((resourceSpans) => {
    const [resource] = messagesOf(resourceSpans, 1).map((of) => attributesOf(of, 1));
    return messagesOf(resourceSpans, 2).flatMap((scopeSpans) =>
      messagesOf(scopeSpans, 2).map((span) => ({
        name: bytesOf(span, 5).toString(),
        traceId: bytesOf(span, 1).toString("hex"),
        spanId: bytesOf(span, 2).toString("hex"),
        parentId: bytesOf(span, 4).toString("hex"),
        attributes: attributesOf(span, 9),
        service: String(resource?.["service.name"]),
        instance: `${resource?.["service.instance.id"]} ${resource?.["service.version"]}`,
      })),
    );
  });
}

/** Starts a collector on a free port, or on the given one. */
export async function startCollector(at = 0): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      spans.push(...spansOf(Buffer.concat(parts)));
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
