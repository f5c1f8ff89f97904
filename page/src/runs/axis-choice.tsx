/** Lets a person choose the horizontal axis of charts of runs. */
import { refine } from "../address.ts";
import { Segments } from "../ui/parts.tsx";
import type { Over } from "./rollouts.ts";

export function AxisChoice({ over }: { readonly over: Over }) {
  return (
    <div class="toolbar">
      <Segments
        label="Over"
        value={over}
        options={["rollouts", "tokens"].map((value) => ({ value, text: value }))}
        onChoose={(value) => refine({ over: value === "tokens" ? value : undefined })}
      />
    </div>
  );
}
