/** Decides changes of a run's note and tags, with which people describe it. No draw and no policy reads them. */
import { LIMITS } from "../../proto/limits.ts";
import type { RunEvent } from "./events.ts";
import type { RunState } from "./state.ts";
import { invalid, type Invalid } from "./types.ts";

/** Maximum number of tags of a run. */
const TAGS_MAX = LIMITS.AnnotateRunRequest.add_tags.max;

export interface Annotation {
  /** New note. Undefined: the note stays. */
  readonly note: string | undefined;
  /** Tags to add. They are added even if they are also to be removed. */
  readonly addTags: readonly string[];
  readonly removeTags: readonly string[];
}

export interface Annotated {
  readonly note: string;
  /** Tags, sorted. */
  readonly tags: readonly string[];
  /**
   * Warnings about parts of the change that have no effect, one sentence each. For example, the run already has a tag
   * to add.
   */
  readonly noEffect: readonly string[];
}

type Described = Extract<RunEvent, { readonly kind: "noted" | "tagged" }>;

interface Decision {
  readonly events: readonly Described[];
  readonly value: Annotated;
}

export function decideAnnotation(state: RunState, { note = state.note, ...asked }: Annotation): Decision | Invalid {
  const added = new Set(asked.addTags);
  const removed = new Set(asked.removeTags.filter((tag) => !added.has(tag)));
  const tags = [...added.union(new Set(state.tags)).difference(removed)].sort();
  if (tags.length > TAGS_MAX)
    return invalid(
      "add_tags",
      `the run would have ${tags.length} tags, and may have at most ${TAGS_MAX}: remove some of them (remove_tags)`,
    );
  const isSameNote = note === state.note;
  const isSame = isSameNote && tags.join() === state.tags.join();
  const noEffect = [
    ...[...added].filter((tag) => state.tags.includes(tag)).map((tag) => `the run already has the tag "${tag}"`),
    ...[...removed].filter((tag) => !state.tags.includes(tag)).map((tag) => `the run does not have the tag "${tag}"`),
    ...(isSame && added.size + removed.size === 0 ? ["the run already has this note and these tags"] : []),
  ];
  const events: Described[] = [];
  if (!isSameNote) events.push({ kind: "noted", note });
  if (tags.join() !== state.tags.join()) events.push({ kind: "tagged", tags });
  return { events, value: { note, tags, noEffect } };
}
