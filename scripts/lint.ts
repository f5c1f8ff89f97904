/**
 * Prints the errors of tsc and ESLint for all TypeScript. Both use one program for each tsconfig.json, because working
 * out the types takes most of their time. Exits with 1 if either finds an error. Run by scripts/check.sh.
 */
import { join } from "node:path";
import { ESLint } from "eslint";
import ts from "typescript";

const root = join(import.meta.dirname, "..");

/** Returns the TypeScript program of a tsconfig.json. */
function programOf(config: string): ts.Program {
  const onUnRecoverableConfigFileDiagnostic = (problem: ts.Diagnostic): never => {
    throw new Error(ts.formatDiagnostic(problem, formatHost));
  };
  const read = ts.getParsedCommandLineOfConfigFile(
    join(root, config),
    { noEmit: true },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic },
  );
  if (read === undefined) throw new Error(`${config} cannot be read`);
  const { fileNames: rootNames, options, errors: configFileParsingDiagnostics } = read;
  // Set the parents of nodes, which ESLint's rules need.
  const host = ts.createCompilerHost(options, true);
  return ts.createProgram({ rootNames, options, host, configFileParsingDiagnostics });
}

const formatHost: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => root,
  getNewLine: () => "\n",
};

/**
 * Returns ESLint settings that use a given program for some files, in place of the language service that
 * eslint.config.js sets for editors.
 */
const typed = (files: readonly string[], program: ts.Program) => ({
  files: [...files],
  languageOptions: { parserOptions: { projectService: false, programs: [program] } },
});

const all = programOf("tsconfig.json");
const page = programOf("page/tsconfig.json");
const problems = [...ts.getPreEmitDiagnostics(all), ...ts.getPreEmitDiagnostics(page)];
console.error(ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(problems), formatHost));

const overrideConfig = [typed(["**/*.ts", "**/*.tsx"], all), typed(["page/src/**/*.{ts,tsx}"], page)];
const eslint = new ESLint({ cwd: root, overrideConfig });
const results = await eslint.lintFiles(".");
const formatter = await eslint.loadFormatter("stylish");
console.error(await formatter.format(results));
const isClean = results.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
process.exitCode = problems.length === 0 && isClean ? 0 : 1;
