/**
 * Makes the files of a release in a folder (out/release by default), with checksums and a bill of materials.
 * `docs/guides/releasing.md` describes how to publish it.
 *
 * ```
 * node scripts/artefacts/release.ts [folder]
 * ```
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import manifest from "../../package.json" with { type: "json" };

const repository = resolve(import.meta.dirname, "../..");
const out = resolve(process.argv[2] ?? join(repository, "out/release"));
const scratch = `${out}.parts`;
const { version } = manifest;

function run(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd: repository, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

function release(): void {
  for (const folder of [out, scratch]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  const node = process.execPath;
  run(node, "scripts/artefacts/package.ts", join(scratch, "package"));
  for (const folder of [join(scratch, "package"), join(repository, "clients/ts")])
    run("npm", "pack", "--silent", "--pack-destination", out, folder);
  const pip = [".venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"] as const;
  // Remove the files of an earlier build, because the wheel would also contain them.
  rmSync(join(repository, "clients/python/build"), { recursive: true, force: true });
  run(...pip, "wheel", "--no-deps", "--wheel-dir", out, "./clients/python");
  const image = join(scratch, "image");
  run(node, "scripts/artefacts/image.ts", join(out, `gradus-${version}.tgz`), image);
  // Compress at a fast level, because most of the image is the Node binary, which no level makes small.
  run(
    "tar",
    "-C",
    image,
    "--owner=0",
    "--group=0",
    "-I",
    "gzip -1",
    "-cf",
    join(out, `gradus-image-${version}.tar.gz`),
    ".",
  );
  writeFileSync(join(out, `gradus-${version}.cdx.json`), JSON.stringify(billOfMaterials(), undefined, 2));
  writeFileSync(join(out, "SHA256SUMS"), sums());
}

interface Bill {
  readonly metadata: { readonly component: { readonly "bom-ref": string } };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly "bom-ref": string;
  readonly type?: string;
  readonly name?: string;
  readonly version?: string;
  readonly purl?: string;
}

/**
 * Returns the bill of materials in CycloneDX: the libraries bundled for the server and the page, the npm packages
 * installed beside the bundles, and the Node binary. `npm sbom` describes each. The list of packages comes from
 * package.ts, because npm marks libraries of the page as development packages, like tools.
 */
function billOfMaterials(): Bill {
  const bill = JSON.parse(run("npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only")) as Bill;
  const materials = JSON.parse(readFileSync(join(scratch, "package/materials.json"), "utf8")) as readonly string[];
  const known = new Map(bill.components.map((component) => [component["bom-ref"], component]));
  const root = bill.metadata.component["bom-ref"];
  const kept = new Set([...materials, root]);
  return {
    ...bill,
    components: materials.map((reference) => known.get(reference) ?? unknownToNpm(reference)),
    dependencies: bill.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) })),
  };
}

/** Returns the entry of a package that no lock file has: the Node binary, which an install script downloads. */
function unknownToNpm(reference: string): Component {
  const at = reference.lastIndexOf("@");
  const [name, version] = [reference.slice(0, at), reference.slice(at + 1)];
  return { "bom-ref": reference, type: "application", name, version, purl: `pkg:npm/${encodeURI(name)}@${version}` };
}

/** Returns the checksums in the form that `sha256sum --check` reads. */
function sums(): string {
  return readdirSync(out)
    .map(
      (name) =>
        `${createHash("sha256")
          .update(readFileSync(join(out, name)))
          .digest("hex")}  ${name}\n`,
    )
    .join("");
}

release();
