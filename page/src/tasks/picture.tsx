/** A picture that the server draws, shown as an image: nothing in it can run, and none of it is the page's. */
import { useEffect, useState } from "preact/hooks";
import { EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { CallOptions } from "../../../clients/ts/src/caller.ts";
import { GradusError } from "../../../clients/ts/src/errors.ts";
import { useAnswer } from "../answers.ts";
import type { Gradus } from "../session.ts";
import { type ChosenTask, keyOf } from "./choice.ts";
import { saidBy } from "./said.ts";

export interface Drawn {
  readonly svg: string;
}

/** What of an answer is drawn: it alone, or the completion that marks it. */
export type Given = { readonly answer: string } | { readonly completion: string };

export function textOf(given: Given | undefined) {
  if (given === undefined) return {};
  const text =
    "answer" in given
      ? ({ case: "answer", value: given.answer } as const)
      : ({ case: "completion", value: given.completion } as const);
  return { text };
}

/** The picture of a task, and of an answer to it; undefined: its environment draws none, or this server cannot. */
export async function drawn(gradus: Gradus, taskId: string, given: Given | undefined, options: CallOptions) {
  try {
    return (await gradus.unary(EnvironmentService.method.drawTask, { taskId, ...textOf(given) }, options)).svg;
  } catch (error) {
    if (error instanceof GradusError && ["FAILED_PRECONDITION", "UNIMPLEMENTED"].includes(error.code)) return undefined;
    throw error;
  }
}

interface PictureProps extends Drawn {
  /** What it shows, where the picture does not say it. */
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

/** The answer as it would lie in the instance; nothing where it cannot be drawn. */
export function AnswerPicture({ taskId, completion }: { readonly taskId: string; readonly completion: string }) {
  const answer = useAnswer((gradus, options) => drawn(gradus, taskId, { completion }, options), [taskId, completion]);
  return answer.value === undefined ? null : <Picture svg={answer.value} what="The answer in its task" />;
}

/** The picture of the task that is chosen; of those without one, the beginning of what is asked. */
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
