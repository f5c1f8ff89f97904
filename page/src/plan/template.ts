/** Text of a new plan, that is, of a run file that the reader is about to edit. */
export const template = `# A run file, as gradus run create takes it.
run_id: my-run
arms:
  - id: t0
    spec: { environment: countdown, level: T0 }
  - id: t1
    spec: { environment: countdown, level: T1 }
  - id: t2
    spec: { environment: countdown, level: T2 }
  - id: tsp-easy
    spec: { environment: np/tsp, level: easy }
policy:
  frontier: {}
num_generations: 8
prompts_per_update: 16
length: 4800
`;
