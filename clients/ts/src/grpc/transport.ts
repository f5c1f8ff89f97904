/** Transport over gRPC, by grpc-js. */
import { create } from "@bufbuild/protobuf";
import type { DescMethod } from "@bufbuild/protobuf";
import { Client, Metadata } from "@grpc/grpc-js";
import type { CallOptions } from "@grpc/grpc-js";
import { abortedError, asGradusError, GradusError } from "../errors.ts";
import { EnvironmentService, ListEnvironmentsRequestSchema } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { tokenOf } from "../token.ts";
import type { Attempt, Transport } from "../transport.ts";
import { addressProblem } from "./address.ts";
import { asIs, bytesOf, reader } from "./bytes.ts";
import { channelOptions, credentialsOf } from "./channel.ts";
import type { TlsOptions } from "./channel.ts";
import { connection } from "./connection.ts";
import { explain, inPlainWords, isSuspicious } from "./mistakes.ts";
import { runHeader, runOf } from "../affinity.ts";
import { fromServiceError } from "./service-error.ts";
import { stepChannel } from "./steps.ts";
import { traced } from "./tracing.ts";

/** Options of a connection to a gRPC server. */
export interface GrpcOptions {
  readonly tls?: TlsOptions | undefined;
  /** Bearer token, if the server needs one. */
  readonly token?: string | undefined;
  /**
   * Whether calls are part of the caller's active trace (W3C trace context). Needs @opentelemetry/api, if it is
   * installed. Defaults to true.
   */
  readonly tracing?: boolean | undefined;
}

const pathOf = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;

function optionsOf({ timeoutMs }: Attempt): CallOptions {
  return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
}

/** Returns the metadata with a header that names the run of a call. */
function about(message: object, metadata: Metadata): Metadata {
  const run = runOf(message);
  if (run === undefined) return metadata;
  const more = metadata.clone();
  more.set(runHeader, run);
  return more;
}

/** Cancels a call when its signal aborts. Returns a function that removes the listener. */
function cancelOn(signal: AbortSignal | undefined, call: { cancel(): void }): () => void {
  const cancel = (): void => call.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  return () => signal?.removeEventListener("abort", cancel);
}

function unary(client: Client, metadata: () => Metadata): Transport["unary"] {
  return async (method, message, attempt) => {
    if (attempt.signal?.aborted) throw abortedError(attempt.signal);
    const bytes = bytesOf(method.input, message);
    const read = reader(method.output);
    return new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        pathOf(method),
        asIs,
        read,
        bytes,
        about(message, metadata()),
        optionsOf(attempt),
        (error, reply) => {
          stop();
          if (error === null) resolve(reply as ReturnType<typeof read>);
          else reject(fromServiceError(error, attempt.signal));
        },
      );
      const stop = cancelOn(attempt.signal, call);
    });
  };
}

function serverStream(client: Client, metadata: () => Metadata): Transport["serverStream"] {
  return async function* (method, message, attempt) {
    if (attempt.signal?.aborted) throw abortedError(attempt.signal);
    const bytes = bytesOf(method.input, message);
    const read = reader(method.output);
    const call = client.makeServerStreamRequest(
      pathOf(method),
      asIs,
      read,
      bytes,
      about(message, metadata()),
      optionsOf(attempt),
    );
    // Listen to the error of a cancelled call. Node throws an "error" event that has no listener.
    call.on("error", () => undefined);
    const stop = cancelOn(attempt.signal, call);
    try {
      for await (const reply of call) yield reply as ReturnType<typeof read>;
    } catch (error) {
      throw fromServiceError(error, attempt.signal);
    } finally {
      stop();
      call.cancel();
    }
  };
}

/** Time in milliseconds that a server has, after a failure, to show whether it is a Gradus server. */
const askMs = 2_000;

/**
 * Returns functions that explain a client's errors. Until a Gradus server has answered once, the explanation may be a
 * wrong address or option.
 */
function explainer(address: string, tls: TlsOptions | undefined, call: () => Transport["unary"]) {
  let reached = false;
  const ask = async (): Promise<GradusError | undefined> => {
    const message = create(ListEnvironmentsRequestSchema);
    const { listEnvironments } = EnvironmentService.method;
    const asking = call()(listEnvironments, message, { timeoutMs: askMs });
    return asking.then(() => undefined, asGradusError);
  };
  return {
    reached: <T>(reply: T): T => {
      reached = true;
      return reply;
    },
    failed: async (caught: unknown): Promise<GradusError> => {
      const error = asGradusError(caught);
      if (!isSuspicious(error)) return error;
      return reached ? inPlainWords(error, address) : explain(error, { address, tls, ask });
    },
  };
}

/** Returns a transport to the gRPC server at "host:port". The first call connects. */
export function grpcTransport(address: string, options: GrpcOptions): Transport {
  const problem = addressProblem(address);
  if (problem !== undefined) {
    const wanted = "address: want host:port of the server's gRPC port, e.g. localhost:50051";
    throw new GradusError("INVALID_ARGUMENT", `${wanted}; got '${address}': ${problem}`);
  }
  const common = new Metadata();
  const token = tokenOf(options.token);
  if (token !== undefined) common.set("authorization", `Bearer ${token}`);
  const metadata = options.tracing === false ? () => common : traced(common);
  const wire = connection(() => new Client(address, credentialsOf(options.tls), channelOptions(address, options.tls)));
  const { client } = wire;
  const { reached, failed } = explainer(address, options.tls, () => unary(client(), metadata));
  const heard = <T>(reply: T): T => {
    wire.heard();
    return reached(reply);
  };
  /**
   * Runs `work` (a call) on the current connection. If the call shows that the connection is dead, replaces it and
   * calls `leave`.
   */
  const attempted = async <T>(work: (on: Client) => Promise<T>, leave?: () => void): Promise<T> => {
    const [used, begunAt] = [client(), performance.now()];
    try {
      return heard(await work(used));
    } catch (caught) {
      const error = await failed(caught);
      if (wire.failed(used, begunAt, error)) leave?.();
      throw error;
    }
  };
  return {
    unary: (method, message, attempt) => attempted((on) => unary(on, metadata)(method, message, attempt)),
    serverStream: async function* (method, message, attempt) {
      try {
        for await (const reply of serverStream(client(), metadata)(method, message, attempt)) yield heard(reply);
      } catch (error) {
        throw await failed(error);
      }
    },
    openSteps: () => {
      const method = EnvironmentService.method.streamSteps;
      const start = (first: object) =>
        client().makeBidiStreamRequest(pathOf(method), asIs, reader(method.output), about(first, metadata()));
      const channel = stepChannel(start);
      return {
        ...channel,
        request: (groups, attempt) => attempted(() => channel.request(groups, attempt), channel.leave),
      };
    },
    close: wire.close,
  };
}
