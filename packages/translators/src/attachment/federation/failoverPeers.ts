import type { Destination, Mesh, Workload } from "@isthmus/api";
import { equalJson, keyOfResource, matchesLabels } from "@isthmus/core";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { isSame } from "../../incremental/rows.ts";
import type { FailoverPeer } from "../../meshes/inputs.ts";
import { byMesh, byServiceName } from "../../policy/indexes.ts";
import { isFederatedTo } from "../../policy/virtualDestinations/virtualDestinationTargets.ts";
import type { AttachedMesh } from "../meshes.ts";

/** Destinations that fail over, by the name and namespace of their Service, which are those of what they fail over to. */
export function byFailoverName(destination: Destination): readonly string[] {
  return destination.status?.appliedFederation?.failover === undefined ? NONE : byServiceName(destination);
}

/** Whether a Destination is as it was, seen from other clusters: a pod more or less with the same labels is nothing to them. */
export function isSameFromOutside(before: Destination, after: Destination): boolean {
  return equalJson(fromOutside(before), fromOutside(after));
}

const fromOutside = memoizeRow(({ spec, status }: Destination) => {
  const { ref, ports, region, workloadSelectorLabels, serviceType, serviceAccounts, endpointSubsets = [] } = spec?.kubeService ?? {};
  const pods = endpointSubsets.map(({ endpoints = [], ports: open }) => {
    // The pods of one workload share their labels.
    const labels = new Set(endpoints.filter(({ ipAddress = "" }) => ipAddress !== "").map((endpoint) => endpoint.labels));
    return { labels: [...new Set([...labels].map((one) => JSON.stringify(one)))].sort(), open };
  });
  return {
    mesh: spec?.mesh,
    ref,
    ports,
    region,
    workloadSelectorLabels,
    serviceType,
    serviceAccounts,
    pods,
    federation: status?.appliedFederation,
  };
});

/** The same of the mesh that it is in: what is read of a gateway is where it is. */
export function isSameEntrance(before: AttachedMesh, after: AttachedMesh): boolean {
  return before.view === after.view && equalJson(entrancesOf(before), entrancesOf(after));
}

function entrancesOf({ gateways }: AttachedMesh) {
  return gateways.map(({ externalAddresses, destinationPort }) => ({ externalAddresses, destinationPort }));
}

/** Of a Workload behind it. */
export function isSameSpec(before: Workload, after: Workload): boolean {
  return equalJson(before.spec, after.spec);
}

interface Namesakes {
  /** Destinations of one name, its own among them. */
  readonly namesakes: readonly Destination[];
  /** Their meshes. */
  readonly meshes: readonly AttachedMesh[];
  /** Workloads that may be behind any of them. */
  readonly workloads: readonly Workload[];
  /** Names of clusters that others are to call no more. */
  readonly offline: ReadonlySet<string>;
  /** Keys of those of them that an AccessPolicy selects. */
  readonly guarded: ReadonlySet<string>;
  readonly before: readonly FailoverPeer[] | undefined;
}

/** What a Destination fails over to: those that its VirtualMesh federates to its mesh. */
export function failoverPeersOf(
  own: Destination,
  mesh: Mesh,
  { namesakes, meshes, workloads, offline, guarded, before }: Namesakes,
): readonly FailoverPeer[] {
  if (namesakes.length < 2) return NONE;
  const peers = namesakes.flatMap((destination): readonly FailoverPeer[] => {
    if (clusterOf(destination) === clusterOf(own) || !isFederatedTo(destination, mesh)) return NONE;
    const [virtualMesh, ofOwn] = [destination, own].map(({ status }) => status?.appliedFederation?.virtualMeshRef);
    const [meshKey] = byMesh(destination);
    const home = meshes.find(({ key }) => key === meshKey);
    if (home === undefined || !equalJson(virtualMesh, ofOwn)) return NONE;
    const behind = workloads.filter((one) => isBehind(destination, one));
    const isOffline = offline.has(clusterOf(destination) ?? "");
    return [
      {
        destination,
        mesh: home.view,
        gateways: home.gateways,
        workloads: behind,
        isOffline,
        isGuarded: guarded.has(keyOfResource(destination)),
      },
    ];
  });
  peers.sort((a, b) => (keyOfResource(a.destination) < keyOfResource(b.destination) ? -1 : 1));
  return before !== undefined && isSameList(before, peers) ? before : peers;
}

function isBehind({ spec }: Destination, { spec: workload }: Workload): boolean {
  const { ref, workloadSelectorLabels = {} } = spec?.kubeService ?? {};
  const { controller, podLabels = {} } = workload?.kubernetes ?? {};
  if (controller?.clusterName !== ref?.clusterName || controller?.namespace !== ref?.namespace) return false;
  return Object.keys(workloadSelectorLabels).length > 0 && matchesLabels(workloadSelectorLabels, podLabels);
}

function clusterOf({ spec }: Destination): string | undefined {
  return spec?.kubeService?.ref?.clusterName;
}

function isSameList(before: readonly FailoverPeer[], after: readonly FailoverPeer[]): boolean {
  return (
    before.length === after.length &&
    before.every((one, i) => {
      const other = after[i];
      if (other === undefined) return false;
      const isSameGateways =
        one.mesh === other.mesh &&
        one.gateways === other.gateways &&
        one.isOffline === other.isOffline &&
        one.isGuarded === other.isGuarded;
      return one.destination === other.destination && isSameGateways && isSame(one.workloads, other.workloads);
    })
  );
}

const NONE: readonly never[] = [];
