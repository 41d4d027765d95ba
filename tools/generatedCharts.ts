import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { workloadClusterRules } from "@isthmus/api";
import { agentRules, rulesTemplate, serverRules } from "./chartRules.ts";
import type { GeneratedFiles } from "./generatedFiles.ts";

const CHARTS = "deploy/helm";
const CRDS = "deploy/crds";
// Not in `crds/`, whose content Helm installs once and never upgrades.
const CRD_TEMPLATES = `${CHARTS}/gloo-mesh-crds/templates`;

/** The parts of deploy/helm that follow from the sources. */
export const generatedCharts: GeneratedFiles = {
  script: "generate:charts",
  source: "the sources",
  place: CHARTS,
  folders: [CRD_TEMPLATES],
  contents,
};

function contents(): ReadonlyMap<string, string> {
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
