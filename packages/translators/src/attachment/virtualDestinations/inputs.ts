import { type Destination, Service, ServiceEntry, VirtualDestination, type VirtualMesh, Workload } from "@isthmus/api";
import { compareKeys, DEFAULT_HOSTNAME_SUFFIX, exactly, keyOf, keyOfResource, type Report, type ResourceRef, refOf } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../findings.ts";
import { derived } from "../../incremental/derived.ts";
import { inputKind, inputTable, join } from "../../incremental/join.ts";
import { entriesOf, type MapEntry } from "../../incremental/lookupTable.ts";
import type { Matching } from "../../incremental/matching.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { isSameRecord, reuseIfEqual } from "../../incremental/rows.ts";
import type { VirtualDestinationInputs } from "../../meshes/inputs.ts";
import { NETWORKING_OWNER_LABEL } from "../../meshes/outputMetadata.ts";
import { byMesh, byPodLabel, bySelector, byServiceName, destinationsByCluster } from "../../policy/indexes.ts";
import { lastAcceptedKept } from "../../policy/lastAccepted.ts";
import { policyScopeFrom } from "../../policy/policyScope.ts";
import { selectedDestinations, selectingCandidates } from "../../policy/selection.ts";
import { selectedUnder } from "../../policy/virtualSelection.ts";
import { type AttachedSources, destinations } from "../destinationJoins.ts";
import { addressedRefs, virtualIpOf } from "../federation/virtualIps.ts";
import { acceptedByKey, meshKey, meshKeysOf } from "../federation/virtualMeshes.ts";
import type { AttachedMesh } from "../meshes.ts";
import { byVirtualTarget } from "../policies.ts";
import { bySubsetVirtualDestination, subsetVirtualDestinations } from "../policyReferences.ts";
import { bySubsetUsage, policiesWithSubsets } from "../requiredSubsets.ts";
import { bySelectedTargets, formsOf } from "./forms.ts";
import { evaluatedPolicies, policiesOn } from "./policies.ts";
import { isUsable, type JoinedMesh, type Resolution, resolvedForm } from "./resolution.ts";

const virtualDestinations = inputKind<AttachedSources, VirtualDestination>(VirtualDestination);
const attachedMeshes = inputTable(
  ({ attachment }: AttachedSources) => attachment.meshes,
  ({ key }) => key,
);
const hosts = inputTable(({ attachment }: AttachedSources) => entriesOf(attachment.virtualHosts), entryKey);
const displacedIps = inputTable(({ attachment }: AttachedSources) => entriesOf(attachment.virtualIps.losers), entryKey);
const checkedPolicies = inputTable(
  ({ attachment }: AttachedSources) => attachment.traffic,
  ({ key }) => key,
);
const supports = inputTable(
  ({ attachment }: AttachedSources) => attachment.supports,
  ({ key }) => key,
);
const offlineClusters = inputTable(({ attachment }: AttachedSources) => entriesOf(attachment.offline), entryKey);
const virtualMeshes = inputTable(({ attachment }: AttachedSources) => entriesOf(acceptedByKey(attachment.membership)), entryKey);

/** A VirtualDestination and the Destinations that any form of it selects. */
const selectedBy: Matching<VirtualDestination, Destination> = {
  find(virtualDestination, table) {
    const lists = formsOf(virtualDestination).flatMap(({ selectors }) => (selectors.length === 0 ? [] : [selectors]));
    const found = new Map(lists.flatMap((list) => [...selectedDestinations(list, table)]).map((one) => [keyOfResource(one), one]));
    return [...found.keys()].sort().flatMap((key) => found.get(key) ?? []);
  },
  findBack: (destination, table) => selectingCandidates({ where: (key) => table.where(bySelectedTargets, key) }, destination),
  isSameAsking: (before, after) => before === after,
  isSameFound: (before, after) => before === after,
  indexes: [],
  backIndexes: [bySelectedTargets],
};

const selected = join({ from: virtualDestinations, to: destinations, matching: selectedBy });
const subsetPolicies = join({ from: virtualDestinations, to: checkedPolicies, index: bySubsetVirtualDestination });
const virtualMesh = join({ from: virtualDestinations, key: byVirtualMesh, to: virtualMeshes });
const isSameMesh = (before: AttachedMesh, after: AttachedMesh) => isSameRecord(joinedMesh(before), joinedMesh(after));

