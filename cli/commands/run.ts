/** `gradus run`: creates, watches and changes training runs, and charts what they drew. */
import type { Command } from "commander";
import { addCheck } from "./run/check.ts";
import { addControl } from "./run/control.ts";
import { addCreate } from "./run/create.ts";
import { addGroups } from "./run/groups.ts";
import { addHistory } from "./run/history.ts";
import { addLook } from "./run/look.ts";
import { addNotes } from "./run/notes.ts";
import { addComparePolicy } from "./run/compare-policy.ts";
import { addProblems } from "./run/problems.ts";
import { addRows } from "./run/rows.ts";
import { addSamples } from "./run/samples.ts";
import { addShape } from "./run/shape.ts";
import { addStart } from "./run/start.ts";
import { addState } from "./run/state.ts";
import { addWatch } from "./run/watch.ts";

export function addRun(program: Command): void {
  const command = program.command("run").addHelpText(
    "after",
    `
Examples:
  gradus run start examples/adsc.yaml              a look at a run, without a server or a model; ends with a chart
  gradus run create examples/adsc.yaml             create it on a server, for a trainer
  gradus run watch adsc                            see what it draws, live
  gradus run history adsc --chart adsc.svg         what it drew, as a picture
  gradus run set-weights adsc real/T0=0            take an arm out, from the next update batch on`,
  );
  for (const add of [
    addStart,
    addCreate,
    addCheck,
    addLook,
    addWatch,
    addHistory,
    addControl,
    addNotes,
    addShape,
    addGroups,
    addRows,
    addSamples,
    addProblems,
    addComparePolicy,
    addState,
  ])
    add(command);
}
