/** Puts load on a server for a while, from a process of its own. Takes orders from the process that forked it. */
import { openWire, messageTemplate, unaryTemplate } from "./wire.ts";
import type { Template, Wire } from "./wire.ts";
import type { Scenario } from "./data.ts";

/** The requests' bytes for each scenario, sent once. */
export interface Prepare {
  readonly kind: "prepare";
  readonly scenario: Scenario;
  readonly messages: readonly Uint8Array[];
}

export interface Run {
  readonly kind: "run";
  readonly scenario: Scenario;
  readonly port: number;
  readonly durationMs: number;
}

/** All requests were answered with one message each. */
export interface Done {
  readonly kind: "done";
  readonly requests: number;
  readonly seconds: number;
}

export interface Prepared {
  readonly kind: "prepared";
}

const service = "/gradus.v1.EnvironmentService";
const connections = 2;
/** Requests in flight on a connection. */
const window: Readonly<Record<Scenario, number>> = { batch: 2, unary: 32, stream: 16 };

const templates = new Map<Scenario, readonly Template[]>();

process.on("message", (order: Prepare | Run) => {
  if (order.kind === "prepare") {
    templates.set(order.scenario, templatesOf(order));
    process.send?.({ kind: "prepared" } satisfies Prepared);
  } else {
    void run(order).then((done) => process.send?.(done));
  }
});

function templatesOf({ scenario, messages }: Prepare): readonly Template[] {
  const methods = { batch: "BatchStep", unary: "Step" } as const;
  if (scenario === "stream") return messages.map(messageTemplate);
  return messages.map((message) => unaryTemplate(`${service}/${methods[scenario]}`, message));
}

async function run({ scenario, port, durationMs }: Run): Promise<Done> {
  const of = templates.get(scenario);
  if (of === undefined) throw new Error(`no requests for ${scenario}`);
  const wires = await Promise.all(Array.from({ length: connections }, () => openWire(port)));
  const startedAt = performance.now();
  const until = startedAt + durationMs;
  const load = scenario === "stream" ? streamLoad : callLoad;
  const counts = await Promise.all(wires.map((wire, index) => load(wire, rotate(of, index), window[scenario], until)));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const wire of wires) wire.close();
  return { kind: "done", requests: counts.reduce((sum, count) => sum + count, 0), seconds };
}

/** Returns an endless supply of requests, which begins at another place for each connection. */
function rotate(templates: readonly Template[], index: number): () => Template {
  let at = Math.floor((index * templates.length) / connections);
  return () => templates[at++ % templates.length] as Template;
}

/** Keeps `window` calls in flight until the time is up; returns how many were answered. */
function callLoad(wire: Wire, next: () => Template, window: number, until: number): Promise<number> {
  return new Promise((resolve) => {
    let onTheWay = 0;
    let answered = 0;
    const ended = (messages: number) => {
      if (messages !== 1) throw new Error("a call failed: it was answered by a status alone");
      onTheWay -= 1;
      answered += 1;
      if (performance.now() < until) fill();
      else if (onTheWay === 0) resolve(answered);
    };
    const fill = () => {
      while (onTheWay < window && wire.call(next(), ended)) onTheWay += 1;
    };
    fill();
  });
}

/** Sends the load as messages of one stream. */
function streamLoad(wire: Wire, next: () => Template, window: number, until: number): Promise<number> {
  return new Promise((resolve) => {
    let onTheWay = 0;
    const answered = () => {
      onTheWay -= 1;
      if (performance.now() < until) fill();
      else if (onTheWay === 0) stream.end();
    };
    const stream = wire.open(`${service}/StreamSteps`, answered, resolve);
    const fill = () => {
      while (onTheWay < window && stream.send(next())) onTheWay += 1;
    };
    fill();
  });
}
