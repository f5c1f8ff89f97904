/** A store that forgets everything with the process: for tests and trials. */
import type { EvaluationStore, SamplePlace, StoredEvaluation, StoredSample, StoredTask } from "./store.ts";

const nameOf = ({ ordinal, index }: SamplePlace): string => `${ordinal}/${index}`;
const inOrder = (a: SamplePlace, b: SamplePlace): number => a.ordinal - b.ordinal || a.index - b.index;

export function memoryEvaluationStore(): EvaluationStore {
  const evaluations = new Map<string, StoredEvaluation>();
  const samples = new Map<number, Map<string, StoredSample>>();
  const suites = new Map<string, Map<number, StoredTask>>();
  const sorted = (key: number): readonly StoredSample[] => [...(samples.get(key)?.values() ?? [])].sort(inOrder);
  return {
    create: async (id, body) => {
      if (evaluations.has(id)) return "exists";
      const key = evaluations.size + 1;
      evaluations.set(id, { id, key, body });
      samples.set(key, new Map());
      return "created";
    },
    find: async (id) => evaluations.get(id),
    saveTasks: async (suite, tasks) => {
      const kept = suites.get(suite) ?? new Map<number, StoredTask>();
      suites.set(suite, kept);
      for (const task of tasks) if (!kept.has(task.ordinal)) kept.set(task.ordinal, task);
    },
    tasks: async (suite, from, to) => {
      const kept = [...(suites.get(suite)?.values() ?? [])];
      return kept.filter(({ ordinal }) => ordinal >= from && ordinal < to).sort((a, b) => a.ordinal - b.ordinal);
    },
    addSample: async (key, sample) => {
      const kept = samples.get(key);
      if (kept === undefined) throw new Error(`there is no evaluation of key ${key}`);
      const first = kept.get(nameOf(sample));
      if (first !== undefined) return { kind: "exists", sample: first };
      kept.set(nameOf(sample), sample);
      return { kind: "added" };
    },
    places: async (key, from, to) =>
      sorted(key)
        .filter(({ ordinal }) => ordinal >= from && ordinal < to)
        .map(({ ordinal, index }) => ({ ordinal, index })),
    count: async (key) => samples.get(key)?.size ?? 0,
    facts: async (key) => sorted(key).map(({ ordinal, index, facts }) => ({ ordinal, index, facts })),
    samples: async (key, after, limit) =>
      sorted(key)
        .filter((sample) => inOrder(sample, after) > 0)
        .slice(0, limit),
    close: async () => undefined,
  };
}
