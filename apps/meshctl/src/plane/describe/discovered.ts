import type { CiliumInstallation, Destination, Mesh, Workload } from "@isthmus/api";
import type { Cell } from "../../output/boxedTable.ts";
import { fieldLines, labelLines, paragraphs, refLines, refsLines } from "./cells.ts";
import type { Description } from "./description.ts";

/** Source of the columns: the published `meshctl describe`. */
export const meshDescription: Description<Mesh> = {
  kind: "Mesh",
  headers: ["METADATA", "VIRTUAL MESH", "VIRTUAL DESTINATIONS"],
  cells: (mesh) => [
    meshLines(mesh),
    refLines(mesh.status?.appliedVirtualMesh?.ref ?? {}),
    refsLines((mesh.status?.appliedVirtualDestinations ?? []).map(({ ref = {} }) => ref)),
  ],
};

function meshLines({ metadata: { name }, spec = {}, status }: Mesh): Cell {
  const { istio, awsAppMesh, linkerd, consulConnect, osm } = spec;
  if (awsAppMesh !== undefined) {
    const { clusters, region, awsAccountId } = awsAppMesh;
    return fieldLines({ Name: name, Clusters: clusters, Type: "appmesh", Region: region, AwsAccountId: awsAccountId });
  }
  const [type, installation] = istio
    ? ["istio", istio.installation]
    : linkerd
      ? ["linkerd", linkerd.installation]
      : consulConnect
        ? ["consulconnect", consulConnect.installation]
        : ["osm", osm?.installation];
  const { namespace, cluster, version } = installation ?? {};
  return fieldLines({
    Name: name,
    Namespace: namespace,
    Cluster: cluster,
    Type: type,
    Version: version,
    "Trust Domain": istio?.trustDomain,
    Problem: istio?.trustDomainProblem,
    Held: spec.held?.reason,
    ...ciliumFields(spec.cilium, status?.cilium),
  });
}

/** Nothing without Cilium. */
function ciliumFields(
  cilium: CiliumInstallation | undefined,
  { identities, nodes }: NonNullable<NonNullable<Mesh["status"]>["cilium"]> = {},
): Readonly<Record<string, string>> {
  if (cilium === undefined) return {};
  const { version = "", enforcement = "", clusterName = "", clusterMesh, l7Proxy, warnings = [] } = cilium;
  return {
    Cilium: version,
    "Cilium Cluster": `${clusterName}${clusterMesh === true ? ", in a Cluster Mesh" : ""}`,
    "Cilium Policies": `${enforcement}${l7Proxy === true ? "" : ", without rules for HTTP"}`,
    ...(nodes === undefined ? {} : { "Cilium Nodes": String(nodes) }),
    ...(identities === undefined ? {} : { "Cilium Identities": String(identities) }),
    ...(warnings.length === 0 ? {} : { "Cilium Problems": warnings.join("; ") }),
  };
}

/** Source of the columns: as above. */
export const workloadDescription: Description<Workload> = {
  kind: "Workload",
  headers: ["METADATA", "KUBERNETES", "MESH"],
  cells: ({ metadata, spec: { kubernetes, mesh } = {}, status }) => {
    const controller = refLines(kubernetes?.controller ?? {});
    const account = kubernetes?.serviceAccountName;
    return [
      refLines({ ...metadata, clusterName: kubernetes?.controller?.clusterName }),
      paragraphs([
        fieldLines({ "Service Account": account, Pods: status?.readiness }),
        labelLines("POD LABELS", kubernetes?.podLabels),
        controller.length === 0 ? [] : ["CONTROLLER", ...controller],
      ]),
      refLines(mesh ?? {}),
    ];
  },
};

/** Source of the columns: as above. One that users wrote for an external service shows its hosts. */
export const destinationDescription: Description<Destination> = {
  kind: "Destination",
  headers: ["METADATA", "TRAFFIC POLICIES", "ACCESS POLICIES"],
  cells: ({ metadata, spec: { kubeService, externalService } = {}, status = {} }) => {
    const { appliedTrafficPolicies = [], appliedAccessPolicies = [], appliedFederation } = status;
    const federated = { "Federated DNS Name": appliedFederation?.federatedHostname };
    return [
      kubeService === undefined
        ? fieldLines({ ...nameFields(metadata), Type: "external service", Hosts: externalService?.hosts, ...federated })
        : [...refLines(kubeService.ref ?? {}), ...fieldLines({ Type: "kubernetes service", Endpoints: status.readiness, ...federated })],
      refsLines(appliedTrafficPolicies.map(({ ref = {} }) => ref)),
      refsLines(appliedAccessPolicies.map(({ ref = {} }) => ref)),
    ];
  },
};

function nameFields({ name, namespace }: Destination["metadata"]): { readonly Name: string; readonly Namespace: string | undefined } {
  return { Name: name, Namespace: namespace };
}
