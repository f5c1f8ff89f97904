/**
 * Draws pictures of selected answers of an evaluation. Each task is read from its task id, so the keys that signed the
 * id are needed.
 */
import { drawCompletion } from "../../pictures/draw.ts";
import type { Local } from "../local.ts";
import type { Specimen } from "./specimens.ts";

export interface Picture {
  readonly part: string;
  readonly words: string;
  /** A complete SVG document. */
  readonly svg: string;
}

/**
 * Draws the selected answers whose environments have pictures. Undefined if none of their task ids was signed by the
 * keys of this process, so that no task can be read.
 */
export function drawSpecimens({ deps }: Local, specimens: readonly Specimen[]): readonly Picture[] | undefined {
  const pictures = specimens.flatMap(({ part, words, sample }) => {
    const opened = deps.scorer.open(sample.task?.taskId ?? "");
    if (opened.kind === "none") return [];
    const { environment, instance, format, thinking } = opened.scoring;
    const { outcome } = sample;
    const verdict = { solved: false, words, ...(outcome?.kind === "scored" && { info: outcome.info }) };
    return [
      { part, words, svg: drawCompletion(environment, instance, format, sample.completion, thinking, { verdict }) },
    ];
  });
  if (pictures.length === 0 && specimens.length > 0) return undefined;
  return pictures.flatMap(({ svg, ...picture }) => (svg === undefined ? [] : [{ ...picture, svg }]));
}
