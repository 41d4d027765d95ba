import { Destination, Mesh, VirtualMesh } from "@isthmus/api";
import { displayName, formatRef, type Index, refOf } from "@isthmus/core";
import { kubectl } from "../insight.ts";
import { defineRule, lookUp, lookUpPart, type RuleFinding } from "../rule.ts";
import { isGateway, meshesNamed } from "./places.ts";

/** The minor version in `1.24.2`; undefined of what is no version of the first major one. */
export function istioMinor(version: string | undefined): number | undefined {
  const [, minor] = /^v?1\.(\d{1,4})(?:\D|$)/.exec(version ?? "") ?? [];
  return minor === undefined ? undefined : Number(minor);
}

const MOST_APART = 1;

/** FED1012. */
export const versionsApart = defineRule({
  code: "FED1012",
  of: VirtualMesh,
  reads: { meshes: lookUp(Mesh, { key: meshesNamed }) },
  *find(_, { lookup }) {
    const known = lookup("meshes").flatMap((mesh) => {
      const version = mesh.spec?.istio?.installation?.version ?? "";
      const minor = istioMinor(version);
      return minor === undefined ? [] : [{ mesh, version, minor }];
    });
    const [oldest, newest] = [known.toSorted((a, b) => a.minor - b.minor)[0], known.toSorted((a, b) => b.minor - a.minor)[0]];
    if (oldest === undefined || newest === undefined || newest.minor - oldest.minor <= MOST_APART) return;
    yield {
      field: "spec.meshes",
      message: `Istio is ${oldest.version} in ${formatRef(refOf(oldest.mesh))}, and ${newest.version} in ${formatRef(refOf(newest.mesh))}`,
      remedy: { text: `upgrade Istio of ${oldest.mesh.metadata.name}` },
    };
  },
});

/** FED1013. */
export const everythingExported = defineRule({
  code: "FED1013",
  of: VirtualMesh,
  reads: {},
  *find({ spec }) {
    const { selectors, permissive } = spec?.federation ?? {};
    const i = (selectors ?? []).findIndex(
      ({ destinationSelectors = [], meshes = [] }) => destinationSelectors.length + meshes.length === 0,
    );
    const isPermissive = permissive !== undefined && (selectors ?? []).length === 0;
    if (i < 0 && !isPermissive) return;
    yield {
      field: isPermissive ? "spec.federation.permissive" : `spec.federation.selectors[${i}]`,
      message: "federates every service to every mesh: each proxy is configured for all of them",
      remedy: "name the services that other clusters call in destinationSelectors",
    };
  },
});

function endpointsOf(spec: Destination["spec"]): number {
  return (spec?.kubeService?.endpointSubsets ?? []).reduce((sum, { endpoints = [] }) => sum + endpoints.length, 0);
}

/** By the name and namespace of the Service, in any cluster. */
const byServiceName: Index<Destination> = ({ spec }) => {
  const ref = spec?.kubeService?.ref;
  return ref === undefined ? [] : [`${ref.name}.${ref.namespace}`];
};

/** FED1009. */
export const federatedWithoutEndpoints = defineRule({
  code: "FED1009",
  of: Destination,
  reads: {},
  *find(destination) {
    const { spec, status } = destination;
    const ref = spec?.kubeService?.ref;
    if (ref === undefined || (status?.appliedFederation?.federatedToMeshes ?? []).length === 0 || endpointsOf(spec) > 0) return;
    yield {
      message: `Service ${displayName(ref)} is federated and has no endpoints: requests from other clusters fail`,
      remedy: {
        text: "scale its workload up, correct the selector of the Service, or do not federate it",
        command: kubectl(ref, "get", "endpointslices", "-l", `kubernetes.io/service-name=${ref.name}`),
      },
    };
  },
});

// Of their statuses, which every policy changes, nothing is read.
const namesakes = lookUpPart(Destination, { key: byServiceName, index: byServiceName, select: ({ spec }) => spec });

/** RES1002. */
export const singleBackend = defineRule({
  code: "RES1002",
  of: Destination,
  reads: { namesakes },
  *find(destination, { lookup }) {
    const { spec, status } = destination;
    const ref = spec?.kubeService?.ref;
    if (ref === undefined || (status?.appliedFederation?.federatedToMeshes ?? []).length === 0) return;
    const count = lookup("namesakes").reduce((sum, one) => sum + endpointsOf(one), 0);
    if (count !== 1 || endpointsOf(spec) !== 1) return;
    yield {
      message: `Service ${displayName(ref)} is federated and has one pod in all clusters together`,
      remedy: { text: "scale its workload to 2 pods or more, or run it in a second cluster" },
    };
  },
});

function portsText(spec: Destination["spec"]): string {
  const texts = (spec?.kubeService?.ports ?? []).map(({ port, protocol = "TCP" }) => `${port}/${protocol}`);
  return texts.sort().join(", ") || "none";
}

/** FED1007. */
export const portsDiffer = defineRule({
  code: "FED1007",
  of: Destination,
  reads: { namesakes },
  find: (destination, { lookup }): readonly RuleFinding[] => {
    const ref = destination.spec?.kubeService?.ref;
    // Gateways of clusters are no replicas of each other.
    if (isGateway(destination.spec?.kubeService?.workloadSelectorLabels)) return [];
    const [first] = lookup("namesakes");
    const other = first?.kubeService?.ref;
    if (first === undefined || ref === undefined || other === undefined || portsText(first) === portsText(destination.spec)) return [];
    const message = `Service ${ref.namespace}/${ref.name} has ports ${portsText(destination.spec)} in ${ref.clusterName}, and ${portsText(first)} in ${other.clusterName}`;
    return [{ field: "spec.kubeService.ports", message, remedy: { text: "give both the same ports if one stands in for the other" } }];
  },
});
