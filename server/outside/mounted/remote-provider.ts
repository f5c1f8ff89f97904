/**
 * A provider of environments on another machine, over gRPC. Its responses are untrusted: a result that was not
 * requested ends the call, and a missing result counts as a failure.
 */
import { fromBinary, toBinary, type MessageShape } from "@bufbuild/protobuf";
import {
  type CallOptions,
  type ClientDuplexStream,
  type ClientReadableStream,
  Client,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import {
  type DescribeResponse,
  EnvironmentProvider,
  type GenerateResponse,
  type VerifyResponse,
} from "../../../proto/gen/gradus/v1/provider_pb.js";
import { changeBetween } from "./read-description.ts";
import { advancedOf, advanceRequest, drawnOf, generatedOf, verifiedOf } from "./item-frames.ts";
import {
  type AskedEnvironment,
  type AskOptions,
  type Failure,
  failure,
  type GenerateResult,
  type Provider,
  type VerifyResult,
} from "./provider.ts";
import type { RemoteMount } from "./mount-options.ts";

export type OpenedRemote =
  { readonly kind: "opened"; readonly provider: Provider } | { readonly kind: "failed"; readonly why: string };

const DESCRIBE_MS_MAX = 30_000;
const MESSAGE_BYTES_MAX = 64 * 1024 ** 2;
/**
 * Maximum bytes of one response, by RPC. Each maximum is more than a response by the limits of provider.proto needs.
 */
const RESPONSE_BYTES_MAX: Readonly<Record<string, number>> = {
  Verify: 512 * 1024,
  Advance: 512 * 1024,
  Generate: 16 * 1024 ** 2,
};
/**
 * Maximum number of answers that one call to the provider verifies. They all belong to one instance, which is sent
 * once.
 */
const CALL_ANSWERS_MAX = 64;
/**
 * Time to wait for the next result, as a multiple of the time limit of one item. The item may wait in the provider's
 * queue.
 */
const LATE_FACTOR = 3;
/** Milliseconds to wait for the next result in addition to LATE_FACTOR times the item's limit, for the network. */
const LATE_MS = 5000;

type Method = (typeof EnvironmentProvider.method)[keyof typeof EnvironmentProvider.method];
type Response = GenerateResponse | VerifyResponse;

export async function openRemote({ address, tls, ca, token }: RemoteMount): Promise<OpenedRemote> {
  const client = new Client(address, tls ? credentials.createSsl(ca ?? null) : credentials.createInsecure(), {
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
    "grpc.max_send_message_length": MESSAGE_BYTES_MAX,
  });
  const metadata = new Metadata();
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  const remote = new Remote(client, metadata);
  const described = await remote.describe();
  if ("failure" in described) {
    client.close();
    return { kind: "failed", why: described.detail };
  }
  return { kind: "opened", provider: remote.provider(described) };
}

/** Answers to one instance that are sent in one call. */
interface Batch {
  readonly environment: AskedEnvironment;
  readonly instance: Uint8Array;
  readonly answers: { readonly text: string; readonly settle: (verified: VerifyResult) => void }[];
}

class Remote {
  readonly #client: Client;
  readonly #metadata: Metadata;
  readonly #batches = new Map<Uint8Array, Batch>();
  #described: DescribeResponse | undefined;
  /**
   * How the provider now differs from its description when it was mounted, in words. Undefined: no difference is known.
   */
  #changed: string | undefined;
  #isClosed = false;

  constructor(client: Client, metadata: Metadata) {
    this.#client = client;
    this.#metadata = metadata;
  }

  provider(described: DescribeResponse): Provider {
    this.#described = described;
    return {
      described,
      generate: (environment, asked, options) => this.#generate(environment, asked, options),
      verify: (environment, { instance, answer }, options) => this.#verify(environment, instance, answer, options),
      advance: async (environment, asked, { signal }) => {
        const advanced = await this.#unary(
          EnvironmentProvider.method.advance,
          advanceRequest(environment, asked),
          { deadline: Date.now() + lateMs(environment.limits.advanceMs) },
          signal,
        );
        return "failure" in advanced ? advanced : advancedOf(advanced);
      },
      draw: async ({ id, version, limits }, { instance, answer }, { signal }) => {
        const request = { $typeName: "gradus.v1.DrawRequest" as const, environment: id, version, instance };
        const drawn = await this.#unary(
          EnvironmentProvider.method.draw,
          answer === undefined ? request : { ...request, answer },
          { deadline: Date.now() + lateMs(limits.generateMs) },
          signal,
        );
        return "failure" in drawn ? drawn : drawnOf(drawn);
      },
      probe: () => this.#probe(),
      close: async () => {
        this.#isClosed = true;
        this.#client.close();
      },
    };
  }

  describe(): Promise<DescribeResponse | Failure> {
    const method = EnvironmentProvider.method.describe;
    const request = { $typeName: "gradus.v1.DescribeRequest" as const };
    return this.#unary(method, request, { deadline: Date.now() + DESCRIBE_MS_MAX });
  }

  async #probe(): Promise<string | undefined> {
    const now = await this.describe();
    if ("failure" in now) return now.detail;
    this.#changed = this.#described && changeBetween(this.#described, now);
    return this.#changed;
  }

  async #generate(
    environment: AskedEnvironment,
    { level, parametersJson, seeds }: Parameters<Provider["generate"]>[1],
    options: AskOptions,
  ): Promise<readonly GenerateResult[]> {
    const results: (GenerateResult | undefined)[] = seeds.map(() => undefined);
    const { id, version, digest, limits } = environment;
    const request = {
      $typeName: "gradus.v1.GenerateRequest" as const,
      environment: id,
      version,
      digest,
      level,
      parametersJson,
      seeds: [...seeds],
    };
    const open = (): ClientReadableStream<Response> => {
      const wire = wireOf(EnvironmentProvider.method.generate);
      return this.#client.makeServerStreamRequest(...wire, request, this.#metadata);
    };
    const ended = await this.#stream(open, lateMs(limits.generateMs), options.signal, (response) =>
      take(results, "GenerateResponse", response.index, generatedOf(response as GenerateResponse)),
    );
    return results.map((result) => result ?? missing("GenerateResponse", ended));
  }

  /**
   * Verifies an answer. Answers to the same instance that are requested in the same tick of the event loop share one
   * RPC.
   */
  #verify(
    environment: AskedEnvironment,
    instance: Uint8Array,
    text: string,
    options: AskOptions,
  ): Promise<VerifyResult> {
    return new Promise((settle) => {
      options.signal.addEventListener("abort", () => settle(failure("timeout", "the caller stopped waiting")), {
        once: true,
      });
      const answer = { text, settle };
      const key = options.fresh === true ? new Uint8Array() : instance;
      const batch = this.#batches.get(key);
      if (batch !== undefined && batch.answers.length < CALL_ANSWERS_MAX) return void batch.answers.push(answer);
      const begun: Batch = { environment, instance, answers: [answer] };
      this.#batches.set(key, begun);
      queueMicrotask(() => {
        if (this.#batches.get(key) === begun) this.#batches.delete(key);
        void this.#verifyAll(begun);
      });
    });
  }

  async #verifyAll({ environment, instance, answers }: Batch): Promise<void> {
    const { id, version, digest, limits } = environment;
    const results: (VerifyResult | undefined)[] = answers.map(() => undefined);
    const open = (): ClientDuplexStream<unknown, Response> => {
      const wire = wireOf(EnvironmentProvider.method.verify);
      const stream = this.#client.makeBidiStreamRequest(...wire, this.#metadata);
      stream.write({
        $typeName: "gradus.v1.VerifyRequest",
        environment: id,
        version,
        digest,
        instance,
        answers: answers.map(({ text }, index) => ({ $typeName: "gradus.v1.ProvidedAnswer", index, text })),
      });
      stream.end();
      return stream;
    };
    const end = await this.#stream(open, lateMs(limits.verifyMs), NEVER, (response) => {
      const verified = verifiedOf(response as VerifyResponse);
      const wrong = take(results, "VerifyResponse", response.index, verified);
      if (wrong === undefined) answers[response.index]?.settle(verified);
      return wrong;
    });
    const ended = missing("VerifyResponse", end);
    const unanswered = answers.filter((_, i) => results[i] === undefined);
    // After a timeout, each answer without a result is sent alone, to find the answer at which the verifier hangs.
    const isTold = ended.failure !== "timeout" || answers.length === 1;
    for (const answer of unanswered)
      if (isTold) answer.settle(ended);
      else void this.#verifyAll({ environment, instance, answers: [answer] });
  }

  /**
   * Reads a response stream to its end, and passes each response to `take`. Returns why the stream ended early;
   * undefined if the provider ended it.
   */
  #stream(
    open: () => ClientReadableStream<Response>,
    idleMs: number,
    signal: AbortSignal,
    take: (response: Response) => Failure | undefined,
  ): Promise<Failure | undefined> {
    if (this.#changed !== undefined) return Promise.resolve(failure("unavailable", this.#changed));
    if (this.#isClosed) return Promise.resolve(failure("unavailable", "the server stops"));
    return new Promise((resolve) => {
      const stream = open();
      const end = (ended?: Failure): void => {
        clearTimeout(late);
        signal.removeEventListener("abort", leave);
        resolve(ended);
        stream.cancel();
      };
      const late = setTimeout(() => end(failure("timeout", `the provider sent nothing for ${idleMs} ms`)), idleMs);
      late.unref();
      const leave = (): void => end(failure("timeout", "the caller stopped waiting"));
      signal.addEventListener("abort", leave, { once: true });
      stream.on("data", (response: Response) => {
        late.refresh();
        const wrong = take(response);
        if (wrong !== undefined) end(wrong);
      });
      stream.on("error", (error: ServiceError) => end(failureOf(error)));
      stream.on("end", () => end());
    });
  }

  #unary<M extends Method>(
    method: M,
    request: unknown,
    options: CallOptions,
    signal: AbortSignal = NEVER,
  ): Promise<MessageShape<M["output"]> | Failure> {
    return new Promise((resolve) => {
      const done = (error: ServiceError | null, response?: MessageShape<M["output"]>): void =>
        resolve(error === null && response !== undefined ? response : failureOf(error as ServiceError));
      const call = this.#client.makeUnaryRequest(...wireOf(method), request, this.#metadata, options, done);
      signal.addEventListener("abort", () => call.cancel(), { once: true });
    });
  }
}

