/** Dialog that changes the shape of a run: completions, prompts, length, and arms to remove. */
import { useState } from "preact/hooks";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { gradus } from "../connection.ts";
import { type ActionProps, ChangeDialog } from "./change.tsx";
import { shapeOf } from "./state.ts";

const fields = [
  ["numGenerations", "Completions of each prompt"],
  ["promptsPerUpdate", "Prompts of an update batch"],
  ["length", "Length, in tasks; 0: no end"],
] as const;

type Field = (typeof fields)[number][0];

export function Shape({ run, onClose }: ActionProps) {
  const { runId, state } = run;
  const now = shapeOf(run);
  const [typed, setTyped] = useState<Readonly<Partial<Record<Field, string>>>>({});
  const [removed, setRemoved] = useState<readonly string[]>([]);
  const numbers = Object.entries(typed).filter((entry): entry is [Field, string] => entry[1].trim() !== "");
  const isChange = numbers.every(([, text]) => /^\d{1,15}$/.test(text)) && numbers.length + removed.length > 0;
  const shape = () => ({
    runId,
    removeArms: [...removed],
    ...Object.fromEntries(numbers.map(([field, text]) => [field, field === "length" ? BigInt(text) : Number(text)])),
  });
  return (
    <ChangeDialog
      title="Change the shape"
      words="What stays empty stays as it is. Arms are added by a run file: gradus run update-shape."
      verb="Change it"
      given={JSON.stringify([typed, removed])}
      change={
        isChange
          ? (validateOnly) => gradus.value.unary(CurriculumService.method.updateShape, { ...shape(), validateOnly })
          : undefined
      }
      onClose={onClose}
    >
      {fields.map(([field, text]) => (
        <label key={field} class="field">
          <span>{text}</span>
          <input
            inputMode="numeric"
            placeholder={String(now[field])}
            value={typed[field] ?? ""}
            onInput={(event) => setTyped({ ...typed, [field]: event.currentTarget.value })}
          />
        </label>
      ))}
      <label class="field">
        <span>Arms to remove; no weight brings them back</span>
        <select
          multiple
          size={Math.min(6, state.arms.length)}
          onChange={(event) => setRemoved([...event.currentTarget.selectedOptions].map(({ value }) => value))}
        >
          {state.arms
            .filter((arm) => !arm.removed)
            .map(({ armId }) => (
              <option key={armId}>{armId}</option>
            ))}
        </select>
      </label>
    </ChangeDialog>
  );
}
