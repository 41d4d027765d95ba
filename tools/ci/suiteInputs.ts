import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { placeOf } from "../sourceTree.ts";
import type { ImportGraph } from "./importGraph.ts";
import { mentionedPaths } from "./mentionedPaths.ts";
import type { ProjectFiles } from "./projectFiles.ts";

/** What of the project decides what a test file does. */
export interface SuiteInputs {
  /** Paths relative to the root, sorted: the file, all that it imports, what these read, and the programs, charts and documents that they name. */
  readonly files: readonly string[];
  /** Why these are perhaps not all. */
  readonly unsure?: string;
  /** Whether each run draws other inputs, so that an equal run proves nothing of the next one. */
  readonly drawsSeed: boolean;
  /** Whether it reads what lies beside the project (ISTHMUS_SHARED). */
  readonly readsShared: boolean;
  /** Whether it starts real meshes, of several hundred MiB. */
  readonly startsMeshes: boolean;
}

/** Apps whose programs serve the console's pages. */
const WITH_PAGES = ["meshctl", "playground", "ui"];
const PAGES = "apps/ui/client";
const TESTBED = "tests/real/dataplane/harness/testbed.ts";
/** They run or bundle what those name who use them. */
const TOOLS = ["tools/build.mjs", "tools/run.mjs"];

/** Answers for test files of a project, each with the configuration of vitest that runs it; what several of them share is read once. */
export function suiteInputsOf(root: string, files: ProjectFiles, graph: ImportGraph): (suite: string, config: string) => SuiteInputs {
  const modules = new Map<string, Module>();

  function read(path: string): Module {
    const known = modules.get(path);
    if (known !== undefined) return known;
    const text = isOfTests(path) ? readFileSync(join(root, path), "utf8") : "";
    const { paths, unsure } = mentionedPaths(path, text, files.has);
    const drawsSeed = isOfTests(path) && (graph.outsideOf(path).includes("fast-check") || DRAWS.test(text) || RANDOM_SEED.test(text));
    const module = { paths, unsure, drawsSeed, readsShared: text.includes("ISTHMUS_SHARED") };
    modules.set(path, module);
    return module;
  }

  return (suite, config) => {
    const reached = new Set<string>([suite, config]);
    const inputs = new Set<string>();
    let unsure: string | undefined;
    let drawsSeed = false;
    let readsShared = false;
    // Sets also give what is added while they are read.
    for (const start of reached) {
      for (const path of graph.closureOf([start])) {
        inputs.add(path);
        // What a configuration imports says which files are tests; it reads none of them.
        if (TOOLS.includes(path) || (start === config && path !== config)) continue;
        const module = read(path);
        unsure ??= module.unsure;
        // The package of tests exports what draws and what does not: who draws imports it by name.
        drawsSeed ||= module.drawsSeed && !path.startsWith("packages/testing/");
        readsShared ||= module.readsShared;
        for (const mentioned of module.paths) for (const next of startedBy(mentioned)) reached.add(next);
      }
      for (const path of files.below(start)) inputs.add(path);
      // What bundles the programs names the folders of all of them.
      if (/^apps\/[^/]+\/bin$/.test(start)) inputs.add("tools/build.mjs");
    }
    const startsMeshes = inputs.has(TESTBED);
    return { files: [...inputs].sort(), ...(unsure === undefined ? {} : { unsure }), drawsSeed, readsShared, startsMeshes };
  };

  /** What runs or is read where a path is named: of an app its program, and its pages. */
  function startedBy(path: string): readonly string[] {
    const [top = "", app = ""] = path.split("/");
    if (top !== "apps") return [path];
    if (app === "") return files.below("apps").flatMap((file) => programOf(/^apps\/([^/]+)\/src\/main\.ts$/.exec(file)?.[1]));
    return [path, ...programOf(app)];
  }

  function programOf(app: string | undefined): readonly string[] {
    if (app === undefined) return [];
    const own = ["bin", "package.json", "src/main.ts"].map((path) => posix.join("apps", app, path));
    return WITH_PAGES.includes(app) ? [...own, PAGES, posix.join(PAGES, "main.tsx")] : own;
  }
}

interface Module {
  readonly paths: readonly string[];
  readonly unsure: string | undefined;
  readonly drawsSeed: boolean;
  readonly readsShared: boolean;
}

/** Product sources name paths in what they say to users; what they read is the users' own. */
function isOfTests(path: string): boolean {
  const { kind, name, isTest } = placeOf(path);
  return kind === "project" || isTest || name === "testing";
}

const DRAWS = /^import \{[^}]*\b(?:clusterObjects|fleetTraces|fleets|runs|sampled|stepsOver)\b[^}]*\} from "@isthmus\/testing";$/m;
const RANDOM_SEED = /\bMath\.random\(\)/;
