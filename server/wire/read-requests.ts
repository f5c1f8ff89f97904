/** Requests that hold completions, as proto/gradus/v1/environment.proto numbers their fields. */
import type {
  BatchStepRequest,
  Completion,
  CompletionGroup,
  StepRequest,
  StreamStepsRequest,
} from "../gen/gradus/v1/environment_pb.js";
import { type MessageReader, unknownField } from "./message-reader.ts";

// A field's number and wire type as they stand before it: number * 8 + wire type, which is 0 for numbers, 2 for all else.

function readCompletion(from: MessageReader): Completion {
  let sampleIndex = 0;
  let text = "";
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 8) sampleIndex = from.uint32();
    else if (tag === 18) text = from.string();
    else unknownField();
  }
  return { $typeName: "gradus.v1.Completion", sampleIndex, text };
}

function readGroup(from: MessageReader): CompletionGroup {
  let taskId = "";
  let groupId = "";
  let numGenerations = 0;
  const completions: Completion[] = [];
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 26) completions.push(from.message(readCompletion));
    else if (tag === 10) taskId = from.string();
    else if (tag === 18) groupId = from.string();
    else if (tag === 32) numGenerations = from.uint32();
    else unknownField();
  }
  return { $typeName: "gradus.v1.CompletionGroup", taskId, groupId, completions, numGenerations };
}

export function readBatchStepRequest(from: MessageReader): BatchStepRequest {
  const groups: CompletionGroup[] = [];
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) groups.push(from.message(readGroup));
    else unknownField();
  }
  return { $typeName: "gradus.v1.BatchStepRequest", groups };
}

export function readStreamStepsRequest(from: MessageReader): StreamStepsRequest {
  let requestId = "";
  const groups: CompletionGroup[] = [];
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 18) groups.push(from.message(readGroup));
    else if (tag === 10) requestId = from.string();
    else unknownField();
  }
  return { $typeName: "gradus.v1.StreamStepsRequest", requestId, groups };
}

export function readStepRequest(from: MessageReader): StepRequest {
  let taskId = "";
  let groupId = "";
  let sampleIndex = 0;
  let completion = "";
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) taskId = from.string();
    else if (tag === 18) groupId = from.string();
    else if (tag === 24) sampleIndex = from.uint32();
    else if (tag === 34) completion = from.string();
    else unknownField();
  }
  return { $typeName: "gradus.v1.StepRequest", taskId, groupId, sampleIndex, completion };
}
