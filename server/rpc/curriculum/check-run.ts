/** Serves CheckRun, which finds the problems of a run's configuration before the run is created, and SimulateRun. */
import { create, fromJson } from "@bufbuild/protobuf";
import { LIMITS } from "../../../proto/limits.ts";
import { didYouMean } from "../../../envs/lib/text.ts";
import type { Simulated } from "../../background/simulate.ts";
import type { RunConfig } from "../../curriculum/types.ts";
import type { SimulatedOutcome } from "../../simulation/simulated-outcome.ts";
import { students } from "../../simulation/students.ts";
import * as wire from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { runFields } from "../../run-files/contract.ts";
import { fieldIn, lineIn, type RunText } from "../../run-files/read-run-file.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import { type CallContext, type CodeName, RpcError, type ServiceHandlers } from "../../base/rpc.ts";
import { growthWarnings, rowWarnings } from "./check-arms.ts";
import { checkBytes, checkRange, invalid, required, requesterOf } from "../request-checks.ts";
import type { ServiceDeps } from "../deps.ts";
import { simulatedPlaces } from "./simulated-places.ts";
import { invalidAt } from "../to-rpc-error.ts";
import { runConfigToWire } from "./read-run-config.ts";
import { valueOrThrow } from "../environment/inspect-handlers.ts";
import { checkConfig, checkParts } from "../../curriculum/check-config.ts";
import { checkTasks, readConfig } from "./create-run.ts";

type Handlers = Pick<ServiceHandlers<typeof wire.CurriculumService>, "checkRun" | "simulateRun">;

const STUDENT_BYTES_MAX = 64;
/** Default and maximum number of update batches to simulate. The default applies if the run has no end or is longer. */
const UPDATES = LIMITS.SimulateRunRequest.updates;
/** Maximum number of samples in a simulation, over all its update batches. */
const SAMPLES_MAX = 2 ** 24;
/** Maximum number of arms times update batches in a simulation. */
const ARM_BATCHES_MAX = 2 ** 17;

/**
 * Status codes of errors that CheckRun reports as problems of the configuration. An error with another code ends the
 * call.
 */
const REFUSALS: readonly CodeName[] = ["INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION"];

export function checkingHandlers(deps: ServiceDeps): Handlers {
  return {
    async checkRun({ source }, context) {
      if (source.case === undefined) throw invalid("source", "set either file or config");
      if (source.case === "config")
        return responseOf(undefined, source.value, await foundIn(deps, source.value, context));
      const job = { kind: "read", text: checkBytes(source.value, LIMITS.CheckRunRequest.file.max, "file") } as const;
      const read = valueOrThrow(await deps.background.run<"read">(job, requesterOf(context)));
      if (read.kind === "invalid")
        return create(wire.CheckRunResponseSchema, { problems: read.problems.map((problem) => ({ ...problem })) });
      const config = fromJson(wire.RunConfigSchema, read.text.config);
      return responseOf(read.text, config, await foundIn(deps, config, context));
    },
    async simulateRun(request, context) {
      const config = await readNewConfig(deps, required(request.config, "config"));
      const growing = config.arms.findIndex(({ grow }) => grow !== undefined);
      if (growing >= 0)
        throw invalid(
          `config.arms[${growing}].grow`,
          "simulated students know fixed levels only: give the arm a level",
        );
      const updates = updatesOf(request.updates, config);
      const job = {
        kind: "simulate",
        config: withoutSpecs(config),
        places: simulatedPlaces(config, deps.registry),
        student: studentOf(request.student),
        seed: String(request.seed),
        updates,
        pointsMax: Math.min(updates, request.points || LIMITS.SimulateRunRequest.points.default),
      } as const;
      return simulatedToWire(config, valueOrThrow(await deps.background.run<"simulate">(job, requesterOf(context))));
    },
  };
}

/** Reads the configuration of a new run, and throws the errors that CreateRun would give for it. */
async function readNewConfig(deps: ServiceDeps, asked: wire.RunConfig): Promise<RunConfig<TaskSpec>> {
  const config = await readConfig(deps, asked);
  const wrong = checkConfig(config) ?? checkParts(config, config.policy);
  if (wrong !== undefined) throw invalidAt("config.", wrong);
  return config;
}

