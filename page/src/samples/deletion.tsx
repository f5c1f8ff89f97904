/** Deletes the stored completions of a run. The run continues. */
import { useState } from "preact/hooks";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { ChangeDialog } from "../runs/change.tsx";
import { gradus } from "../connection.ts";

export function Deletion({ runId }: { readonly runId: string }) {
  const [opened, setOpened] = useState(false);
  const change = async (validateOnly: boolean) => {
    if (!validateOnly) await gradus.value.unary(CurriculumService.method.deleteRunSamples, { runId });
    return { words: ["All completions that the run keeps go. Its rewards and its state stay, and new ones are kept."] };
  };
  return (
    <p class="apart">
      <button type="button" aria-haspopup="dialog" onClick={() => setOpened(true)}>
        Delete the kept completions
      </button>
      {opened && (
        <ChangeDialog
          title="Delete the kept completions"
          words="Completions may hold what nobody should keep."
          verb="Delete them"
          tone="bad"
          change={change}
          onClose={() => setOpened(false)}
        />
      )}
    </p>
  );
}
