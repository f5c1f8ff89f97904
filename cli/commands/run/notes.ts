/** `gradus run note` and `gradus run tag`: describe a run for people. Neither changes what the run draws. */
import type { Command } from "commander";
import { escapedLines } from "../../../envs/lib/escape.ts";
import type { Annotation, AnnotationChoice, RunHandle } from "../../../clients/ts/src/public.ts";
import { addServerOptions, collect, type ConnectionFlags, withServer } from "../../connection.ts";
import { print, printJson } from "../../print.ts";
import { CliProblem } from "../../problem.ts";
import { collectNoEffect } from "./control.ts";

interface Flags extends ConnectionFlags {
  readonly remove?: readonly string[];
  readonly json?: boolean;
}

export function addNotes(group: Command): void {
  const note = group
    .command("note")
    .description("write the note of a run, or show it if no text is given; an empty text removes it")
    .argument("<run>", "its id")
    .argument("[text]", "the new note, at most 4,096 bytes")
    .option("--json", "print JSON: the note and the tags");
  addServerOptions(note).action((id: string, text: string | undefined, flags: Flags) =>
    annotate(id, text === undefined ? undefined : { note: text }, flags),
  );

  const tag = group
    .command("tag")
    .description("add tags to a run, or show its tags; gradus run list --tag finds the runs with a tag")
    .argument("<run>", "its id")
    .argument("[tags...]", "tags to add, e.g. baseline math/easy")
    .option("--remove <tag>", "tag to remove; may be given several times", collect)
    .option("--json", "print JSON: the note and the tags");
  addServerOptions(tag).action((id: string, addTags: readonly string[], flags: Flags) => {
    const { remove: removeTags = [] } = flags;
    const both = addTags.find((each) => removeTags.includes(each));
    if (both !== undefined) throw new CliProblem("usage", `the tag '${both}' is to be added and removed: give it once`);
    return annotate(id, addTags.length + removeTags.length === 0 ? undefined : { addTags, removeTags }, flags);
  });
}

/** Changes the note or the tags of a run, and prints both. If `change` is undefined, only prints them. */
async function annotate(id: string, change: AnnotationChoice | undefined, flags: Flags): Promise<void> {
  const { options, noEffect } = collectNoEffect();
  const { note, tags } = await withServer(flags, (client) => {
    const run = client.run(id);
    return change === undefined ? described(run) : run.annotate(change, options);
  });
  if (flags.json) return printJson({ note, tags, ...(noEffect.length > 0 && { noEffect }) });
  const words = noEffect.map((each) => `no effect: ${each}`);
  print([...words, ...noteLines({ note, tags })].join("\n") || "no note and no tags");
}

async function described(run: RunHandle): Promise<Annotation> {
  const { state } = await run.get();
  return { note: state?.note ?? "", tags: state?.tags ?? [] };
}

/** Returns lines with the tags and the note of a run. Empty: it has neither. */
export function noteLines({ note, tags }: Annotation): readonly string[] {
  return [...(tags.length > 0 ? [`tags: ${tags.join(" ")}`] : []), ...(note === "" ? [] : [escapedLines(note)])];
}
