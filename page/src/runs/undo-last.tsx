/** Button that undoes the last change of a run, and the dialog that shows the effect before. */
import { toJson } from "@bufbuild/protobuf";
import { useState } from "preact/hooks";
import { type HistoryRecord, PolicySchema } from "../../../clients/ts/src/public.ts";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { roleAtLeast } from "../caller.ts";
import { gradus } from "../connection.ts";
import { ChangeDialog, type Effect } from "./change.tsx";
import type { ReadRun } from "./state.ts";
import { type Undo, undoOf } from "./undo.ts";

interface UndoLastProps {
  readonly run: ReadRun;
  /** Records of the run's history. Undefined until they are loaded. */
  readonly records: readonly HistoryRecord[] | undefined;
}

/** Shows nothing if there is no change that can be undone. */
export function UndoLast({ run, records }: UndoLastProps) {
  // Keep the offered change while the dialog is open. As soon as the change is made, it is the last one itself, and
  // `undo` differs.
  const [opened, setOpened] = useState<Undo>();
  const undo = records && undoOf(run, records);
  if (!roleAtLeast("operator")) return null;
  return (
    <>
      {undo !== undefined && (
        <button type="button" aria-haspopup="dialog" title={undo.words} onClick={() => setOpened(undo)}>
          Undo
        </button>
      )}
      {opened !== undefined && (
        <ChangeDialog
          title="Undo the last change"
          words={`${opened.words}. This is a change of its own, and what was drawn meanwhile stays.`}
          verb="Undo it"
          change={(validateOnly) => madeBy(run.runId, opened, validateOnly)}
          onClose={() => setOpened(undefined)}
        >
          {"policy" in opened && opened.policy !== undefined && (
            <pre tabIndex={0}>{JSON.stringify(toJson(PolicySchema, opened.policy), undefined, 2)}</pre>
          )}
        </ChangeDialog>
      )}
    </>
  );
}

const { method } = CurriculumService;

function madeBy(runId: string, undo: Undo, validateOnly: boolean): Promise<Effect> {
  const { unary } = gradus.value;
  switch (undo.kind) {
    case "weights":
      return unary(method.setWeights, { runId, validateOnly, weights: { ...undo.weights } });
    case "policy":
      return unary(method.updatePolicy, { runId, validateOnly, policy: undo.policy });
    case "shape":
      return unary(method.updateShape, {
        runId,
        validateOnly,
        ...undo.shape,
        ...(undo.policy && { policy: undo.policy }),
      });
    case "pause":
      return unary(method.pause, { runId, validateOnly });
    case "resume":
      return unary(method.resume, { runId, validateOnly });
  }
}
