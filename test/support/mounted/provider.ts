/** A provider over gRPC that does what a test wants: words backwards, or whatever else. */
import { fromBinary, toBinary, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServerDuplexStream, type ServerWritableStream } from "@grpc/grpc-js";
import {
  EnvironmentProvider,
  type DescribeResponse,
  type GenerateRequest,
  type GenerateResponse,
  type VerifyRequest,
  type VerifyResponse,
} from "../../../proto/gen/gradus/v1/provider_pb.js";
import { Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";

type GenerateCall = ServerWritableStream<GenerateRequest, GenerateResponse>;
type VerifyCall = ServerDuplexStream<VerifyRequest, VerifyResponse>;

export interface Behaviour {
  readonly describe?: () => Partial<DescribeResponse>;
  /** Answers a request that came whole. */
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
      limits: { $typeName: "gradus.v1.ProviderLimits", generateMs: 100, verifyMs: 100, answerBytes: 0 },
      remarks: [],
      turnsMax: 1,
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
      prompt: [{ $typeName: "gradus.v1.ChatMessage", role: "user", content: `Write ${number}.` }],
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

/** `behave` is asked at each call, so that a test may change its mind. */
export async function startProvider(behave: () => Behaviour = () => ({})) {
  const server = new Server();
  const methods = EnvironmentProvider.method;
  server.addService(
    {
      describe: definitionOf(methods.describe, false, false),
      generate: definitionOf(methods.generate, false, true),
      verify: definitionOf(methods.verify, true, true),
    },
    {
      describe: (_: unknown, answer: (error: null, response: DescribeResponse) => void) =>
        answer(null, { ...described(), ...behave().describe?.() }),
      generate: (call: GenerateCall) => (behave().generate ?? generateAll)(call.request, call),
      verify: (call: VerifyCall) => {
        call.on("data", (request: VerifyRequest) => (behave().verify ?? verifyAll)(request, call));
        call.on("error", () => undefined);
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
