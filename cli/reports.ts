/** Reads the report files that command-line options name. */
import type { JsonValue } from "@bufbuild/protobuf";
import type { Report } from "../clients/ts/src/public.ts";
import { readFileOf } from "./files.ts";
import { CliProblem } from "./problem.ts";

/** Reads the reports in the files that an option names. Each file must be a report.json of gradus eval. */
export async function reportsOf(option: string, paths: readonly string[]): Promise<readonly Report[]> {
  const { reportFromJson } = await import("./evaluation/summary.ts");
  return paths.map((path) => {
    const report = reportFromJson(parsed(readFileOf(option, path)));
    if (report !== undefined) return report;
    throw new CliProblem("usage", `${option} must be a report.json of gradus eval; got '${path}'`);
  });
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}
