/** The public API of evaluations. */
export {
  createEvaluations,
  type Evaluation,
  type EvaluationReport,
  type Evaluations,
  type PendingTask,
  type Sample,
} from "./evaluations.ts";
export type { ReportRow } from "./report.ts";
export type { Submission, Submitted } from "./submit.ts";
export { type OpenPart, type Suite, type SuiteDefinition, openSuite } from "./suite.ts";
export { readSuite } from "./suite-file.ts";
export { suiteDefinitions } from "./suites.ts";
