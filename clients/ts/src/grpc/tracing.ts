/**
 * Adds W3C trace context to calls. If the caller uses OpenTelemetry, a call becomes part of the caller's active trace.
 */
import type { Metadata } from "@grpc/grpc-js";
import { createRequire } from "node:module";

/** Part of @opentelemetry/api that is used. The package may not be installed. */
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
    // Use createRequire, so that bundlers do not look for the optional package.
    return createRequire(import.meta.url)("@opentelemetry/api") as OpenTelemetry;
  } catch {
    return undefined;
  }
}

/** Returns a function that makes the metadata of each call: the common entries, and the caller's active trace. */
export function traced(common: Metadata): () => Metadata {
  const api = load();
  if (api === undefined) return () => common;
  return () => {
    const metadata = common.clone();
    api.propagation.inject(api.context.active(), metadata, setter);
    return metadata;
  };
}