/** The inputs of each VirtualDestination. */
export const virtualDestinationInputs = derived({
  from: virtualDestinations,
  context: ({ translationContext }) => translationContext,
  joins: {
    selected,
    virtualMesh,
    members: join({ from: virtualMesh.source, key: byMember, to: attachedMeshes, isSame: isSameMesh }),
    listed: join({ from: virtualDestinations, key: byListedMesh, to: attachedMeshes, isSame: isSameMesh }),
    homes: join({ from: selected.source, key: byMesh, to: attachedMeshes, isSame: isSameMesh }),
    workloads: join({ from: selected.source, key: bySelector, to: inputKind<AttachedSources, Workload>(Workload), index: byPodLabel }),
    offline: join({ from: selected.source, key: destinationsByCluster, to: offlineClusters }),
    hosts: join({ from: virtualDestinations, key: byHost, to: hosts }),
    traffic: join({ from: virtualDestinations, key: selectedUnder, to: checkedPolicies, index: byVirtualTarget }),
    subsetPolicies,
    supports: join({
      from: subsetPolicies.source,
      key: bySubsetUsage,
      to: supports,
      isSame: (before, after) => before.inForce > 0 === after.inForce > 0,
    }),
    ofSameHost: join({ from: virtualDestinations, key: byServiceOfHost, to: destinations, index: byServiceName }),
    services: join({
      from: virtualDestinations,
      key: byServiceOfHost,
      to: inputKind<AttachedSources, Service>(Service),
      index: byOwnName,
      // Only that it exists counts.
      isSame: () => true,
    }),
    displacedIp: join({ from: virtualDestinations, key: byAddress, to: displacedIps }),
    userEntries: join({
      from: virtualDestinations,
      key: byHost,
      to: inputKind<AttachedSources, ServiceEntry>(ServiceEntry),
      index: byUsersHost,
    }),
  },
  make: (virtualDestination, { key, lookup, context: translationContext, before }): VirtualDestinationInputs => {
    const owners = new Map(lookup("hosts").map(({ key, value }) => [key, value]));
    const rows = [...lookup("listed"), ...lookup("members"), ...lookup("homes")];
    const meshes = new Map(rows.sort((a, b) => compareKeys(a.key, b.key)).map((row) => [row.key, joinedMesh(row)]));
    const inForce = new Set(lookup("virtualMesh").map(({ key }) => key));
    const resolutions = formsOf(virtualDestination).map((form) =>
      resolvedForm(form, {
        virtualDestination,
        ownerOf: (host) => owners.get(host),
        selected: lookup("selected"),
        meshes,
        hasVirtualMesh: (key) => inForce.has(key),
        ofSameHost: lookup("ofSameHost"),
        services: lookup("services"),
        rules: translationContext,
        limit: policyScopeFrom(translationContext).limitOf(virtualDestination),
      }),
    );
    const chosen = chosenOf(resolutions);
    const { targets = NONE, exports = NONE } = chosen ?? {};
    const host = chosen?.form.spec.hostname;
    const homes = [...new Set(targets.flatMap(byMesh))].sort().flatMap((key) => meshes.get(key) ?? []);
    const candidates = lookup("traffic");
    const policies = policiesOn(virtualDestination, candidates, translationContext);
    const judged = evaluatedPolicies(policies, { candidates, virtualDestination, spec: chosen?.form.spec, exports, translationContext });
    const [ref = refOf(virtualDestination)] = addressedRefs(virtualDestination);
    return {
      virtualDestination,
      spec: chosen?.form.spec,
      targets,
      exports,
      homes,
      workloads: exactly([...new Set(lookup("workloads"))]),
      virtualIp: reuseIfEqual(virtualIpOf(ref, lookup("displacedIp")[0]?.value), before?.virtualIp),
      userEntries: lookup("userEntries").filter(({ spec }) => host !== undefined && spec?.hosts?.includes(host) === true),
      offlineClusters: [...new Set(lookup("offline").map(({ key }) => key))].sort(),
      trafficPolicies: judged.trafficPolicies,
      subsetPolicies: policiesWithSubsets(
        {
          subsetPolicies: lookup("subsetPolicies"),
          supports: lookup("supports"),
          isUser: (form) => subsetVirtualDestinations(form).includes(key),
        },
        translationContext.ages,
      ),
      reports: reuseIfEqual([...reportsOf(virtualDestination, resolutions, chosen), ...judged.reports], before?.reports),
      translationContext,
    };
  },
});

