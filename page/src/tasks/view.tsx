/** View of tasks: the gallery, or one task. */
import { address } from "../address.ts";
import { Gallery } from "./gallery.tsx";
import { TaskPage } from "./task.tsx";

export function TasksView() {
  const [, ...id] = address.value.path;
  return id.length === 0 ? <Gallery /> : <TaskPage environment={id.join("/")} />;
}
