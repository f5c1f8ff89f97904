export function EvaluationsView() {
  return <h1>Evaluations</h1>;
}
