/** Dialog that sets the weights of arms. */
import { useState } from "preact/hooks";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { gradus } from "../connection.ts";
import { figure } from "../words.ts";
import { type ActionProps, ChangeDialog } from "./change.tsx";

/** Maximum number of arms shown at once. The search finds the others. */
const SHOWN = 40;

export function Weights({ run: { runId, state }, onClose }: ActionProps) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [search, setSearch] = useState("");
  const arms = state.arms.filter(({ removed, armId }) => !removed && armId.includes(search.trim()));
  const weights = Object.fromEntries(
    Object.entries(typed)
      .filter(([, text]) => text.trim() !== "")
      .map(([armId, text]) => [armId, Number(text)]),
  );
  const given = JSON.stringify(typed);
  const isChange = Object.keys(weights).length > 0 && Object.values(weights).every(Number.isFinite);
  return (
    <ChangeDialog
      title="Set weights"
      words="An arm of weight 0 is not drawn from. Arms whose field stays empty keep theirs."
      verb="Set them"
      given={given}
      change={
        isChange
          ? (validateOnly) => gradus.value.unary(CurriculumService.method.setWeights, { runId, weights, validateOnly })
          : undefined
      }
      onClose={onClose}
    >
      {state.arms.length > SHOWN && (
        <input
          type="search"
          aria-label="Search arms"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      <ul class="weights">
        {arms.slice(0, SHOWN).map(({ armId, weight }) => (
          <li key={armId}>
            <label>
              <span>{armId}</span>
              <input
                type="number"
                min="0"
                step="any"
                placeholder={figure(weight)}
                value={typed[armId] ?? ""}
                onInput={(event) => setTyped({ ...typed, [armId]: event.currentTarget.value })}
              />
            </label>
          </li>
        ))}
      </ul>
      {arms.length > SHOWN && <p class="note">{`${arms.length - SHOWN} more: search for them.`}</p>}
    </ChangeDialog>
  );
}
