/**
 * Builds the messages (frames) that send requests (items) to a worker, and reads the frames with the worker's answers.
 */
import type { FrameContent } from "./provider-frames.ts";
import {
  type AdvanceAsked,
  type AdvanceResult,
  type AskedEnvironment,
  type AskOptions,
  type DrawResult,
  type Failure,
  failure,
  failureOfWire,
  type GenerateAsked,
  type GenerateResult,
  type VerifyResult,
  type VerifyAsked,
} from "./provider.ts";
import type {
  EnvironmentProviderAdvanceRequest,
  EnvironmentProviderAdvanceResponse,
  DrawResponse,
  GenerateResponse,
  VerifyResponse,
} from "../../../proto/gen/gradus/v1/provider_pb.js";
import type { Item } from "./item-queue.ts";

type Settle<Answer> = (answer: Answer | Failure) => void;

const named = ({ id: environment, version, digest }: AskedEnvironment) => ({ environment, version, digest });

// Functions that read responses, both of local hosts and of remote providers.

/** Returns the failure for a response message that contains no result. */
const empty = (message: string): Failure =>
  failure("raised", `${message}.result must be set; got a response without it`);

export function generatedOf({ result }: GenerateResponse): GenerateResult {
  switch (result.case) {
    case "made":
      return { kind: "made", instance: result.value };
    case "exhausted":
      return { kind: "exhausted", message: result.value };
    case "failure":
      return failureOfWire(result.value);
    case undefined:
      return empty("GenerateResponse");
  }
}

export function verifiedOf({ result }: VerifyResponse): VerifyResult {
  if (result.case === "facts") return { kind: "facts", facts: result.value };
  return result.case === "failure" ? failureOfWire(result.value) : empty("VerifyResponse");
}

export function drawnOf({ result }: DrawResponse): DrawResult {
  if (result.case === "svg") return { kind: "svg", svg: result.value };
  return result.case === "failure" ? failureOfWire(result.value) : empty("DrawResponse");
}

export function advancedOf({ result }: EnvironmentProviderAdvanceResponse): AdvanceResult {
  if (result.case === "turn") return { kind: "turn", turn: result.value };
  return result.case === "failure" ? failureOfWire(result.value) : empty("EnvironmentProviderAdvanceResponse");
}

/** Returns the request that asks a provider to carry out calls of an episode. */
export function advanceRequest(
  environment: AskedEnvironment,
  { instance, state, calls }: AdvanceAsked,
): EnvironmentProviderAdvanceRequest {
  return {
    $typeName: "gradus.v1.EnvironmentProviderAdvanceRequest",
    ...named(environment),
    instance,
    ...(state && { state }),
    calls: calls.map((call) => ({ $typeName: "gradus.v1.ProvidedCall", ...call })),
  };
}

export function advanceItem(
  environment: AskedEnvironment,
  asked: AdvanceAsked,
  { party, signal, fresh = false }: AskOptions,
): (settle: Settle<AdvanceResult>) => Item {
  return (settle): Item => ({
    // Each call gets a subject of its own, which no other item shares, because a frame holds one Advance request only.
    subject: {},
    party,
    environment,
    limitMs: environment.limits.advanceMs,
    fresh,
    signal,
    lost: 0,
    settle,
    frameOf: () => ({ case: "advance", value: advanceRequest(environment, asked) }),
    read: (content) => (content.case === "advanced" ? advancedOf(content.value) : undefined),
  });
}

export function generateItem(
  environment: AskedEnvironment,
  asked: GenerateAsked,
  seed: bigint,
  { party, signal, fresh = false }: AskOptions,
): (settle: Settle<GenerateResult>) => Item {
  const { level, parametersJson } = asked;
  return (settle): SeedItem => ({
    // All seeds of one `generate` call have the same subject, so that one frame requests them together.
    subject: asked,
    party,
    environment,
    limitMs: environment.limits.generateMs,
    fresh,
    signal,
    lost: 0,
    seed,
    settle,
    frameOf: (items) => ({
      case: "generate",
      value: {
        $typeName: "gradus.v1.GenerateRequest",
        ...named(environment),
        level,
        parametersJson,
        seeds: items.map((item) => (item as SeedItem).seed),
      },
    }),
    read: (content, place) =>
      content.case === "generated" && content.value.index === place ? generatedOf(content.value) : undefined,
  });
}

interface SeedItem extends Item {
  readonly seed: bigint;
}

export function verifyItem(
  environment: AskedEnvironment,
  { instance, answer }: VerifyAsked,
  { party, signal, fresh = false }: AskOptions,
): (settle: Settle<VerifyResult>) => Item {
  return (settle): AnswerItem => ({
    subject: instance,
    party,
    environment,
    limitMs: environment.limits.verifyMs,
    fresh,
    signal,
    lost: 0,
    answer,
    settle,
    frameOf: (items) => verifyFrame(environment, instance, items as readonly AnswerItem[]),
    read: (content, place) => {
      const response = responseAt(content, place);
      return response && verifiedOf(response);
    },
  });
}

/** Returns the response for the answer at index `place` of the batch. Undefined: the frame does not contain it. */
function responseAt(content: FrameContent, place: number): VerifyResponse | undefined {
  if (content.case === "verified") return content.value.index === place ? content.value : undefined;
  if (content.case !== "verifiedTogether") return undefined;
  const { index, places, results } = content.value;
  return results[places[place - index] ?? -1];
}

interface AnswerItem extends Item {
  readonly answer: string;
}

function verifyFrame(environment: AskedEnvironment, instance: Uint8Array, items: readonly AnswerItem[]): FrameContent {
  return {
    case: "verify",
    value: {
      $typeName: "gradus.v1.VerifyRequest",
      ...named(environment),
      instance,
      answers: items.map(({ answer }, index) => ({ $typeName: "gradus.v1.ProvidedAnswer", index, text: answer })),
    },
  };
}

export function drawItem(
  environment: AskedEnvironment,
  { instance, answer }: { readonly instance: Uint8Array; readonly answer: string | undefined },
  { party, signal }: AskOptions,
): (settle: Settle<DrawResult>) => Item {
  const { id, version } = environment;
  return (settle) => {
    const item: Item = {
      // Each picture gets a subject of its own, which no other item shares, because a frame can request only one
      // picture.
      subject: {},
      party,
      environment,
      limitMs: environment.limits.generateMs,
      fresh: false,
      signal,
      lost: 0,
      settle,
      frameOf: () => ({
        case: "draw",
        value: {
          $typeName: "gradus.v1.DrawRequest",
          environment: id,
          version,
          instance,
          ...(answer !== undefined && { answer }),
        },
      }),
      read: (content) => (content.case === "drawn" ? drawnOf(content.value) : undefined),
    };
    return item;
  };
}
