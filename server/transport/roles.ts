/**
 * Table of the role that each method requires. A method that is missing here does not compile. Health checks are open
 * to all; reflection requires the role viewer.
 */
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import type { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import type { EvaluationService } from "../../proto/gen/gradus/v1/evaluation_pb.js";
import type { Role } from "../runtime/tokens.ts";

type RolesOf<Service extends DescService> = { readonly [Method in keyof Service["method"]]: Role };

const environments: RolesOf<typeof EnvironmentService> = {
  getServerInfo: "viewer",
  // Messages of errors are only for operators, see server-status.ts.
  getServerStatus: "viewer",
  listEnvironments: "viewer",
  getEnvironment: "viewer",
  drawTask: "viewer",
  reset: "trainer",
  batchReset: "trainer",
  reissueTasks: "trainer",
  step: "trainer",
  batchStep: "trainer",
  streamSteps: "trainer",
  tryAnswer: "trainer",
  // Only operators may get solutions, because a trainer would train on them.
  solveTask: "operator",
};

const curriculum: RolesOf<typeof CurriculumService> = {
  getRun: "viewer",
  listRuns: "viewer",
  watchRun: "viewer",
  getHistory: "viewer",
  getGroups: "viewer",
  listRows: "viewer",
  listRunSamples: "viewer",
  getViolations: "viewer",
  checkRun: "trainer",
  simulateRun: "trainer",
  comparePolicy: "trainer",
  createRun: "trainer",
  nextBatch: "trainer",
  nextEvaluation: "trainer",
  reportAdvantages: "trainer",
  closeGroups: "trainer",
  reopenGroups: "trainer",
  rateRows: "trainer",
  // A trainer exports its run into its checkpoints, and imports it when it restores one.
  exportRun: "trainer",
  importRun: "trainer",
  updateShape: "operator",
  updatePolicy: "operator",
  setWeights: "operator",
  advance: "operator",
  pause: "operator",
  resume: "operator",
  annotateRun: "operator",
  deleteRun: "operator",
  deleteRunSamples: "operator",
};

const evaluations: RolesOf<typeof EvaluationService> = {
  listSuites: "viewer",
  getEvaluation: "viewer",
  listEvaluations: "viewer",
  listSamples: "viewer",
  getReport: "viewer",
  listPendingTasks: "viewer",
  createEvaluation: "trainer",
  holdEvaluation: "trainer",
  submitCompletions: "trainer",
  batchSubmitCompletions: "trainer",
  deleteEvaluation: "operator",
  // Rescoring covers the completions of all callers, and a judge (a model that scores) may cost money for each.
  rescore: "operator",
};

const services: Readonly<Record<string, Readonly<Record<string, Role>>>> = {
  "gradus.v1.EnvironmentService": environments,
  "gradus.v1.CurriculumService": curriculum,
  "gradus.v1.EvaluationService": evaluations,
};

/**
 * Returns the lowest role that may call a method; higher roles may too. Methods that are not in the table require an
 * operator.
 */
export function roleOf({ parent, localName }: Pick<DescMethod, "parent" | "localName">): Role {
  return services[parent.typeName]?.[localName] ?? "operator";
}
