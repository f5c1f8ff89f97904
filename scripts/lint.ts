/**
 * Types and lint of all TypeScript, by what tsc and eslint say, of one program for each tsconfig.json: both work out the types
 * of everything, which is most of their time. Ends with 1 where either has found something. Run by scripts/check.sh.
 */
import { join } from "node:path";
import { ESLint } from "eslint";
import ts from "typescript";

const root = join(import.meta.dirname, "..");

/** Returns the program that tsc builds from a tsconfig.json. */
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
  // ESLint's rules walk from a node to its parent.
  const host = ts.createCompilerHost(options, true);
  return ts.createProgram({ rootNames, options, host, configFileParsingDiagnostics });
}

const formatHost: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => root,
  getNewLine: () => "\n",
};

/** Programs in place of the language server that eslint.config.js asks for, which is for editors. */
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
