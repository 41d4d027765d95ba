import { execFile, execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, promisify } from "node:util";
import { Mesh } from "@isthmus/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeProductionTree } from "../../tools/productionTree.mjs";
import { describeReal } from "./harness/describeReal.ts";
import { startSlice } from "./harness/slice.ts";
import { waitFor } from "./harness/waitFor.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAMS = { "mgmt-server": "bin/mgmt-server.js", agent: "bin/agent.js", ui: "bin/ui.js", meshctl: "bin/meshctl.js" } as const;
type App = keyof typeof PROGRAMS;
const APPS = Object.keys(PROGRAMS) as App[];

/** By path, as a lock file has them; without the tree itself. */
function lockedPackages(tree: string): Readonly<Record<string, object>> {
  const { packages } = JSON.parse(readFileSync(join(tree, "package-lock.json"), "utf8")) as { packages: Record<string, object> };
  const { "": _, ...dependencies } = packages;
  return dependencies;
}

/** Whether each package of `tree` is in `installed`: at the same place, of the same version and content. */
function hasAllOf(installed: string, tree: string): boolean {
  const there = lockedPackages(installed);
  return Object.entries(lockedPackages(tree)).every(([path, entry]) => isDeepStrictEqual(there[path], entry));
}

/**
 * Puts the packages that a tree's lock file has into it, as hard links to those of an installed tree. Without npm's own list of what it installed:
 * so `npm ls` looks at the packages themselves.
 */
function linkPackages(installed: string, tree: string): void {
  execFileSync("cp", ["-al", join(installed, "node_modules"), join(tree, "node_modules")]);
  const kept = lockedPackages(tree);
  for (const path of Object.keys(lockedPackages(installed))) {
    if (kept[path] === undefined) rmSync(join(tree, path), { recursive: true, force: true });
  }
  rmSync(join(tree, "node_modules/.package-lock.json"));
  const bin = join(tree, "node_modules/.bin");
  for (const name of readdirSync(bin)) if (!existsSync(join(bin, name))) rmSync(join(bin, name));
}

interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Nothing of the checkout is found by accident: not by the working folder, nor by the environment. */
async function run(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: object },
): Promise<Answer> {
  const { PATH = "", HOME = "" } = process.env;
  try {
    const { stdout, stderr } = await promisify(execFile)(command, [...args], { cwd, env: { PATH, HOME, ...env }, timeout: 240_000 });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { readonly code?: unknown; readonly stdout?: string; readonly stderr?: string };
    return { code: typeof code === "number" ? code : -1, out: stdout, err: stderr };
  }
}

let folder: string;
const treeOf = (app: App) => join(folder, app);

// As the images have them: an empty folder, production dependencies alone. `npm ci` installs the first tree, and each that has packages which no
// earlier one has. Of the others it verifies that their lock files agree with what they ask for; their packages are the same entries of a lock
// file that it has installed.
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "isthmus-images-")));
  const installed: App[] = [];
  for (const app of APPS) {
    await writeProductionTree(app, treeOf(app));
    const source = installed.find((earlier) => hasAllOf(treeOf(earlier), treeOf(app)));
    const more = source === undefined ? [] : ["--dry-run"];
    const flags = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
    expect(await run("npm", ["ci", ...flags, ...more], { cwd: treeOf(app) }), app).toMatchObject({ code: 0 });
    if (source === undefined) {
      installed.push(app);
      // As the Dockerfiles have it: nothing of these is read while a program runs.
      const pruned =
        /find node_modules .* -delete/.exec(readFileSync(join(root, `deploy/images/${app}.Dockerfile`), "utf8"))?.[0] ?? "false";
      expect(await run("sh", ["-c", pruned], { cwd: treeOf(app) }), app).toMatchObject({ code: 0 });
    } else linkPackages(treeOf(source), treeOf(app));
  }
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the production tree of an app", () => {
  it.for(APPS)("has all that its lock file says, and nothing else (%s)", async (app) => {
    const listed = await run("npm", ["ls", "--all", "--omit=dev", "--json"], { cwd: treeOf(app) });
    expect(listed.code).toBe(0);
    expect(JSON.parse(listed.out)).not.toHaveProperty("problems");
    const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
      packages: Record<string, { dev?: boolean }>;
    };
    const installed = Object.keys(lockedPackages(treeOf(app)));
    expect(installed.filter((path) => packages[path] === undefined || packages[path].dev === true)).toEqual([]);
  });

  it.for(APPS)("can be listed as software for those who look for known faults (%s)", async (app) => {
    const { code, out } = await run("npm", ["sbom", "--omit=dev", "--sbom-format=spdx"], { cwd: treeOf(app) });
    expect(code).toBe(0);
    const names = (JSON.parse(out) as { packages: readonly { name: string }[] }).packages.map(({ name }) => name);
    expect(names).toContain("commander");
    expect(names).not.toContain("vitest");
  });

  it.for(["ui", "meshctl"] as const)("has a list of the software that is in the pages of the console (%s)", (app) => {
    const list = JSON.parse(readFileSync(join(treeOf(app), "bundled.spdx.json"), "utf8")) as {
      packages: readonly { name: string; versionInfo: string; licenseDeclared: string }[];
    };
    const names = list.packages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["react", "react-dom", "@mantine/core", "@xyflow/react", "scheduler"]));
    for (const name of ["typescript", "esbuild", "pino"]) expect(names).not.toContain(name);
    const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
      packages: Record<string, { version: string }>;
    };
    const react = list.packages.find(({ name }) => name === "react");
    expect(react).toMatchObject({ versionInfo: packages["node_modules/react"]?.version, licenseDeclared: "MIT" });
  });

  it.for(["ui/dist/client", "meshctl/dist/console"] as const)(
    "has the pages of the console, and all that these load at first (%s)",
    (place) => {
      const client = join(folder, place);
      const html = readFileSync(join(client, "index.html"), "utf8");
      const loaded = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = ""]) => path);
      expect(loaded.length).toBeGreaterThan(1);
      expect(loaded.filter((path) => !existsSync(join(client, path)))).toEqual([]);
    },
  );

  it.for(APPS)("starts (%s)", async (app) => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    const { code, out } = await run(process.execPath, [join(treeOf(app), PROGRAMS[app]), "--version"], { cwd: folder });
    expect([code, out.trim()]).toEqual([0, version]);
  });
});

