// Refuses faults that review must not have to find: floating promises, evaluated text, clocks and chance in pure tasks.
import tseslint from "typescript-eslint";
import { comments } from "./scripts/comments.js";

const impure = [
  { selector: "MemberExpression[object.name='Math'][property.name='random']", message: "Use envs/lib/rng.ts." },
  { selector: "Identifier[name='Date']", message: "Pure code has no clock." },
  { selector: "Identifier[name='performance']", message: "Pure code has no clock." },
  {
    selector: "CallExpression[callee.name=/^(setTimeout|setInterval|setImmediate|fetch)$/]",
    message: "Pure code has no timers or I/O.",
  },
  { selector: "MemberExpression[object.name='process']", message: "Pure code does not see its process." },
];
const spreadLiteral = {
  selector: "ObjectExpression > SpreadElement > ObjectExpression",
  message: "Write the members of an object on lines of their own, not spread from a literal inside.",
};
const enumLike = {
  selector: "TSEnumDeclaration",
  message: "Type stripping refuses enums: use a union of strings.",
};
const reExports = [
  { selector: "ExportNamedDeclaration[source]", message: "Import it from the file that defines it." },
  { selector: "ExportAllDeclaration", message: "Import it from the file that defines it." },
  {
    // An import that is listed in a later export is a re-export too.
    selector: "ExportNamedDeclaration[source=null] > ExportSpecifier",
    message: "Export it where it is defined.",
  },
];

const terminal = "Write by server/runtime/terminal.ts, which leaves out what a terminal obeys in foreign text.";
const streams = [
  { selector: "MemberExpression[object.name='console']", message: terminal },
  {
    selector:
      "MemberExpression[object.object.name='process'][object.property.name=/^std(out|err)$/][property.name='write']",
    message: terminal,
  },
  {
    selector: ":not(MemberExpression) > MemberExpression[object.name='process'][property.name=/^std(out|err)$/]",
    message: terminal,
  },
  { selector: "Property[key.name=/^std(out|err)$/][parent.parent.init.name='process']", message: terminal },
  { selector: "CallExpression[callee.name='writeSync'][arguments.0.raw=/^[12]$/]", message: terminal },
];

export default tseslint.config(
  {
    ignores: [
      "**/dist/**",
      "**/gen/**",
      "node_modules/**",
      ".venv*/**",
      ".trainers/**",
      "clients/python/**",
      "coverage/**",
      "out/**",
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  comments,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ["*.js", "*.cjs"] } },
    },
    rules: {
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "off",
      "@typescript-eslint/no-implied-eval": "error",
      "no-new-func": "error",
      "no-empty": ["error", { allowEmptyCatch: false }],
      "no-restricted-syntax": ["error", enumLike, spreadLiteral],
      "no-restricted-imports": [
        "error",
        { paths: [{ name: "node:vm", message: "A model's text is never evaluated." }] },
      ],
      "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/only-throw-error": "error",
    },
  },
  {
    files: ["{envs,pictures}/**/*.ts", "server/{curriculum,runs,simulation}/**/*.ts"],
    rules: {
      "no-restricted-syntax": ["error", enumLike, spreadLiteral, ...reExports, ...impure],
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              group: [
                "node:fs*",
                "node:net",
                "node:http*",
                "node:child_process",
                "node:vm",
                "node:worker_threads",
                "node:os",
              ],
              message: "Tasks and curricula are pure.",
            },
          ],
        },
      ],
    },
  },
  {
    files: ["server/**/*.ts", "cli/**/*.ts"],
    ignores: ["server/{curriculum,runs,simulation}/**"],
    rules: { "no-restricted-syntax": ["error", enumLike, spreadLiteral, ...reExports, ...streams] },
  },
  {
    files: ["server/runtime/terminal.ts"],
    rules: { "no-restricted-syntax": ["error", enumLike, spreadLiteral, ...reExports] },
  },
  {
    files: ["page/**/*.ts", "page/**/*.tsx"],
    ignores: ["page/src/ui/marks.ts", "page/src/ui/plot.tsx"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          paths: [{ name: "@observablehq/plot", message: "Draw with page/src/ui/marks.ts, whose colours are drawn." }],
        },
      ],
    },
  },
  { files: ["test/**/*.ts", "bench/**/*.ts"], rules: { "max-lines-per-function": "off" } },
  { files: ["**/*.js", "**/*.cjs", "**/*.mjs"], ...tseslint.configs.disableTypeChecked },
);
