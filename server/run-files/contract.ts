/**
 * Fields that a run file may have: the run's id, and those of the contract's RunConfig. For some fields, the word auto
 * stands for the default.
 */
import type { DescField } from "@bufbuild/protobuf";
import { CreateRunRequestSchema, RunConfigSchema } from "../../proto/gen/gradus/v1/curriculum_pb.js";

export const runFields: readonly DescField[] = [CreateRunRequestSchema.field.runId, ...RunConfigSchema.fields];

/** Number fields whose default is computed by a rule. A run file may write the default as auto, which means unset. */
export const autoFields: ReadonlySet<string> = new Set(["gradus.v1.FrontierPolicy.practice_scale"]);
