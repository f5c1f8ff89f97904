/** A provider over gRPC of one environment, "far/number". It keeps every rule of provider.proto that a test does not break. */
import { create, fromBinary, toBinary, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServerDuplexStream, type ServerWritableStream, status } from "@grpc/grpc-js";
import {
  EnvironmentProvider,
  type DescribeResponse,
  type DrawRequest,
  type DrawResponse,
  type GenerateRequest,
  type GenerateResponse,
  type VerifyRequest,
  type VerifyResponse,
} from "../../../proto/gen/gradus/v1/provider_pb.js";
import { Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import { ChatMessageSchema } from "../../../proto/gen/gradus/v1/task_pb.js";

type GenerateCall = ServerWritableStream<GenerateRequest, GenerateResponse>;
type VerifyCall = ServerDuplexStream<VerifyRequest, VerifyResponse>;

export interface Behaviour {
  readonly describe?: () => Partial<DescribeResponse>;
  readonly draw?: (request: DrawRequest) => DrawResponse["result"];
  /** Fields of requests that may have any value. In other fields the provider refuses names that it does not have. */
  readonly anything?: readonly ("environment" | "version" | "digest" | "level")[];
  /** Answers a request that arrived whole. */
  readonly verify?: (request: VerifyRequest, call: VerifyCall) => void;
  readonly generate?: (request: GenerateRequest, call: GenerateCall) => void;
}

export const DIGEST = "d".repeat(64);

export const described = (): DescribeResponse => ({
  $typeName: "gradus.v1.DescribeResponse",
  protocol: 1,
  host: "a test's provider",
  environments: [
    {
      $typeName: "gradus.v1.ProvidedEnvironment",
      id: "far/number",
      version: 1,
      digest: DIGEST,
      description: "Write the number.",
      goal: 0,
      levels: [
        {
          $typeName: "gradus.v1.ProviderLevel",
          name: "all",
          description: "",
          parametersJson: "",
          rows: 0n,
          evaluationOnly: false,
        },
      ],
      answerFormats: [],
      components: [],
      verbatim: false,
      draws: false,
      limits: { $typeName: "gradus.v1.ProviderLimits", generateMs: 100, verifyMs: 100, answerBytes: 0, advanceMs: 100 },
      remarks: [],
      turnsMax: 1,
      runsAnswers: false,
      axes: [],
    },
  ],
  leftOut: [],
});

export const made = (index: number, number: string): GenerateResponse => ({
  $typeName: "gradus.v1.GenerateResponse",
  index,
  result: {
    case: "made",
    value: {
      $typeName: "gradus.v1.ProvidedInstance",
      instance: Buffer.from(number),
      prompt: [create(ChatMessageSchema, { role: "user", content: `Write ${number}.` })],
      canonical: number,
      reference: number,
      metadata: {},
    },
  },
});

export const verified = (index: number, isRight: boolean): VerifyResponse => ({
  $typeName: "gradus.v1.VerifyResponse",
  index,
  result: {
    case: "facts",
    value: {
      $typeName: "gradus.v1.ProvidedFacts",
      verdict: isRight ? Verdict.FEASIBLE : Verdict.INFEASIBLE,
      violation: isRight ? "" : "another number",
      components: [],
      solved: false,
      info: {},
    },
  },
});

export function verifyAll({ instance, answers }: VerifyRequest, call: VerifyCall): void {
  for (const { index, text } of answers) call.write(verified(index, text === Buffer.from(instance).toString()));
  call.end();
}

function generateAll({ seeds }: GenerateRequest, call: GenerateCall): void {
  for (const [index, seed] of seeds.entries()) call.write(made(index, String(seed)));
  call.end();
}

/** Returns the field of a request that names what the provider does not have; undefined: there is none. */
function unknownName(
  request: GenerateRequest | VerifyRequest,
  { anything = [], describe }: Behaviour,
): string | undefined {
  const { environments } = { ...described(), ...describe?.() };
  const found = environments.find(({ id }) => id === request.environment) ?? environments[0];
  const isWrong = {
    environment: found?.id !== request.environment,
    version: found?.version !== request.version,
    digest: request.digest !== "" && found?.digest !== request.digest,
    level: "level" in request && found?.levels.every(({ name }) => name !== request.level) === true,
  };
  return (["environment", "version", "digest", "level"] as const).find(
    (field) => isWrong[field] && !anything.includes(field),
  );
}

/** Starts a provider. `behave` is called at each request, so that a test may change the behaviour. */
export async function startProvider(behave: () => Behaviour = () => ({})) {
  const server = new Server();
  const methods = EnvironmentProvider.method;
  const refuse = (field: string, call: GenerateCall | VerifyCall): boolean =>
    call.emit("error", {
      code: field === "digest" ? status.FAILED_PRECONDITION : status.NOT_FOUND,
      details: `${field}: there is no such one here`,
    });
  server.addService(
    {
      describe: definitionOf(methods.describe, false, false),
      generate: definitionOf(methods.generate, false, true),
      verify: definitionOf(methods.verify, true, true),
      draw: definitionOf(methods.draw, false, false),
    },
    {
      describe: (_: unknown, answer: (error: null, response: DescribeResponse) => void) =>
        answer(null, { ...described(), ...behave().describe?.() }),
      generate: (call: GenerateCall) => {
        const behaviour = behave();
        const unknown = unknownName(call.request, behaviour);
        if (unknown === undefined) (behaviour.generate ?? generateAll)(call.request, call);
        else refuse(unknown, call);
      },
      verify: (call: VerifyCall) => {
        const behaviour = behave();
        call.on("data", (request: VerifyRequest) => {
          const unknown = unknownName(request, behaviour);
          if (unknown === undefined) (behaviour.verify ?? verifyAll)(request, call);
          else refuse(unknown, call);
        });
        call.on("error", () => undefined);
      },
      draw: (call: { readonly request: DrawRequest }, answer: (error: null, response: DrawResponse) => void) => {
        const result = behave().draw?.(call.request) ?? { case: "svg" as const, value: "<svg></svg>" };
        answer(null, { $typeName: "gradus.v1.DrawResponse", result });
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { address: `127.0.0.1:${port}`, stop: () => server.forceShutdown() };
}

function definitionOf(method: DescMethod, requestStream: boolean, responseStream: boolean) {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream,
    responseStream,
    requestSerialize: (message: MessageShape<typeof method.input>) => Buffer.from(toBinary(method.input, message)),
    requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
    responseSerialize: (message: MessageShape<typeof method.output>) => Buffer.from(toBinary(method.output, message)),
    responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
  };
}
