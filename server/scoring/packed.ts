/**
 * Scored groups as a worker hands them over: encoded, in one buffer that is moved and not copied, with room for the
 * feedback, which only the main thread can know. The parts are put together as BatchStepResponse's bytes.
 */
import { toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { BatchStepResponseSchema } from "../gen/gradus/v1/environment_pb.js";
import { FeedbackSchema, type Feedback, GroupOutcomeSchema, OutcomeSchema } from "../gen/gradus/v1/outcome_pb.js";
import { encoderOf } from "../wire/index.ts";
import type { RunFeedback, ScoredGroup } from "./score-group.ts";

export interface PackedGroup {
  readonly sampleIndices: readonly number[];
  readonly feedback: RunFeedback;
}

export type Packed =
  /** No run is concerned: the whole response. */
  | { readonly kind: "response"; readonly bytes: Uint8Array }
  | {
      readonly kind: "parts";
      /** For each group: its fields but the outcomes, and then each outcome. */
      readonly bytes: Uint8Array;
      /** Where each of them ends. */
      readonly ends: Uint32Array;
      readonly groups: readonly PackedGroup[];
    };

/** Field numbers of the contract. */
const GROUPS = BatchStepResponseSchema.field.groups.number;
const OUTCOMES = GroupOutcomeSchema.field.outcomes.number;
const FEEDBACK = OutcomeSchema.field.feedback.number;

const RESPONSE = BatchStepResponseSchema.typeName;
const encodeResponse = encoderOf(BatchStepResponseSchema);
const encodeGroup = encoderOf(GroupOutcomeSchema);
const encodeOutcome = encoderOf(OutcomeSchema);

export function pack(scored: readonly ScoredGroup[]): Packed {
  if (scored.every(({ feedback }) => feedback.kind === "none")) {
    const groups = scored.map(({ outcome }) => outcome);
    // In a buffer of its own: small ones share theirs, which cannot be moved.
    return { kind: "response", bytes: Uint8Array.from(encodeResponse({ $typeName: RESPONSE, groups })) };
  }
  const parts = scored.flatMap(({ outcome }) => [
    encodeGroup({ ...outcome, outcomes: [] }),
    ...outcome.outcomes.map(encodeOutcome),
  ]);
  let end = 0;
  const ends = Uint32Array.from(parts, (part) => (end += part.length));
  // A buffer of its own: Buffer.concat takes small ones from a pool, which cannot be moved.
  const bytes = new Uint8Array(end);
  for (const [i, part] of parts.entries()) bytes.set(part, i === 0 ? 0 : ends[i - 1]);
  const groups = scored.map(({ outcome, feedback }) => ({
    sampleIndices: outcome.outcomes.map(({ sampleIndex }) => sampleIndex),
    feedback,
  }));
  return { kind: "parts", bytes, ends, groups };
}

/** `feedback` holds for each group what its outcomes did; undefined: no run issued its task. */
export function unpack(
  packed: Extract<Packed, { kind: "parts" }>,
  feedback: readonly (readonly Feedback[] | undefined)[],
): Uint8Array {
  const { bytes, ends } = packed;
  const writer = new BinaryWriter();
  let part = 0;
  const next = (): Uint8Array => bytes.subarray(part === 0 ? 0 : ends[part - 1], ends[part++]);
  for (const [i, { sampleIndices }] of packed.groups.entries()) {
    writer.tag(GROUPS, WireType.LengthDelimited).fork().raw(next());
    for (const j of sampleIndices.keys()) {
      writer.tag(OUTCOMES, WireType.LengthDelimited).fork().raw(next());
      const own = feedback[i]?.[j];
      if (own !== undefined) writer.tag(FEEDBACK, WireType.LengthDelimited).bytes(toBinary(FeedbackSchema, own));
      writer.join();
    }
    writer.join();
  }
  return writer.finish();
}
