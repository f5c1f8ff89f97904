/**
 * Defines the environment for the maximum independent set problem (FORGE A.5.9, NP-ENGINE A.4.9). README.md begins with
 * an example.
 */
import { graphOf } from "../../lib/graph.ts";
import { vertexSetEnvironment } from "../../lib/vertex-set.ts";
import { generator } from "./generate.ts";

export const independentSet = vertexSetEnvironment({
  id: "np/independent-set",
  version: 3,
  earlier: [2],
  generator,
  joined: false,
  name: "independent set",
  article: "an",
  word: "set",
  answerNames: ["independent set", "set", "vertices", "s"],
  // Worked example in the prompts, from the paper FORGE (A.5.9). The set that it shows is the largest.
  example: { graph: graphOf([[1, 2], [2, 3], [3], []]), largest: [0, 3] },
});
