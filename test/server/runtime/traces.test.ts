/** Tests of the destination of traces, which standard variables set. */
import { pino } from "pino";
import { expect, test } from "vitest";
import { openTraces } from "../../../server/runtime/traces.ts";

/** Returns the endpoint that the log names for traces; undefined: traces are not sent. */
async function told(variables: Readonly<Record<string, string>>): Promise<unknown> {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const traces = await openTraces(variables, log, "host/1/aa");
  await traces?.stop();
  return traces && (JSON.parse(lines[0] ?? "{}") as Record<string, unknown>)["endpoint"];
}

test("a variable without a value is none: what it would stand before holds", async () => {
  const general = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
  expect(await told({ ...general, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "" })).toBe("http://collector:4318/");
  expect(await told({ OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "" })).toBeUndefined();
});

test("the log does not hold a collector's password", async () => {
  const endpoint = await told({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://gradus:a-secret-of-ours@collector:4318" });
  expect(endpoint).toContain("collector:4318");
  expect(endpoint).not.toContain("a-secret-of-ours");
});
