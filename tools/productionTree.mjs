// `node tools/productionTree.mjs APP FOLDER`: the files of one app as they go into its image, or into a package of npm: its programs, and a
// package.json and package-lock.json of what they import, in the versions of the project's own lock file. Then `npm ci --omit=dev` there.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleApp, bundleClient } from "./build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const read = (...path) => JSON.parse(readFileSync(join(root, ...path), "utf8"));

/** Writes the tree of an app to a folder that is empty or not there. Throws where an import has no version. */
export async function writeProductionTree(app, folder) {
  const source = join(root, "apps", app);
  if (!existsSync(join(source, "src/main.ts"))) throw new Error(`there is no app called ${app}`);
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  // Not the app's own `dist`, which may be running.
  const imports = (await bundleApp(source, join(folder, "dist"))).filter((path) => !isBuiltin(path)).map(packageOf);
  const { packages } = read("package-lock.json");
  // After the programs, as that leaves nothing else in `dist`.
  const pages = PAGES[app];
  const bundled = pages === undefined ? undefined : (await bundleClient(join(root, "apps/ui"), join(folder, pages))).packages;
  const { name, version, license, bin } = read("apps", app, "package.json");
  const { engines, overrides = {}, devDependencies } = read("package.json");
  const [program] = Object.keys(bin);
  const dependencies = Object.fromEntries([...new Set(imports)].sort().map((one) => [one, versionOf(one, packages)]));
  const about = {
    name: program ?? name,
    version,
    license,
    type: "module",
    engines,
    bin,
    dependencies,
    overrides: spelledOut(overrides, devDependencies),
  };
  cpSync(join(source, "bin"), join(folder, "bin"), { recursive: true });
  for (const file of ["LICENSE", "NOTICE"]) cpSync(join(root, file), join(folder, file));
  if (bundled !== undefined) writeJson(join(folder, BUNDLED), bundledList(about, bundled, packages));
  const lock = { name: about.name, version, lockfileVersion: 3, requires: true };
  const locked = { "": { ...about, type: undefined }, ...closure(Object.keys(dependencies), packages) };
  writeJson(join(folder, "package.json"), { ...about, files: ["bin", "dist", "LICENSE", "NOTICE", BUNDLED] });
  writeJson(join(folder, "package-lock.json"), { ...lock, packages: locked });
}

/** Where the pages of the console are in the trees of the programs that serve them. */
const PAGES = { ui: "dist/client", meshctl: "dist/console" };
/** Of the packages that are in the pages, which `npm sbom` does not see. */
const BUNDLED = "bundled.spdx.json";

/** A list in SPDX 2.3, as `npm sbom` makes it of what is installed. */
function bundledList({ name, version }, places, packages) {
  const seconds = process.env.SOURCE_DATE_EPOCH;
  const list = places.map((place) => {
    const { version: of, license = "NOASSERTION", name: alias } = packages[place] ?? {};
    if (of === undefined) throw new Error(`${place} is in the pages, and the lock file does not have it`);
    const called = alias ?? place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
    return {
      name: called,
      SPDXID: `SPDXRef-Package-${`${called}-${of}`.replace(/[^\w.]+/g, "-")}`,
      versionInfo: of,
      downloadLocation: "NOASSERTION",
      filesAnalyzed: false,
      licenseDeclared: license,
      externalRefs: [
        { referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: `pkg:npm/${called.replace("@", "%40")}@${of}` },
      ],
    };
  });
  const document = "SPDXRef-DOCUMENT";
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: document,
    name: `${name}-pages@${version}`,
    documentNamespace: `urn:isthmus:${name}:${version}:pages`,
    creationInfo: {
      created: new Date(seconds === undefined ? Date.now() : Number(seconds) * 1_000).toISOString(),
      creators: ["Tool: productionTree"],
    },
    documentDescribes: list.map(({ SPDXID }) => SPDXID),
    packages: list,
    relationships: list.map(({ SPDXID }) => ({ spdxElementId: document, relatedSpdxElement: SPDXID, relationshipType: "DESCRIBES" })),
  };
}

/** `$name` stands for the version that the project itself asks for. */
function spelledOut(overrides, asked) {
  return Object.fromEntries(
    Object.entries(overrides).map(([name, version]) => [name, version.startsWith("$") ? asked[version.slice(1)] : version]),
  );
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** `@scope/name/deep/file.js` is of `@scope/name`. */
function packageOf(path) {
  return path.split("/", path.startsWith("@") ? 2 : 1).join("/");
}

/** As a package.json names it: under another name than its own, with that. */
function versionOf(name, packages) {
  const entry = packages[`node_modules/${name}`];
  if (entry?.version === undefined) throw new Error(`${name} is imported, and the lock file has no version of it`);
  return entry.name === undefined || entry.name === name ? entry.version : `npm:${entry.name}@${entry.version}`;
}

/** What the lock file has for some packages and for all that they need. */
function closure(names, packages) {
  const found = new Map();
  const waiting = names.map((name) => ({ from: "", name, isOptional: false }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const path = placeOf(next.name, next.from, packages);
    if (path === undefined) {
      if (next.isOptional) continue;
      throw new Error(`the lock file does not have ${next.name}, which ${next.from || "the app"} needs`);
    }
    if (found.has(path)) continue;
    const { dev: _, devOptional: __, ...entry } = packages[path];
    found.set(path, entry);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = entry;
    for (const name of Object.keys(dependencies)) waiting.push({ from: path, name, isOptional: name in optionalDependencies });
    for (const name of Object.keys(optionalDependencies)) waiting.push({ from: path, name, isOptional: true });
    for (const name of Object.keys(peerDependencies)) {
      waiting.push({ from: path, name, isOptional: peerDependenciesMeta[name]?.optional === true });
    }
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Where Node finds a package that is imported from another one: beside it, or further up. */
function placeOf(name, from, packages) {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/")))) {
    const path = place === "" ? `node_modules/${name}` : `${place}/node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (place === "") return undefined;
  }
}

const USAGE = "usage: node tools/productionTree.mjs APP FOLDER";
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [app, folder, ...rest] = process.argv.slice(2);
  if (app === "--help" || app === "-h") {
    console.log(USAGE);
    process.exit(0);
  }
  if (app === undefined || folder === undefined || rest.length > 0) {
    console.error(USAGE);
    process.exit(2);
  }
  try {
    await writeProductionTree(app, resolve(folder));
  } catch (error) {
    console.error(`error: ${error.message}`);
    process.exit(1);
  }
}
