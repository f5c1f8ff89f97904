/**
 * Defines the environment for the maximum clique problem (FORGE A.5.8, NP-ENGINE A.4.8). README.md begins with an
 * example.
 */
import { graphOf } from "../../lib/graph.ts";
import { vertexSetEnvironment } from "../../lib/vertex-set.ts";
import { generator } from "./generate.ts";

export const clique = vertexSetEnvironment({
  id: "np/clique",
  version: 3,
  earlier: [2],
  generator,
  joined: true,
  name: "clique",
  article: "a",
  word: "clique",
  answerNames: ["clique", "vertices", "s", "c"],
  // Worked example in the prompts, from the paper FORGE (A.5.8). The clique that it shows is the largest.
  example: { graph: graphOf([[1, 2, 3, 4], [3, 4], [3], [4], []]), largest: [0, 1, 3, 4] },
});
