import { AppMesh, type Mesh, meshClusters } from "@isthmus/api";
import { kindKeyOf } from "@isthmus/core";
import { derived } from "../incremental/derived.ts";
import { type Group, groupedBy } from "../incremental/groupedBy.ts";
import { inputTable } from "../incremental/join.ts";
import { namespaceLocationOf } from "../policy/podIndexes.ts";
import { type AgeSource, precedence } from "../policy/precedence.ts";
import { controlPlaneJoins, controlPlanes, type MeshSources } from "./controlPlaneJoins.ts";
import { translateAppMesh } from "./detectors/appMesh.ts";
import { type DiscoveryRow, discoveryRow } from "./discoveryResult.ts";
import { mayHoldInfrastructure } from "./infrastructure.ts";
import { controlPlaneInputs, translateMesh } from "./meshes.ts";
import { DISCOVERED_CLUSTER_LABEL } from "./metadata.ts";
import { controlPlaneKept, controlPlaneNotTrusted } from "./notTrusted.ts";
import { isDiscoveredCluster } from "./sources.ts";

/** What comes of every control plane. */
export const discoveredControlPlanes = derived({
  from: controlPlanes,
  context: ({ context }) => context,
  joins: controlPlaneJoins,
  make: (deployment, { key, lookup, context, before }): DiscoveryRow<Mesh> | undefined => {
    if (!isDiscoveredCluster(namespaceLocationOf(deployment).clusterName, context)) return undefined;
    const [scope] = lookup("meshScope");
    if (scope?.planes.includes(key) === false)
      return discoveryRow(key, deployment, { reports: [controlPlaneNotTrusted(deployment)] }, before);
    const found = translateMesh(controlPlaneInputs(deployment, context, lookup));
    const isVouchedFor = scope === undefined || mayHoldInfrastructure(deployment.metadata.namespace ?? "", scope.infrastructure);
    return discoveryRow(
      key,
      deployment,
      isVouchedFor ? found : { ...found, reports: [controlPlaneKept(deployment), ...found.reports] },
      before,
    );
  },
});

const appMeshesOf = groupedBy<AppMesh>(byArn);
const appMeshes = inputTable(
  ({ inputs }: MeshSources) => appMeshesOf(inputs.of(AppMesh)),
  ({ key }) => key,
);
// In keys, apart from all other rows: what an ARN says is its cluster's word.
const ARN = `${kindKeyOf(AppMesh)}|`;

/** App Meshes by their ARN. What the App Mesh controller has not seen yet has none. */
function byArn({ status }: AppMesh): readonly string[] {
  return status?.meshARN === undefined ? [] : [`${ARN}${status.meshARN}`];
}

/** What comes of every App Mesh, whatever clusters it is in. */
export const discoveredAppMeshes = derived({
  from: appMeshes,
  context: ({ context }) => context,
  joins: {},
  make: ({ key, rows }: Group<AppMesh>, { context, before }): DiscoveryRow<Mesh> | undefined => {
    const [first, ...others] = rows.filter(({ metadata: { clusterName = "" } }) => isDiscoveredCluster(clusterName, context));
    if (first === undefined) return undefined;
    const { owner, options } = context;
    const inputs = { arn: key.slice(ARN.length), sources: [first, ...others] as const, owner, namespace: options.namespace };
    return discoveryRow(key, oldestOf(inputs.sources, options.ages), translateAppMesh(inputs), before);
  },
});

function oldestOf([first, ...others]: readonly [AppMesh, ...AppMesh[]], ages: AgeSource = "FIRST_SEEN"): AppMesh {
  const isOlder = precedence(ages);
  return others.reduce((oldest, one) => (isOlder(one, oldest) < 0 ? one : oldest), first);
}

/** Meshes by the clusters that they were found in: one without a control plane by each that has a resource for it. */
export function meshesByCluster(mesh: Mesh): readonly string[] {
  const clusterName = mesh.metadata.labels?.[DISCOVERED_CLUSTER_LABEL];
  // That one cluster names such a mesh puts nothing of another into it.
  return clusterName === undefined ? meshClusters(mesh) : [clusterName];
}