it("meshctl can be packed, installed from the package, and checks files", async () => {
  const packed = await run("npm", ["pack", "--pack-destination", folder], { cwd: treeOf("meshctl") });
  expect(packed.code).toBe(0);
  const [file] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const place = mkdtempSync(join(folder, "installed-"));
  const installed = await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", `../${file}`], { cwd: place });
  expect(installed).toMatchObject({ code: 0 });
  const meshctl = join(place, "node_modules/.bin/meshctl");
  const served = execFile(meshctl, ["snapshot", "serve", "--port", "0", join(root, "docs/examples/cluster-1.yaml")], {
    cwd: place,
  });
  let printed = "";
  served.stdout?.on("data", (data: Buffer) => {
    printed += data.toString();
  });
  await waitFor("the address of the console", () => printed.startsWith("http:"));
  expect(await (await fetch(printed.trim())).text()).toContain("/assets/main-");
  served.kill("SIGTERM");
  const { code, err } = await run(meshctl, ["validate", "-f", join(root, "docs/examples")], { cwd: place });
  expect([code, err]).toEqual([0, expect.stringContaining("0 errors")]);
  // The name by which kubectl finds its plugins.
  const plugin = await run(join(place, "node_modules/.bin/kubectl-mesh"), ["get", "--help"], { cwd: place });
  expect([plugin.code, plugin.out]).toEqual([0, expect.stringContaining("Usage: kubectl mesh get")]);
  const completed = await run(join(place, "node_modules/.bin/kubectl_complete-mesh"), ["get", "mes"], { cwd: place });
  expect(completed).toMatchObject({ code: 0, out: "meshes\n:4\n", err: "" });
});

describe("the images' files", () => {
  it.for(APPS)("run the program of the tree as nobody in particular, on base images that are given (%s)", (app) => {
    const text = readFileSync(join(root, "deploy/images", `${app}.Dockerfile`), "utf8");
    const [, final = ""] = text.split("FROM $" + "{RUNTIME_IMAGE}");
    expect(text.match(/^FROM .*/gm)).toEqual(["FROM $" + "{BUILD_IMAGE} AS build", "FROM $" + "{RUNTIME_IMAGE}"]);
    expect(final).toMatch(/^USER 65532:65532$/m);
    // Without a shell nothing else could run.
    expect(final).not.toMatch(/^RUN /m);
    const [, program = ""] = /^ENTRYPOINT \["\/usr\/local\/bin\/node", "\/app\/(.*)"\]$/m.exec(final) ?? [];
    expect(existsSync(join(treeOf(app), program)), program).toBe(true);
  });

  it("are built from images that are pinned by digest alone", async () => {
    const script = join(root, "deploy/images/build.sh");
    const docker = join(folder, "docker");
    writeFileSync(docker, '#!/usr/bin/env bash\nprintf "%s\\n" "$@"\n');
    chmodSync(docker, 0o755);
    const digest = `sha256:${"0".repeat(64)}`;
    const build = (env: object, ...args: string[]) =>
      run(script, args, { cwd: folder, env: { PATH: `${folder}:${process.env["PATH"]}`, ...env } });
    const pinned = { BUILD_IMAGE: `node@${digest}`, RUNTIME_IMAGE: `base@${digest}` };
    expect(await build({ ...pinned, BUILD_IMAGE: "node:24" }, "agent", "agent:1")).toEqual({
      code: 2,
      out: "",
      err: 'error: BUILD_IMAGE is "node:24": must be pinned by digest, as NAME@sha256:DIGEST\n',
    });
    expect((await build(pinned, "agents", "agent:1")).err).toMatch(/^error: there is no image of agents/);
    const built = await build(pinned, "agent", "agent:1", "--push");
    expect(built.code).toBe(0);
    expect(built.out.split("\n")).toEqual(
      expect.arrayContaining(["--file", "deploy/images/agent.Dockerfile", "--sbom=true", "--provenance=mode=max", "--push"]),
    );
  });
});

describeReal("the production trees on real API servers", (components) => {
  it("discover two clusters, as server and agents", async () => {
    const programs = { server: join(treeOf("mgmt-server"), PROGRAMS["mgmt-server"]), agent: join(treeOf("agent"), PROGRAMS.agent) };
    const slice = await startSlice(components, { programs });
    try {
      await waitFor("a Mesh of each cluster", async () => {
        expect((await slice.management.list(Mesh, { namespace: "gloo-mesh" })).items).toHaveLength(2);
        return true;
      });
    } finally {
      await slice.stop();
    }
  }, 300_000);
});
