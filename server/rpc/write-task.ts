/** Converts a task to the protobuf message Task, which trainers get. */
import { stopStrings } from "../../envs/answers/wording.ts";
import type { Registry } from "../../envs/registry.ts";
import { changedParameters, schemeNamed } from "../../envs/reward/schemes.ts";
import type { Tool } from "../../envs/turns/turns.ts";
import type { Task, Tool as WireTool } from "../../proto/gen/gradus/v1/task_pb.js";
import type { Keyring } from "../tasks/keyring.ts";
import type { Scorer } from "../tasks/scoring/scorer.ts";
import type { TaskSpec } from "../tasks/spec.ts";
import type { MadeTask } from "../tasks/task.ts";
import { mintTaskId, type RunPlace, type TaskToken } from "../tasks/task-id.ts";
import { answerFormats, sources, splits, thinkings } from "./enums.ts";
import { messageToWire } from "./write-outcome.ts";

export interface PresentDeps {
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly scorer: Pick<Scorer, "expect">;
}

/** Position of a task in its run, e.g. its arm, its update batch and its probability. */
export interface ArmPlace extends RunPlace {
  readonly armId: string;
  /** Index of the update batch that the task belongs to. */
  readonly batch: number;
  /** Epoch of the run, i.e. its number of imports, when the task was handed out. */
  readonly epoch: number;
  /** Probability with which the arm was drawn. */
  readonly probability: number;
  /** KL coefficient for tasks of the arm. Undefined: the arm sets none. */
  readonly klCoefficient?: number | undefined;
}

/**
 * Converts a made task to the protobuf message Task. The same task always gets the same id. The message is an object
 * literal, because `create` takes longer than all other steps.
 */
export function presentTask(deps: PresentDeps, spec: TaskSpec, made: MadeTask, run?: ArmPlace): Task {
  const token = tokenOf(deps.registry, spec, made, run);
  const { taskId, groupId } = mintTaskId(deps.keyring, token);
  deps.scorer.expect(taskId, groupId, token);
  return {
    $typeName: "gradus.v1.Task",
    taskId,
    groupId,
    prompt: made.prompt.map((message) => messageToWire(message)),
    environment: spec.environment,
    version: spec.version,
    level: spec.level,
    split: splits.toWire[spec.split],
    source: sources.toWire[spec.source],
    answerFormat: answerFormats.toWire[spec.answerFormat],
    thinking: thinkings.toWire[spec.thinking],
    hints: {
      $typeName: "gradus.v1.TaskHints",
      stop: scansForCommits(deps.registry, spec) ? [] : [...stopStrings(spec.answerFormat)],
      ...(run?.klCoefficient !== undefined && { klCoefficient: run.klCoefficient }),
      metadata: { ...made.metadata },
    },
    runId: run?.runId ?? "",
    armId: run?.armId ?? "",
    cursor: BigInt(run?.cursor ?? 0),
    instanceHash: made.key.hash,
    poolEpoch: made.key.epoch ?? 0,
    updateBatch: BigInt(run?.batch ?? 0),
    epoch: run?.epoch ?? 0,
    armProbability: run?.probability ?? 0,
    inEverySplit: made.inEverySplit ?? false,
    callsMax: spec.calls ?? 0,
    tools: toolsOf(deps.registry, spec).map(({ tool }) => toolToWire(tool)),
    ...(run?.evaluationRound !== undefined && { evaluationRound: BigInt(run.evaluationRound) }),
  };
}

function tokenOf(registry: Registry, spec: TaskSpec, { key, inline }: MadeTask, run: RunPlace | undefined): TaskToken {
  const { environment, version, split, answerFormat, thinking, rewardScheme, digest, calls, detail } = spec;
  const tools = toolsOf(registry, spec).map(({ place }) => place);
  return {
    environment,
    version,
    split,
    answerFormat,
    thinking,
    rewardScheme,
    key,
    rewardParameters: givenParameters(registry, spec),
    level: key.origin.kind === "generated" ? spec.level : "",
    ...(run && { run }),
    ...(digest !== undefined && { digest }),
    ...(calls !== undefined && { calls }),
    ...(tools.length > 0 && { tools }),
    ...(detail !== undefined && { detail }),
    ...(inline !== undefined && { inline: bytesOf(inline) }),
  };
}

/**
 * Returns the tools that a specification allows, each with its position, from 1, in the environment's list of tools.
 */
function toolsOf(registry: Registry, { environment, version, tools }: TaskSpec) {
  if (tools === undefined) return [];
  const found = registry.find(environment, version);
  const all = found.kind === "found" ? (found.environment.turns?.tools ?? []) : [];
  return all.flatMap((tool, i) => (tools.includes(tool.name) ? [{ tool, place: i + 1 }] : []));
}

export function toolToWire({ name, description, parameters }: Tool): WireTool {
  return { $typeName: "gradus.v1.Tool", name, description, parametersJson: JSON.stringify(parameters) };
}

/**
 * Converts a text to bytes, one for each character, in a buffer of their own. A small Buffer of Node would be a view of
 * a large one, and keep it in memory.
 */
function bytesOf(inline: string): Uint8Array {
  const bytes = new Uint8Array(inline.length);
  for (let i = 0; i < inline.length; i++) bytes[i] = inline.charCodeAt(i);
  return bytes;
}

/**
 * Returns whether the reward scheme reads a completion beyond its first answer. If so, the trainer must not stop
 * generating after an answer.
 */
function scansForCommits(registry: Registry, { environment, version, rewardScheme }: TaskSpec): boolean {
  const found = registry.find(environment, version);
  return found.kind === "found" && schemeNamed(found.environment, rewardScheme)?.scan !== undefined;
}

/**
 * Cache of the reward parameters that differ from the scheme's defaults, by task specification. Task ids include only
 * these parameters, so that ids stay short.
 */
const given = new WeakMap<TaskSpec, TaskSpec["rewardParameters"]>();

function givenParameters(registry: Registry, spec: TaskSpec): TaskSpec["rewardParameters"] {
  const known = given.get(spec);
  if (known !== undefined) return known;
  const found = registry.find(spec.environment, spec.version);
  const scheme = found.kind === "found" ? schemeNamed(found.environment, spec.rewardScheme) : undefined;
  const parameters = scheme === undefined ? spec.rewardParameters : changedParameters(scheme, spec.rewardParameters);
  given.set(spec, parameters);
  return parameters;
}
