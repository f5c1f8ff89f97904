/** Shows the note and the tags of a run, and the dialog that changes them. */
import { useState } from "preact/hooks";
import type { RunState } from "../../../clients/ts/src/public.ts";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { visible } from "../outcomes/visible.ts";
import { gradus } from "../connection.ts";
import { Tag } from "../ui/parts.tsx";
import { type ActionProps, ChangeDialog, type Effect } from "./change.tsx";

export function Tags({ tags }: Pick<RunState, "tags">) {
  return (
    <>
      {tags.map((tag) => (
        <Tag key={tag}>#{tag}</Tag>
      ))}
    </>
  );
}

/** Shows the note of a run as text, with its line breaks. Shows nothing if there is none. */
export function Note({ note }: Pick<RunState, "note">) {
  return note === "" ? null : <p class="note-of-run">{visible(note)}</p>;
}

function tagsIn(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter((tag) => tag !== ""))];
}

export function Notes({ run: { runId, state }, onClose }: ActionProps) {
  // Compare with the tags at the time when the dialog opened, so that tags which another person adds meanwhile are
  // kept.
  const [before] = useState(state);
  const [note, setNote] = useState(before.note);
  const [text, setText] = useState(before.tags.join(" "));
  const tags = tagsIn(text);
  const asked = {
    runId,
    ...(note !== before.note && { note }),
    addTags: tags.filter((tag) => !before.tags.includes(tag)),
    removeTags: before.tags.filter((tag) => !tags.includes(tag)),
  };
  const change = async (validateOnly: boolean): Promise<Effect> => {
    const now = await gradus.value.unary(CurriculumService.method.annotateRun, { ...asked, validateOnly });
    const tagged = now.tags.length === 0 ? "no tags" : `the tags ${now.tags.join(", ")}`;
    return {
      words: [`The run has ${now.note === "" ? "no note" : "this note"} and ${tagged}.`],
      noEffect: now.noEffect,
    };
  };
  return (
    <ChangeDialog
      title="Change the note and the tags"
      words="They describe the run to people. No draw depends on them."
      verb="Keep them"
      given={JSON.stringify([note, tags])}
      change={change}
      onClose={onClose}
    >
      <label class="field">
        <span>Note</span>
        <textarea rows={5} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>Tags, with spaces between them</span>
        <input spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
    </ChangeDialog>
  );
}
