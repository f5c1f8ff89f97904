/**
 * Checks documents against the repository. Every path that they name must exist, CONTRIBUTING.md must list the present
 * folders, and the index of docs/ its pages. No document may cite documents that are not here, or install a package of
 * ours from a package index. Rows of tables must stand in tables. `scripts/check.sh` runs it.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Files of the repository as paths from its root. */
export type Files = readonly string[];

/** Returns the files and all folders above them, without a slash at the end. */
function pathsOf(files: Files): ReadonlySet<string> {
  const paths = new Set(files);
  for (const file of files)
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) paths.add(file.slice(0, end));
  return paths;
}

/** Matches paths in folders that npm, pip and the programs make, and that no commit contains. */
const made = /^(node_modules|\.venv|\.trainers|\.data|out|dist)(\/|$)|\/(dist|node_modules)(\/|$)/;

/**
 * Returns the paths that a text names: paths that begin with a folder at the root, and the targets of links. `folder`
 * is the folder of the text, which its links are relative to.
 */
export function namedPaths(text: string, roots: readonly string[], folder = ""): readonly string[] {
  const start = roots.map((root) => root.replaceAll(".", "\\.")).join("|");
  const plain = text.matchAll(new RegExp(`(?<![\\w./@-])(?:\\./)?((?:${start})/[\\w./-]*)`, "g"));
  const links = text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g);
  const linked = [...links].map(([, path = ""]) => join(folder, path));
  const outside = [...plain].map(([, path = ""]) => path).filter((path) => !linked.some((link) => link.endsWith(path)));
  return [...outside, ...linked].map((path) => path.replace(/[./]+$/, "")).filter((path) => !made.test(path));
}

/**
 * Returns the paths of the tree in a document, which is drawn by indentation, two spaces a level. A name that ends in a
 * slash is a folder.
 */
export function treePaths(text: string): readonly string[] {
  const [, tree = ""] = /^## The tree\n+```\n(.*?)^```/ms.exec(text) ?? [];
  const above: string[] = [];
  return tree
    .split("\n")
    .filter((line) => line.trim() !== "")
    .flatMap((line) => {
      const depth = (line.length - line.trimStart().length) / 2;
      // Split a line of several names, which ends at the two spaces before its description.
      const [names = ""] = line.trim().split(/\s{2,}/);
      return names.split(/,? /).map((name) => {
        above.length = depth;
        const path = [...above, name.replace(/\/$/, "")].join("/");
        above[depth] = name.replace(/\/$/, "");
        return path;
      });
    });
}

/** Returns a message for each path that a document names and that does not exist. */
export function missingPaths(document: string, text: string, files: Files): readonly string[] {
  const paths = pathsOf(files);
  const tree = treePaths(text);
  const roots = [
    ...new Set([...files, ...tree].filter((path) => path.includes("/")).map((path) => path.split("/")[0] ?? "")),
  ];
  const folder = document.includes("/") ? document.slice(0, document.lastIndexOf("/")) : "";
  const named = [...tree, ...namedPaths(text, roots, folder)];
  return [...new Set(named)]
    .filter((path) => !paths.has(path))
    .map((path) => `${document} names ${path}, which is not there`);
}

/** Returns a message for each folder directly in `parent` that the tree of CONTRIBUTING.md leaves out. */
export function foldersLeftOut(text: string, parent: string, files: Files): readonly string[] {
  const listed = new Set(treePaths(text));
  const folders = [...pathsOf(files)].filter((path) => path.startsWith(`${parent}/`) && path.split("/").length === 2);
  return folders
    .filter((folder) => !files.includes(folder) && !listed.has(folder))
    .map((folder) => `the tree of CONTRIBUTING.md leaves out ${folder}/`);
}

/**
 * Returns a message for each page of docs/ that its index, docs/README.md, does not link to. Decisions have an index of
 * their own.
 */
