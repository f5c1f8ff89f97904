/** What a bisection task is. */

/** Vertices 0 … vertices − 1, and the edges between them. */
export interface BisectionInstance {
  readonly vertices: number;
  /** In lexicographic order, each pair at most once. */
  readonly edges: readonly Edge[];
}

/** An edge between a < b, of positive weight. */
export interface Edge {
  readonly a: number;
  readonly b: number;
  readonly weight: number;
}

/** The weight of the edges whose ends lie on different sides; side[v] says on which side v lies. */
export function cutWeight({ edges }: BisectionInstance, side: ArrayLike<number>): number {
  let weight = 0;
  for (const edge of edges) if (side[edge.a] !== side[edge.b]) weight += edge.weight;
  return weight;
}
