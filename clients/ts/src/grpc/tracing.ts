/** W3C trace context: a call is a part of the trace that its caller has going on, where they use OpenTelemetry. */
import type { Metadata } from "@grpc/grpc-js";
import { createRequire } from "node:module";

/** Of @opentelemetry/api, which may or may not be installed. */
interface OpenTelemetry {
  readonly context: { active(): unknown };
  readonly propagation: { inject(context: unknown, carrier: Metadata, setter: Setter): void };
}

interface Setter {
  set(carrier: Metadata, key: string, value: string): void;
}

const setter: Setter = { set: (metadata, key, value) => metadata.set(key, value) };

function load(): OpenTelemetry | undefined {
  try {
    // By this name alone, so that no bundler looks for what may not be there.
    return createRequire(import.meta.url)("@opentelemetry/api") as OpenTelemetry;
  } catch {
    return undefined;
  }
}

/** Gives the metadata of each call: what all have in common, and the trace that is going on. */
export function traced(common: Metadata): () => Metadata {
  const api = load();
  if (api === undefined) return () => common;
  return () => {
    const metadata = common.clone();
    api.propagation.inject(api.context.active(), metadata, setter);
    return metadata;
  };
}