interface CheckedConfig {
  readonly problems: readonly RpcError[];
  readonly warnings: readonly string[];
  /** Configuration that CreateRun would store. Undefined: the given one has problems. */
  readonly created?: RunConfig<TaskSpec>;
}

/** Returns all errors and warnings that CreateRun would give. */
async function foundIn(deps: ServiceDeps, wireConfig: wire.RunConfig, context: CallContext): Promise<CheckedConfig> {
  try {
    const config = await checkTasks(deps, await readNewConfig(deps, wireConfig), wireConfig, requesterOf(context));
    const warnings = [...(await rowWarnings(deps, config)), ...growthWarnings(deps, config.arms)];
    return { problems: [], warnings, created: config };
  } catch (error) {
    if (!(error instanceof RpcError) || !REFUSALS.includes(error.code)) throw error;
    return { problems: [error, ...error.others], warnings: [] };
  }
}

function responseOf(text: RunText | undefined, config: wire.RunConfig, { problems, warnings, created }: CheckedConfig) {
  const remarks = problems.map(({ message }) => {
    const { field = "", rest = message } = fieldIn(message, runFields) ?? {};
    return { field, message: rest, line: text === undefined ? 0 : lineIn(text, field) };
  });
  return create(wire.CheckRunResponseSchema, {
    problems: remarks.sort((a, b) => a.line - b.line),
    warnings: warnings.map((message) => ({ message })),
    config,
    runId: text?.runId ?? "",
    ...(created !== undefined && { created: runConfigToWire(created) }),
  });
}

/** Returns the configuration without task specifications, which simulated students do not need. */
function withoutSpecs(config: RunConfig<TaskSpec>): RunConfig<null> {
  return { ...config, arms: config.arms.map((arm) => ({ ...arm, spec: null })), evaluationArms: [] };
}

function studentOf(name: string): string {
  const [first] = students;
  if (name === "" && first !== undefined) return first.name;
  const names = students.map((student) => student.name);
  if (names.includes(checkBytes(name, STUDENT_BYTES_MAX, "student"))) return name;
  throw invalid("student", `there is no student '${name}'${didYouMean(name, names)}; there are ${names.join(", ")}`);
}

function updatesOf(asked: number, { length, promptsPerUpdate, numGenerations, arms }: RunConfig): number {
  const whole = Math.ceil(length / promptsPerUpdate) || UPDATES.default;
  const samples = promptsPerUpdate * numGenerations;
  const most = Math.floor(Math.min(UPDATES.max, SAMPLES_MAX / samples, ARM_BATCHES_MAX / arms.length));
  if (most === 0)
    throw invalid(
      "config",
      `one update batch has ${samples} samples, and a simulation may have only ${SAMPLES_MAX}: lower prompts_per_update or num_generations`,
    );
  return asked === 0 ? Math.min(whole, UPDATES.default, most) : checkRange(asked, 1, most, "updates");
}

function simulatedToWire({ arms }: RunConfig, { points, given, equalShares, target }: Simulated) {
  let cursor = 0n;
  return create(wire.SimulateRunResponseSchema, {
    points: points.map(({ tasks, counts, probabilities, success, ...rest }) => {
      const from = cursor;
      cursor += BigInt(tasks);
      return {
        ...rest,
        cursor: from,
        counts: [...counts],
        probabilities: [...probabilities],
        success: [...success],
      };
    }),
    outcome: outcomeToWire(given),
    equalShares: outcomeToWire(equalShares),
    armIds: arms.map(({ id }) => id),
    target,
  });
}

function outcomeToWire({ rolloutsToTarget, final, successMean, wasted, useful }: SimulatedOutcome) {
  return {
    ...(rolloutsToTarget !== null && { rolloutsToTarget: BigInt(rolloutsToTarget) }),
    success: final,
    successMean,
    wasted,
    useful,
  };
}
