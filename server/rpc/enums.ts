/**
 * Converts between the numbers of protobuf enums and the words that the server uses for them, e.g. SPLIT_EVAL and
 * "eval".
 */
import * as curriculum from "../../proto/gen/gradus/v1/curriculum_pb.js";
import * as environment from "../../proto/gen/gradus/v1/environment_pb.js";
import * as outcome from "../../proto/gen/gradus/v1/outcome_pb.js";
import * as task from "../../proto/gen/gradus/v1/task_pb.js";
import { enumerated } from "../tasks/task-id-numbers.ts";

export const closeCauses = enumerated(curriculum.CloseCause);
export const signKinds = enumerated(curriculum.HackingSignKind);
export const splits = enumerated(task.Split);
export const sources = enumerated(task.Source);
export const answerFormats = enumerated(task.AnswerFormat);
export const thinkings = enumerated(task.Thinking);
export const goals = enumerated(environment.Goal);
export const stopReasons = enumerated(outcome.StopReason);
export const noRewardReasons = enumerated(outcome.NoRewardReason);
export const verdicts = enumerated(outcome.Verdict);
