/** Fields of a run file, by the contract. */
import type { DescField } from "@bufbuild/protobuf";
import { CreateRunRequestSchema, RunConfigSchema } from "../../proto/gen/gradus/v1/curriculum_pb.js";

export const runFields: readonly DescField[] = [CreateRunRequestSchema.field.runId, ...RunConfigSchema.fields];
