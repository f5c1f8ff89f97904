/**
 * `gradus simulate`: shows what a run's configuration would draw, and how soon simulated students would reach the target.
 */
import { type Command, Option } from "commander";
import { basename } from "node:path";
import { students } from "../../../server/simulation/students.ts";
import { createBar } from "../../bar.ts";
import { addLocalOptions, ANY_TEACHER, collect, type LocalFlags, localOf } from "../../connection.ts";
import { checkOut, writeOut } from "../../out.ts";
import { print, printJson, table } from "../../print.ts";
import { CliProblem } from "../../problem.ts";
import { addChangeOptions, type ChangeFlags, readRunFile, type RunFile } from "../../run-file.ts";
import type { Comparison, Side } from "./compare.ts";
import { numberThat, wholeNumber } from "../../task-options.ts";
import { createdOf } from "../../commands/run/create.ts";

interface Flags extends LocalFlags, ChangeFlags {
  readonly student: string;
  readonly seeds: number;
  readonly updates?: number;
  readonly target?: number;
  readonly difficulty?: readonly string[];
  readonly chart?: string;
  readonly json?: boolean;
}

/** Default number of update batches for a run without an end. */
const UPDATES_DEFAULT = 500;

export function addSimulate(program: Command): void {
  const command = program
    .command("simulate")
    .argument("<file>", "the run's configuration, e.g. examples/adsc.yaml")
    .addOption(
      new Option("--student <name>", "kind of simulated student (listed below), or a file that exports one").default(
        students[0]?.name,
      ),
    )
    .option("--seeds <n>", "number of simulated students, each with a seed of its own", wholeNumber(2, 1000), 10)
    .option(
      "--updates <n>",
      "number of update batches (default: the whole run, or 500 if the run has no end)",
      wholeNumber(1, 1e5),
    )
    .option(
      "--target <share>",
      "mean success rate that the student must reach (default: the student's own target)",
      share,
    )
    .addOption(
      new Option(
        "--difficulty <arm=n>",
        "difficulty of an arm, from 0; may be given several times (default: the position of its level in its environment)",
      ).argParser(collect),
    )
    .option("--chart <file>", "write a chart (SVG) of the tasks drawn, as means over the students")
    .option("--json", "print JSON")
    .addHelpText("after", help());
  addLocalOptions(addChangeOptions(command, { pool: false })).action(simulate);
}

function help(): string {
  const width = Math.max(...students.map(({ name }) => name.length));
  return [
    "\nStudents (bench/curriculum/README.md has their law):",
    ...students.map(({ name, models }) => `  ${name.padEnd(width)}  ${models}`),
    "\nArms of one environment are one kind of task, with its levels in order from easy to hard. An update batch teaches a",
    "student as much at any prompts_per_update. Figures compare policies; they do not foretell a model's success.",
    "\nExamples:",
    "  gradus simulate examples/adsc.yaml --updates 500",
    '  gradus simulate examples/adsc.yaml --student "misleading arm" --chart adsc.svg',
  ].join("\n");
}

const share = numberThat((value) => value > 0 && value <= 1, "a number above 0 and at most 1");

async function simulate(path: string, asked: Flags): Promise<void> {
  const file = readRunFile("<file>", path, asked);
  const flags = { ...asked, pool: file.pools };
  const { chart } = flags;
  if (chart !== undefined) checkOut("--chart", chart);
  const compared = await comparedOf(file, flags);
  const name = file.runId ?? basename(path);
  if (chart !== undefined) {
    // Load the chart module only here, because Plot takes longer to load than most commands take to run.
    const { runChart } = await import("../../runs/chart.ts");
    await writeOut("--chart", chart, runChart(`${name}, simulated: ${flags.student}`, compared.series));
  }
  if (flags.json) return printJson(jsonOf(compared, flags));
  print(`${sidesTable(name, compared)}\n\n${armsTable(compared)}\n\n${verdict(compared)}`);
  if (chart !== undefined) print(chart);
}

