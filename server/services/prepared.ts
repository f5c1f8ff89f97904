/** Messages of tasks that will probably be given out, made before they are asked for. */
import { LRUCache } from "lru-cache";
import type { TaskKey } from "../../envs/origin.ts";
import type { IssuedTask } from "../curriculum/batches.ts";
import type { RunConfig } from "../curriculum/types.ts";
import type { Task } from "../gen/gradus/v1/task_pb.js";
import type { TaskSpec } from "../tasks/spec.ts";

/** Of all that are kept: some thousand tasks, and as many bytes again where they are written ahead too. */
const KEPT_CHARACTERS_MAX = 16 * 1024 ** 2;
/** About what a message takes beside its prompt. */
const MESSAGE_CHARACTERS = 4096;

/** What a message is of. */
type Of = readonly [runId: string, task: IssuedTask<TaskKey>, config: RunConfig<TaskSpec>];

export interface PreparedTasks {
  has(...of: Of): boolean;
  keep(...made: [...Of, message: Task]): void;
  /** Each is given once; undefined: there is none, or it was made of something else. */
  take(...of: Of): Task | undefined;
}

const fields = ["cursor", "arm", "incarnation", "epoch", "batch", "probability", "numGenerations"] as const;

function isSame([runId, task, config]: Of, [otherId, other, otherConfig]: Of): boolean {
  return runId === otherId && config === otherConfig && fields.every((name) => task[name] === other[name]);
}

/** `write` is told of each message that is kept, which from then on does not change. */
export function createPreparedTasks(write: (message: Task) => void = () => undefined): PreparedTasks {
  // By the key, which is this very task's: of an equal one made again there is nothing.
  const kept = new LRUCache<TaskKey, { readonly of: Of; readonly message: Task }>({
    maxSize: KEPT_CHARACTERS_MAX,
    sizeCalculation: ({ message: { prompt } }) =>
      prompt.reduce((sum, { content }) => sum + content.length, MESSAGE_CHARACTERS),
  });
  const find = (of: Of) => {
    const found = kept.get(of[1].key);
    return found !== undefined && isSame(found.of, of) ? found.message : undefined;
  };
  return {
    has: (...of) => find(of) !== undefined,
    keep(runId, task, config, message) {
      kept.set(task.key, { of: [runId, task, config], message });
      write(message);
    },
    take(...of) {
      const message = find(of);
      kept.delete(of[1].key);
      return message;
    },
  };
}
