/**
 * What a completion costs, of the usual kinds: microseconds of one core for locating, stripping, reading and verifying it,
 * the median of seven rounds. No option: node bench/answers/cost.ts
 */
import { locateAnswers } from "../../envs/answers/locate.ts";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import { score } from "../../envs/score.ts";
import { type Case, cases, issue, scoreTask } from "../../test/envs/every.ts";

const ROUNDS = 7;
const MS_A_ROUND = 40;
const THOUGHTS = "Of 0, 3 and 5 the edge (0, 3) weighs 7 < 9, so that 5 comes next; the answer is near. ";

/** Microseconds a call. */
function costOf(call: () => unknown): number {
  for (const end = performance.now() + MS_A_ROUND; performance.now() < end;) call();
  const rounds = Array.from({ length: ROUNDS }, () => {
    let calls = 0;
    const start = performance.now();
    while (performance.now() - start < MS_A_ROUND) for (let i = 0; i < 16; i++, calls++) call();
    return (1000 * (performance.now() - start)) / calls;
  });
  return rounds.toSorted((a, b) => a - b)[ROUNDS >> 1] as number;
}

const FORMATS: readonly AnswerFormat[] = ["think_answer", "answer_line", "boxed"];

for (const id of ["np/tsp", "countdown", "qa"]) {
  const given = cases.find(({ environment }) => environment.id === id) as Case;
  const issued = issue(given, 1n, "train");
  const { solver } = given.environment;
  if (solver === undefined) throw new Error(`${id} has no solver`);
  const answer = solver.format(solver.solve(issued.instance).answer);
  for (const format of FORMATS) {
    for (const units of [300, 4000]) {
      const thoughts = THOUGHTS.repeat(Math.ceil(units / THOUGHTS.length)).slice(0, units);
      // As a completion comes off the wire: no part of another text.
      const text = Buffer.from(wrapAnswer(answer, format, thoughts)).toString();
      const task = scoreTask(given.environment, issued, format);
      const [whole, locating] = [costOf(() => score(task, text)), costOf(() => locateAnswers(text, format))];
      const cells = [id.padEnd(12), format.padEnd(14), `${text.length} characters`.padEnd(18)];
      console.log([...cells, `${whole.toFixed(2)} µs, of which locating ${locating.toFixed(2)}`].join(""));
    }
  }
}
