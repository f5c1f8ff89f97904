/** Fields that a run file may have: the run's id, and the contract's RunConfig. */
import type { DescField } from "@bufbuild/protobuf";
import { CreateRunRequestSchema, RunConfigSchema } from "../../proto/gen/gradus/v1/curriculum_pb.js";

export const runFields: readonly DescField[] = [CreateRunRequestSchema.field.runId, ...RunConfigSchema.fields];