async function comparedOf(file: RunFile, { student, seeds, updates, target, difficulty, ...flags }: Flags) {
  const [{ familyOf }, { simulatedPlaces }, { difficultiesOf }, { compare }, { CHART_STEPS_MAX }] = await Promise.all([
    import("./families.ts"),
    import("../../../server/rpc/curriculum/simulated-places.ts"),
    import("./difficulties.ts"),
    import("./compare.ts"),
    import("../../runs/chart.ts"),
  ]);
  const found = await familyOf(student);
  if (found.kind !== "found")
    throw new CliProblem(found.kind === "missing" ? "missing" : "usage", `--student: ${found.message}`);
  // Create the run, which checks everything in the file and resolves its configuration.
  const local = await localOf({ ...ANY_TEACHER, ...flags }, "runs");
  try {
    await createdOf(local.client, file, "simulated");
    const run = await local.deps.runs.get("simulated");
    if (run.kind !== "ok") throw new CliProblem("failure", `the created run cannot be read: ${run.message}`);
    const { config } = run.value;
    const growing = config.arms.find(({ grow }) => grow !== undefined);
    if (growing !== undefined)
      throw new CliProblem(
        "usage",
        `<file>: arm '${growing.id}' grows, and simulated students know fixed levels only: give the arm a level`,
      );
    const whole = Math.ceil(config.length / config.promptsPerUpdate);
    const bar = createBar({ done: 0, total: 2 * seeds, format: "{bar} {value}/{total} runs" });
    try {
      return await compare(
        {
          config,
          family: found.family,
          places: simulatedPlaces(
            config,
            local.deps.registry,
            difficultiesOf(
              difficulty,
              config.arms.map(({ id }) => id),
            ),
          ),
          seeds,
          target,
          updates: updates ?? (whole === 0 ? UPDATES_DEFAULT : whole),
          onRun: () => bar.update(1),
        },
        CHART_STEPS_MAX,
      );
    } finally {
      bar.stop();
    }
  } finally {
    local.client.close();
  }
}

const percent = (value: number): string => `${Math.round(100 * value)}%`;
const rollouts = (value: number): string => (Number.isFinite(value) ? String(Math.round(value)) : "never");
const ratioText = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : "∞");

function sidesTable(name: string, { given, uniform }: Comparison): string {
  const row = (title: string, side: Side): readonly string[] => [
    ...[title, rollouts(side.rollouts), `${side.lost} of ${side.lives.length}`, percent(side.final)],
    ...[percent(side.wasted), percent(side.useful)],
  ];
  const head = ["", "rollouts to target", "lost", "final success", "on hopeless arms", "useful groups"];
  return table(head, [row(name, given), row("equal shares", uniform)]);
}

function armsTable({ arms }: Comparison): string {
  const rows = arms.map(({ id, share: drawn, success, uniformSuccess, learnable }) => [
    ...[id, percent(drawn), percent(success), percent(uniformSuccess)],
    learnable ? "" : "cannot be learnt by every student",
  ]);
  return table(["arm", "drawn", "success at the end", "under equal shares", ""], rows);
}

function verdict({ ratio, given, uniform }: Comparison): string {
  const { value, low, high } = ratio;
  if (Number.isNaN(value))
    return "At least half of the students missed the target either way: compare the final success, or give more --updates.";
  if (given.rollouts === Infinity)
    return "At least half of the students missed the target, but most reached it under equal shares.";
  if (uniform.rollouts === Infinity)
    return "Most students reached the target, but at least half missed it under equal shares.";
  return `It needs ${ratioText(value)} of the rollouts of equal shares (95%: ${ratioText(low)} to ${ratioText(high)}).`;
}

/** Returns the comparison as JSON. Its rolloutsToTarget is null for a student that never reached the target. */
function jsonOf({ given, uniform, ratio, arms, series }: Comparison, { student, seeds, chart }: Flags): object {
  const side = ({ lives, ...figures }: Side): object => ({
    ...figures,
    rolloutsToTarget: lives.map(({ rolloutsToTarget }) => rolloutsToTarget),
  });
  const drawn = series.steps.map(({ cursor, shares, solvedShare }) => ({ cursor, shares, solvedShare }));
  return { student, seeds, given: side(given), uniform: side(uniform), ratio, arms, drawn, ...(chart && { chart }) };
}
