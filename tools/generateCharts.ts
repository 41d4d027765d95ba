import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { workloadClusterRules } from "@isthmus/api";
import { agentRules, rulesTemplate, serverRules } from "./chartRules.ts";
import { printsUsage } from "./generatorUsage.ts";

/** `npm run generate:charts [-- --check]`: writes the parts of deploy/helm that follow from the sources, or says whether they are up to date. */
function main(args: readonly string[]): number {
  const files = generated();
  const stale = [...files].filter(([path, content]) => !existsSync(path) || readFileSync(path, "utf8") !== content).map(([path]) => path);
  const present = existsSync(CRD_TEMPLATES) ? readdirSync(CRD_TEMPLATES).map((name) => join(CRD_TEMPLATES, name)) : [];
  const left = present.filter((path) => !files.has(path));
  if (args.includes("--check")) {
    for (const path of [...stale, ...left].sort()) console.error(`${path} does not follow from the sources: run npm run generate:charts`);
    return stale.length + left.length > 0 ? 1 : 0;
  }
  for (const path of stale) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, files.get(path) ?? "");
  }
  for (const path of left) rmSync(path);
  console.log(`${CHARTS}: ${files.size} generated files, ${stale.length} written, ${left.length} removed`);
  return 0;
}

// npm runs scripts in the project's root.
const CHARTS = "deploy/helm";
const CRDS = "deploy/crds";
// Not in `crds/`, whose content Helm installs once and never upgrades.
const CRD_TEMPLATES = `${CHARTS}/gloo-mesh-crds/templates`;

function generated(): ReadonlyMap<string, string> {
  return new Map([
    [`${CHARTS}/gloo-mesh-agent/templates/_rules.tpl`, rulesTemplate("gloo-mesh-agent", agentRules())],
    [
      `${CHARTS}/gloo-mesh-mgmt-server/templates/_rules.tpl`,
      // A server that manages its own cluster does what an agent does there.
      rulesTemplate("gloo-mesh-mgmt-server", { ...serverRules(), ...ownCluster() }),
    ],
    ...readdirSync(CRDS).map((name): [string, string] => [`${CRD_TEMPLATES}/${name}`, crdTemplate(readFileSync(join(CRDS, name), "utf8"))]),
  ]);
}

function ownCluster() {
  const { read, write } = workloadClusterRules("server");
  return { ownClusterRules: read, ownWriteRules: write };
}

/** A deleted CRD deletes every object of its kind: uninstalling the chart must not. */
function crdTemplate(crd: string): string {
  const kept = crd.replace("\nmetadata:\n", "\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep\n");
  if (kept === crd) throw new Error(`a file of ${CRDS} has no metadata`);
  // Helm would take double braces for its own.
  return kept.replaceAll("{{", '{{ "{{" }}');
}

process.exitCode = printsUsage("generate:charts") ? 0 : main(process.argv.slice(2));
