/** Checks the ranges of the trainer's settings (e.g. its learning rate), which a run stores. */
import { create } from "@bufbuild/protobuf";
import {
  type RunConfig,
  type TrainerSettings,
  TrainerSettingsSchema,
} from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { LIMITS } from "../../../proto/limits.ts";
import { RpcError } from "../../base/rpc.ts";
import { checkBytes, checkRange, invalid } from "../request-checks.ts";

const COUNT_MAX = 2 ** 24;
const IMPORTANCE_LEVELS: readonly string[] = ["", "token", "sequence"];

/**
 * Minimum and maximum of number settings, by the end of the field's name. A number whose name matches no row is a
 * count, from 1 to COUNT_MAX.
 */
const RANGES: readonly (readonly [RegExp, number, number])[] = [
  [/learning_rate$/, 1e-12, 1],
  [/top_p$/, 1e-6, 1],
  [/top_k$/, 0, COUNT_MAX],
  [/gradient_clip$/, 0, 1e6],
  [/(?:coefficient|clip|temperature|beta)$/, 0, 100],
];

export function checkTrainer(settings: TrainerSettings, field: string): void {
  for (const { name, localName } of TrainerSettingsSchema.fields) {
    const value = settings[localName as keyof TrainerSettings];
    const [, min = 1, max = COUNT_MAX] = RANGES.find(([ending]) => ending.test(name)) ?? [];
    if (typeof value === "string") checkBytes(value, LIMITS.TrainerSettings.algorithm.max, `${field}.${name}`);
    else if (value !== undefined) checkRange(Number(value), min, max, `${field}.${name}`);
  }
  if (!IMPORTANCE_LEVELS.includes(settings.importanceLevel))
    throw invalid(`${field}.importance_level`, `must be token or sequence; got '${settings.importanceLevel}'`);
}

/**
 * Throws if the given settings differ from those that the run stores. A configuration without settings is always
 * accepted.
 */
export function checkSameTrainer(runId: string, kept: RunConfig, asked: RunConfig): void {
  if (asked.trainer === undefined) return;
  const [one, other] = [kept.trainer ?? create(TrainerSettingsSchema), asked.trainer];
  const differs = (name: string): boolean =>
    one[name as keyof TrainerSettings] !== other[name as keyof TrainerSettings];
  const found = TrainerSettingsSchema.fields.find(({ localName }) => differs(localName));
  if (found === undefined) return;
  const field = `trainer.${found.name}`;
  throw new RpcError("ALREADY_EXISTS", `run "${runId}" exists with another ${field}`, { field });
}