/**
 * What is in force: the spec, or where that has errors the last accepted one, where that has none now; else what is left of the spec
 * without what it names wrongly, or of the last accepted one.
 */
function chosenOf(resolutions: readonly Resolution[]): Resolution | undefined {
  const usable = resolutions.filter(isUsable);
  return usable.find(({ findings }) => findings.every(({ state }) => state !== "INVALID")) ?? usable[0];
}

function reportsOf(
  virtualDestination: VirtualDestination,
  resolutions: readonly Resolution[],
  chosen: Resolution | undefined,
): readonly Report[] {
  const subject = refOf(virtualDestination);
  const [current, last] = resolutions;
  if (current === undefined) return [reportOf(subject, notTranslated(subject))];
  const kept = chosen !== undefined && chosen === last ? [lastAcceptedKept(virtualDestination.status?.lastAccepted)] : [];
  return [...current.findings, ...kept].map((finding) => reportOf(subject, finding));
}

/** Of one in a workload cluster: a host for several clusters is given by the one who runs all of them. */
function notTranslated({ clusterName }: ResourceRef): Finding {
  return warningFinding(
    "VirtualDestinationNotWritten",
    `spec: no effect, because a VirtualDestination in a workload cluster, here ${clusterName}, is only read where a traffic shift of its cluster names it, ` +
      "for spec.hostname and spec.port.number: define the host with a ServiceEntry of Istio, or create it in the management cluster",
  );
}

const NAMELESS = { name: "", namespace: "", clusterName: "" };

const joinedMesh = memoizeRow(({ view, mesh, gateways }: AttachedMesh): JoinedMesh => {
  const { ref, spec } = mesh.status?.appliedVirtualMesh ?? {};
  return {
    mesh: view,
    gateways,
    hostnameSuffix: spec?.federation?.hostnameSuffix || DEFAULT_HOSTNAME_SUFFIX,
    agentNamespace: mesh.spec?.agentInfo?.agentNamespace || undefined,
    virtualMesh: ref && keyOf({ ...NAMELESS, ...ref }),
  };
});

/** VirtualDestinations by the VirtualMesh that they name. */
function byVirtualMesh(virtualDestination: VirtualDestination): readonly string[] {
  const specs = formsOf(virtualDestination).map(({ spec }) => spec);
  const keys: readonly string[] = specs.flatMap(({ virtualMesh: ref, meshList }) =>
    ref === undefined || meshList !== undefined ? [] : meshKey(ref),
  );
  return [...new Set(keys)];
}

/** VirtualDestinations by the meshes that they list. */
function byListedMesh(virtualDestination: VirtualDestination): readonly string[] {
  return [...new Set(formsOf(virtualDestination).flatMap(({ spec }) => (spec.meshList?.meshes ?? []).map(meshKey)))];
}

function byMember({ value }: MapEntry<VirtualMesh>): readonly string[] {
  return meshKeysOf(value);
}

function byHost(virtualDestination: VirtualDestination): readonly string[] {
  return [...new Set(formsOf(virtualDestination).map(({ spec }) => spec.hostname ?? ""))];
}

/** VirtualDestinations by the Service, as `name.namespace`, that their host would be of: local and federated hosts begin with both. */
function byServiceOfHost(virtualDestination: VirtualDestination): readonly string[] {
  return [...new Set(byHost(virtualDestination).map((host) => host.split(".", 2).join(".")))];
}

function byOwnName({ metadata }: Service): readonly string[] {
  return [`${metadata.name}.${metadata.namespace ?? ""}`];
}

function byAddress(virtualDestination: VirtualDestination): readonly string[] {
  return addressedRefs(virtualDestination).map(keyOf);
}

/** ServiceEntries of users by their hosts. */
function byUsersHost({ metadata, spec }: ServiceEntry): readonly string[] {
  return metadata.labels?.[NETWORKING_OWNER_LABEL] === undefined ? (spec?.hosts ?? NONE) : NONE;
}

function entryKey({ key }: MapEntry<unknown>): string {
  return key;
}

const NONE: readonly never[] = [];
