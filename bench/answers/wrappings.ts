/**
 * Right answers in the wrappings of test/envs/answers, in every environment or those named: how many are refused. README.md
 * has what it gave. The exit code is 1 if one is.
 *
 *   node bench/answers/wrappings.ts [environment…] [--compositions 1000] [--seed 1] [--shown 10]
 */
import { parseArgs } from "node:util";
import type { Environment } from "../../envs/environment.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import { environments } from "../../envs/registry.ts";
import { composed, EXCEPTIONS, rightAnswers, single, type Right, type Trial } from "../../test/envs/answers/right.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    compositions: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    shown: { type: "string", default: "10" },
  },
});

interface Report {
  tried: number;
  readonly refused: string[];
}

function* trialsOf(environment: Environment): Generator<readonly [Right, Trial]> {
  const rights = rightAnswers(environment);
  for (const format of environment.answerFormats) {
    for (const right of rights) for (const trial of single(environment, right, format)) yield [right, trial];
    const rng = rngFor("wrappings at length", environment.id, format, options.seed);
    for (let i = 0; i < Number(options.compositions); i++) {
      const right = rng.pick(rights);
      yield [right, composed(environment, right, format, rng)];
    }
  }
}

function reportOf(environment: Environment): Report {
  const report: Report = { tried: 0, refused: [] };
  for (const [{ problem }, { format, completion, what }] of trialsOf(environment)) {
    report.tried++;
    const found = problem(format, completion);
    if (found !== undefined) report.refused.push(`${format}: ${what}: ${JSON.stringify(completion)}: ${found}`);
  }
  return report;
}

const chosen = environments.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
for (const environment of chosen) {
  const { tried, refused } = reportOf(environment);
  console.log(`${environment.id.padEnd(22)}${`${tried}`.padStart(8)} tried${`${refused.length}`.padStart(6)} refused`);
  for (const each of refused.slice(0, Number(options.shown))) console.log(`  ${each}`);
  if (refused.length > 0) process.exitCode = 1;
}
for (const { environments: ids, ways, reason } of EXCEPTIONS)
  console.log(`not tried in ${ids.join(", ")}: ${ways.size} ways: ${reason}`);
