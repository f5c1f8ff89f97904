/** Offers an operator's actions on a run. Each dialog shows the effect before the action is done. */
import { fromJson, toJson } from "@bufbuild/protobuf";
import { useState } from "preact/hooks";
import { type Policy, PolicySchema } from "../../../clients/ts/src/public.ts";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { go, hrefOf } from "../address.ts";
import { roleAtLeast } from "../caller.ts";
import { gradus } from "../connection.ts";
import { counted } from "../words.ts";
import { type ActionProps, ChangeDialog } from "./change.tsx";
import { Notes } from "./notes.tsx";
import { Shape } from "./shape.tsx";
import type { ReadRun } from "./state.ts";
import { Weights } from "./weights.tsx";

const { method } = CurriculumService;

type Opened = "pause" | "resume" | "advance" | "weights" | "policy" | "shape" | "notes" | "delete";

export function Actions({ run }: { readonly run: ReadRun }) {
  const [opened, setOpened] = useState<Opened>();
  if (!roleAtLeast("operator")) return null;
  const { paused, policy } = run.state;
  const hasStages = ["staged", "replay", "competence", "forgetting", "named"].includes(policy?.kind.case ?? "");
  const buttons: readonly (readonly [Opened, string])[] = [
    paused ? ["resume", "Resume"] : ["pause", "Pause"],
    ...(hasStages ? ([["advance", "Advance"]] as const) : []),
    ["weights", "Weights"],
    ["policy", "Policy"],
    ["shape", "Shape"],
    ["notes", "Notes"],
    ["delete", "Delete"],
  ];
  // Give Pause and Resume the same key, so that the keyboard focus stays on the button when one replaces the other.
  return (
    <>
      {buttons.map(([name, text]) => (
        <button
          key={name === "resume" ? "pause" : name}
          type="button"
          aria-haspopup="dialog"
          onClick={() => setOpened(name)}
        >
          {text}
        </button>
      ))}
      {opened !== undefined && <Opened opened={opened} run={run} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function Opened({ opened, run, onClose }: ActionProps & { readonly opened: Opened }) {
  switch (opened) {
    case "weights":
      return <Weights run={run} onClose={onClose} />;
    case "policy":
      return <PolicyChange run={run} onClose={onClose} />;
    case "shape":
      return <Shape run={run} onClose={onClose} />;
    case "notes":
      return <Notes run={run} onClose={onClose} />;
    case "delete":
      return <Deletion run={run} onClose={onClose} />;
    case "pause":
    case "resume":
    case "advance":
      return <Plain opened={opened} run={run} onClose={onClose} />;
  }
}

const plain = {
  pause: ["Pause the run", "No more update batches are issued; those that are out go on.", "Pause"],
  resume: ["Resume the run", "Update batches are issued again.", "Resume"],
  advance: ["Advance the policy", "The policy moves on to its next stage, tier or domain.", "Advance"],
} as const;

interface Asked {
  readonly runId: string;
  readonly validateOnly: boolean;
}

const calls = {
  pause: (asked: Asked) => gradus.value.unary(method.pause, asked),
  resume: (asked: Asked) => gradus.value.unary(method.resume, asked),
  advance: (asked: Asked) => gradus.value.unary(method.advance, asked),
};

function Plain({ opened, run: { runId }, onClose }: ActionProps & { readonly opened: keyof typeof plain }) {
  const [title, words, verb] = plain[opened];
  const change = (validateOnly: boolean) => calls[opened]({ runId, validateOnly });
  return <ChangeDialog title={title} words={words} verb={verb} change={change} onClose={onClose} />;
}

function PolicyChange({ run: { runId, state }, onClose }: ActionProps) {
  const [text, setText] = useState(() =>
    state.policy === undefined ? "{}" : JSON.stringify(toJson(PolicySchema, state.policy), undefined, 2),
  );
  const read = readPolicy(text);
  const { policy } = read;
  return (
    <ChangeDialog
      title="Change the policy"
      words="The whole policy, in the contract's JSON. What was learnt is kept where the new one can use it."
      verb="Put it in place"
      given={text}
      change={policy && ((validateOnly) => gradus.value.unary(method.updatePolicy, { runId, policy, validateOnly }))}
      onClose={onClose}
    >
      <textarea
        aria-label="The policy"
        rows={14}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {read.problem !== undefined && <p class="effect poor">{read.problem}</p>}
    </ChangeDialog>
  );
}

function readPolicy(text: string): { readonly policy?: Policy; readonly problem?: string } {
  try {
    return { policy: fromJson(PolicySchema, JSON.parse(text) as never) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Dialog that deletes a run after the reader types its name. Unlike other dialogs, it does not ask the server for the
 * effect first, because everything is deleted.
 */
function Deletion({ run: { runId, state }, onClose }: ActionProps) {
  const [typed, setTyped] = useState("");
  const words = [
    `All that is kept of ${runId} goes: ${counted(state.samplesRecorded, "sample")}, its history and its state. It cannot be brought back.`,
  ];
  const change = async (validateOnly: boolean) => {
    if (validateOnly) return { words };
    await gradus.value.run(runId).delete();
    go(hrefOf(["runs"]));
    return { words: [`${runId} is deleted.`] };
  };
  return (
    <ChangeDialog
      title="Delete the run"
      words="gradus run export keeps it first."
      verb="Delete it"
      tone="bad"
      given={typed}
      change={typed === runId ? change : undefined}
      onClose={onClose}
    >
      <label class="field">
        <span>Type {runId} to delete it</span>
        <input value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
    </ChangeDialog>
  );
}
