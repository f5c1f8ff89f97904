/**
 * Rules of ESLint for comments: rules of eslint-plugin-jsdoc for JSDoc comments, and a rule of our own for all
 * comments.
 */
import jsdoc from "eslint-plugin-jsdoc";

/** Regular expression for first words that stand in the place of a subject, so that a reader must guess it. */
const OPENINGS =
  "(?:As|It|Of|So long|That|The same|They|Those|What|Whatever|Which|Whichever|Who|Whoever|Whom|Whose)\\b";
const message = "Begin with the subject and its verb, as in “Returns …”, “Maximum …” or “The server closes …”.";

/**
 * ESLint rule that refuses a comment which begins with one of OPENINGS. Line comments that follow each other directly
 * are one comment.
 */
const opening = {
  meta: { type: "suggestion", messages: { opening: message }, schema: [] },
  create: (context) => ({
    Program() {
      let lineAbove = 0;
      for (const comment of context.sourceCode.getAllComments()) {
        const { start, end } = comment.loc;
        const goesOn = comment.type === "Line" && start.line === lineAbove + 1;
        lineAbove = comment.type === "Line" ? end.line : 0;
        const begins = !goesOn && new RegExp(`^\\s*${OPENINGS}`).test(comment.value);
        if (begins) context.report({ loc: comment.loc, messageId: "opening" });
      }
    },
  }),
};

/**
 * Words that add nothing to a declaration's name. The rule jsdoc/informative-docs refuses a comment that has only these
 * and the name.
 */
const uselessWords = "a an the of in its this that each one for all returns is are whether own by to".split(" ");
const abbreviations = ["e.g.", "i.e.", "etc.", "vs.", "et al."];

/** Configuration of ESLint for all files that it reads. */
export const comments = {
  plugins: { jsdoc, comments: { rules: { opening } } },
  rules: {
    "comments/opening": "error",
    "jsdoc/match-description": [
      "error",
      { contexts: ["any"], matchDescription: `^(?!${OPENINGS})[\\s\\S]*$`, message },
    ],
    "jsdoc/require-description-complete-sentence": ["error", { abbreviations }],
    "jsdoc/informative-docs": ["error", { uselessWords }],
  },
};
