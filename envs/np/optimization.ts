/** What every environment with something to optimise offers. */
import type { Environment } from "../environment.ts";

export const optimization: Pick<Environment, "answerFormats" | "rewardSchemes"> = {
  answerFormats: ["think_answer", "answer_line", "answer_tag", "boxed"],
  rewardSchemes: ["quality", "binary", "optimal_only", "coarse", "normalized"],
};