const NEVER = new AbortController().signal;

function lateMs(limitMs: number): number {
  return limitMs * LATE_FACTOR + LATE_MS;
}

type Message = "GenerateResponse" | "VerifyResponse";

const misplaced = (message: Message, came: string): Failure =>
  failure("unavailable", `${message}.index must be the index of a requested item, each once; got ${came}`);

/**
 * Returns the failure for a result that the provider did not send. `ended` says why the RPC ended early; undefined if
 * it did not.
 */
const missing = (message: Message, ended: Failure | undefined): Failure =>
  ended ?? misplaced(message, "no response for a requested item");

/** Stores a result at its index. Returns a failure if that index was not requested or has a result already. */
function take<Result>(
  results: (Result | undefined)[],
  message: Message,
  index: number,
  result: Result,
): Failure | undefined {
  if (index >= results.length)
    return misplaced(message, `index ${index}, but only ${results.length} items were requested`);
  if (results[index] !== undefined) return misplaced(message, `index ${index} twice`);
  results[index] = result;
  return undefined;
}

function failureOf({ code, details }: Pick<ServiceError, "code" | "details">): Failure {
  if (code === status.DEADLINE_EXCEEDED) return failure("timeout", details);
  if (code === status.UNIMPLEMENTED)
    return failure("unavailable", `it is not a provider of environments (${details}): check the address`);
  return failure("unavailable", `${status[code] ?? code}: ${details}`);
}

/**
 * Returns grpc-js's description of a method: its path, and functions that write requests and read
 * responses.
 */
function wireOf<M extends Method>({ name, parent, input, output }: M) {
  return [
    `/${parent.typeName}/${name}`,
    (message: unknown): Buffer => Buffer.from(toBinary(input, message as never)),
    (bytes: Buffer) => {
      const max = RESPONSE_BYTES_MAX[name] ?? MESSAGE_BYTES_MAX;
      if (bytes.length > max)
        throw new Error(`a response of ${name} has ${bytes.length} bytes, and the limit is ${max}`);
      return fromBinary(output, bytes) as MessageShape<M["output"]>;
    },
  ] as const;
}