export function pagesLeftOut(index: string, files: Files): readonly string[] {
  const linked = new Set([...index.matchAll(/\]\(([^)#:\s]+)/g)].map(([, path = ""]) => join("docs", path)));
  const pages = files.filter(
    (file) => /^docs\/(?!decisions\/(?!README)).*\.md$/.test(file) && file !== "docs/README.md",
  );
  return pages.filter((page) => !linked.has(page)).map((page) => `docs/README.md leaves out ${page}`);
}

/** Names of documents that developers worked from, and that are not in the repository. */
const absent = ["SPEC", "DESIGN", "STYLE"].map((name) => `${name}.md`);

/** Returns an error for each line that cites a document that is not in the repository. */
export function absentCitations(file: string, text: string): readonly string[] {
  return text.split("\n").flatMap((line, i) => {
    const cited = absent.find((name) => new RegExp(`\\b${name.replace(".", "\\.")}\\b`).test(line));
    return cited === undefined ? [] : [`${file}:${i + 1} cites ${cited}, which is not in this repository`];
  });
}

/** Returns an error for each table row outside a table. A table begins with a head and a line of dashes. */
export function looseRows(file: string, text: string): readonly string[] {
  let [isCode, isTable] = [false, false];
  const lines = text.split("\n");
  return lines.flatMap((line, i) => {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    const isRow = !isCode && line.startsWith("|");
    isTable = isRow && (isTable || /^\|[\s|:-]+\|$/.test(lines[i + 1] ?? ""));
    return isRow && !isTable ? [`${file}:${i + 1}: a row of a table that stands alone`] : [];
  });
}

/**
 * Commands that install a package of ours by its name from a package index, such as PyPI or npm. No index has our
 * packages.
 */
const INDEX_INSTALLS = [
  /\b(?:pip3?|pipx|uv|poetry|install)\s+(?:install|add|gradus)[^`|;&]*?(?<![\w./-])gradus(?:[-_]gym)?(?:\[[\w,-]+\])?(?![\w/.-])/,
  /\binstall gradus[-_]gym\b/,
  /\b(?:npm|pnpm|yarn|bun)\s+(?:i|install|add)\s[^`|;&]*?(?<![\w./-])(?:@gradus\/client|gradus)(?![\w/.-])/,
  /\bnpx\s+(?:-\S+\s+)*(?:gradus@|@gradus\/)/,
];

/**
 * Returns an error for each line that tells readers to install a package of ours from an index. The name there may
 * belong to somebody else.
 */
export function indexInstalls(file: string, text: string): readonly string[] {
  return text.split("\n").flatMap((line, i) => {
    if (!INDEX_INSTALLS.some((pattern) => pattern.test(line))) return [];
    return [
      `${file}:${i + 1} installs from an index, which has no package of ours: name the checkout or a built package`,
    ];
  });
}

const EVIDENCE = "docs/evidence.md";
const EVIDENCE_WORDS_MAX = 3000;
const CELL_WORDS_MAX = 25;

/**
 * Returns the problems of docs/evidence.md: its length, cells that are too long, and commands or tests that do not
 * exist.
 */
export function evidenceProblems(text: string, makefile: string, files: Files): readonly string[] {
  const words = (part: string): number => part.split(/[\s|]+/).filter(Boolean).length;
  // Check only the text before the section "Answered", whose benchmarks are deleted. That section names the commit that
  // has them.
  const [current = ""] = text.split("\n## Answered\n");
  const long = text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .flatMap((line) => line.split("|"))
    .filter((cell) => words(cell) > CELL_WORDS_MAX);
  const names = new Set(files.map((file) => file.slice(file.lastIndexOf("/") + 1)));
  const tests = [...current.matchAll(/`(test_\w+\.py)`/g)].map(([, name = ""]) => name);
  const targets = [...current.matchAll(/`make ([\w-]+)/g)].map(([, target = ""]) => target);
  return [
    ...(words(text) > EVIDENCE_WORDS_MAX
      ? [`${EVIDENCE} has ${words(text)} words: at most ${EVIDENCE_WORDS_MAX}`]
      : []),
    ...long.map((cell) => `${EVIDENCE} has a cell of more than ${CELL_WORDS_MAX} words: ${cell.trim().slice(0, 60)}`),
    ...missingPaths(EVIDENCE, current, files),
    ...tests.filter((name) => !names.has(name)).map((name) => `${EVIDENCE} names ${name}, which is not there`),
    ...targets
      .filter((target) => !new RegExp(`^${target}:`, "m").test(makefile))
      .map((target) => `${EVIDENCE} names make ${target}, which the Makefile does not have`),
  ];
}

/** Returns whether the paths in a document are checked. Decisions are not, because they also name deleted files. */
const isChecked = (file: string): boolean =>
  ["README.md", "CONTRIBUTING.md", "docs/README.md"].includes(file) || /^docs\/guides\/.*\.md$/.test(file);

/** Returns all errors in the documents of the repository at `root`. */
export function problems(root: string): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  const files = listed.toString().split("\0").filter(Boolean);
  const read = (file: string): string => readFileSync(join(root, file), "utf8");
  const contributing = read("CONTRIBUTING.md");
  return [
    ...files.filter(isChecked).flatMap((document) => missingPaths(document, read(document), files)),
    ...["server", "envs", "pictures", "clients"].flatMap((parent) => foldersLeftOut(contributing, parent, files)),
    ...pagesLeftOut(read("docs/README.md"), files),
    ...evidenceProblems(read(EVIDENCE), read("Makefile"), files),
    ...files
      .filter((file) => /\.(ts|js|mjs|cjs|md|py|pyi|proto|sh|ya?ml|json|toml)$|^(Makefile|Dockerfile)$/.test(file))
      .flatMap((file) => absentCitations(file, read(file))),
    ...files
      .filter((file) => /\.(ts|tsx|mjs|md|py|proto|sh|ya?ml|json|toml|ipynb)$|^(Makefile|Dockerfile)$/.test(file))
      .filter((file) => !/^(test\/docs|scripts\/documents)|package-lock/.test(file))
      .flatMap((file) => indexInstalls(file, read(file))),
    ...files.filter((file) => file.endsWith(".md")).flatMap((file) => looseRows(file, read(file))),
  ];
}

if (import.meta.main) {
  const found = problems(resolve(import.meta.dirname, ".."));
  for (const problem of found) console.error(problem);
  process.exitCode = found.length === 0 ? 0 : 1;
}
