import { CLUSTER_ID_VARIABLE, Deployment, ISTIOD_CONTAINER, Mesh } from "@isthmus/api";
import type { Index } from "@isthmus/core";
import { defineRule, lookUp } from "../rule.ts";
import { byInstallationPlace, placeKey } from "./places.ts";

/** What istiod calls its cluster; undefined of another Deployment, or where the agent does not say it. */
function clusterIdIn({ spec }: Deployment): { readonly id: string; readonly field: string } | undefined {
  const containers = spec?.template?.spec?.containers ?? [];
  const at = containers.findIndex(({ name }) => name === ISTIOD_CONTAINER);
  const id = containers[at]?.env?.find(({ name }) => name === CLUSTER_ID_VARIABLE)?.value ?? "";
  // A saved page of a server has `<redacted>` in the place of all values of variables.
  return id === "" || id.startsWith("<") ? undefined : { id, field: `spec.template.spec.containers[${at}].env` };
}

const placeOfIstiod: Index<Deployment> = (deployment) => (clusterIdIn(deployment) === undefined ? [] : [placeKey(deployment)]);

/** FED1011, of meshes that others are joined with: alone, nobody confuses them. */
export const clusterIdDiffers = defineRule({
  code: "FED1011",
  of: Deployment,
  reads: { installed: lookUp(Mesh, { key: placeOfIstiod, index: byInstallationPlace }) },
  *find(deployment, { lookup }) {
    const { id = "", field = "" } = clusterIdIn(deployment) ?? {};
    const { clusterName = "" } = deployment.metadata;
    const isJoined = lookup("installed").some(({ status }) => status?.appliedVirtualMesh !== undefined);
    if (id === "" || id === clusterName || !isJoined) return;
    yield {
      field,
      message: `${CLUSTER_ID_VARIABLE} is ${id}, and the cluster is registered as ${clusterName}`,
      remedy: `set global.multiCluster.clusterName to ${clusterName} in the values of istiod, and restart the workloads`,
    };
  },
});
