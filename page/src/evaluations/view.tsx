/** View of evaluations: the list with a comparison, one evaluation, or two evaluations task by task. */
import { address } from "../address.ts";
import { Against } from "./against.tsx";
import { EvaluationList } from "./list.tsx";
import { EvaluationPage } from "./evaluation.tsx";

export function EvaluationsView() {
  const [, id, part, other] = address.value.path;
  if (id === undefined) return <EvaluationList />;
  if (part === "against" && other !== undefined) return <Against ids={[id, other]} />;
  return <EvaluationPage key={id} id={id} />;
}
