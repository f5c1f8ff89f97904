/** Shows an SVG picture from the server as an image, so that nothing in it can run or affect the page. */
import { useEffect, useState } from "preact/hooks";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { CallOptions } from "../../../clients/ts/src/caller.ts";
import { GradusError } from "../../../clients/ts/src/errors.ts";
import { useAnswer } from "../answers.ts";
import type { Gradus } from "../connection.ts";
import { type ChosenTask, keyOf } from "./choice.ts";
import { saidBy } from "./said.ts";

export interface Drawn {
  readonly svg: string;
}

/** Answer to show in the picture: the answer alone, or the completion that contains it. */
export type Given = { readonly answer: string } | { readonly completion: string };

export function textOf(given: Given | undefined) {
  if (given === undefined) return {};
  const text =
    "answer" in given
      ? ({ case: "answer", value: given.answer } as const)
      : ({ case: "completion", value: given.completion } as const);
  return { text };
}

/**
 * Fetches the picture of a task, with an answer if given. Returns undefined if the environment or this server makes no
 * pictures.
 */
export async function drawn(gradus: Gradus, taskId: string, given: Given | undefined, options: CallOptions) {
  try {
    return (await gradus.unary(EnvironmentService.method.drawTask, { taskId, ...textOf(given) }, options)).svg;
  } catch (error) {
    if (error instanceof GradusError && ["FAILED_PRECONDITION", "UNIMPLEMENTED"].includes(error.code)) return undefined;
    throw error;
  }
}

interface PictureProps extends Drawn {
  /** Alternative text, used if the picture has no title. */
  readonly what: string;
  readonly decorative?: boolean;
}

export function Picture({ svg, what, decorative = false }: PictureProps) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [svg]);
  return url === undefined ? null : <img class="picture" src={url} alt={decorative ? "" : saidBy(svg, what)} />;
}

/** Shows a picture of a completion's answer to its task, or nothing if it cannot be drawn. */
export function AnswerPicture({ taskId, completion }: { readonly taskId: string; readonly completion: string }) {
  const answer = useAnswer((gradus, options) => drawn(gradus, taskId, { completion }, options), [taskId, completion]);
  return answer.value === undefined ? null : <Picture svg={answer.value} what="The answer in its task" />;
}

/** Shows the picture of the chosen task, or the start of its prompt if it has no picture. */
export function TaskPicture({
  task,
  decorative = false,
}: {
  readonly task: ChosenTask;
  readonly decorative?: boolean;
}) {
  const answer = useAnswer(
    async (gradus, options) => {
      const made = await gradus.reset(task, options);
      return { svg: await drawn(gradus, made.taskId, undefined, options), prompt: made.prompt.at(-1)?.content ?? "" };
    },
    [keyOf(task)],
  );
  if (answer.error !== undefined) return <p class="note excerpt">{answer.error.message}</p>;
  if (answer.value === undefined) return null;
  const { svg, prompt } = answer.value;
  if (svg === undefined) return <p class="note excerpt">{prompt.slice(0, 400)}</p>;
  return <Picture svg={svg} what={`A task of ${task.environment}`} decorative={decorative} />;
}
