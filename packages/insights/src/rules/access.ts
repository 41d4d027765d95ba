import { AccessPolicy, AuthorizationPolicy, Destination, Mesh, Namespace, Sidecar, VirtualMesh, Workload } from "@isthmus/api";
import { formatRef, type Index, keyOf, matchesLabels, nearestName, refOf } from "@isthmus/core";
import { networkingOwner, selectsDestination } from "@isthmus/translators";
import { defineRule, ifKnown, lookUp, lookUpPart, type RuleFinding } from "../rule.ts";
import { accountsBy, byObjectCluster, byPlace, byWorkloadPlace, isGateway } from "./places.ts";

const everywhere: Index<object> = () => [""];
const whereSomeAreAllowed: Index<AuthorizationPolicy> = ({ spec, metadata }) =>
  (spec?.action ?? "ALLOW") === "ALLOW" && (spec?.rules ?? []).length > 0 && metadata.labels?.[OURS] === undefined ? [""] : [];
const OURS = networkingOwner("").label;
const whereCallsNeedPolicies: Index<VirtualMesh> = ({ spec }) => (spec?.globalAccessPolicy === "ENABLED" ? [""] : []);

/** SEC1001. */
export const everybodyShutOut = defineRule({
  code: "SEC1001",
  of: VirtualMesh,
  reads: {
    policies: lookUp(AccessPolicy, { key: whereCallsNeedPolicies, index: everywhere }),
    ofUsers: lookUp(AuthorizationPolicy, { key: whereCallsNeedPolicies, index: whereSomeAreAllowed }),
  },
  *find({ spec }, { lookup }) {
    if (spec?.globalAccessPolicy !== "ENABLED" || lookup("policies").length + lookup("ofUsers").length > 0) return;
    yield {
      field: "spec.globalAccessPolicy",
      message: "is ENABLED and there is no AccessPolicy: all calls are denied",
      remedy: "create an AccessPolicy, or set DISABLED",
    };
  },
});

const byItsMesh: Index<Destination> = ({ spec }) =>
  spec?.mesh === undefined ? [] : [keyOf({ name: spec.mesh.name ?? "", namespace: spec.mesh.namespace ?? "", clusterName: "" })];
const ownKey: Index<Mesh> = ({ metadata }) => [keyOf({ namespace: "", ...metadata, clusterName: "" })];
const itsVirtualMesh: Index<Mesh> = ({ status }) => {
  const ref = status?.appliedVirtualMesh?.ref;
  return ref === undefined ? [] : [keyOf({ name: ref.name ?? "", namespace: ref.namespace ?? "", clusterName: "" })];
};
const SHOWN = 5;

/** SEC1003. */
export const servicesUnguarded = defineRule({
  code: "SEC1003",
  of: Mesh,
  reads: {
    destinations: lookUp(Destination, { key: ownKey, index: byItsMesh }),
    virtualMesh: lookUp(VirtualMesh, { key: itsVirtualMesh }),
    // One that is refused is not applied, and closes what it selects.
    selections: lookUpPart(AccessPolicy, { key: everywhere, index: everywhere, select: ({ spec }) => spec?.destinationSelector }),
  },
  *find(mesh, { lookup }) {
    if (lookup("virtualMesh").some(({ spec }) => spec?.globalAccessPolicy === "ENABLED")) return;
    const own = mesh.spec?.istio?.installation?.namespace;
    const services = lookup("destinations").filter(
      ({ spec: { kubeService } = {} }) =>
        kubeService !== undefined && kubeService.ref?.namespace !== own && !isGateway(kubeService.workloadSelectorLabels),
    );
    const isSelected = selectedBy(lookup("selections"));
    const isGuarded = (service: Destination) => (service.status?.appliedAccessPolicies ?? []).length > 0 || isSelected(service);
    const closed = closedPods(services.filter(isGuarded));
    const open = services.filter((service) => !isGuarded(service) && !closed(service));
    if (open.length === 0 || open.length === services.length) return;
    const names = open.slice(0, SHOWN).map(({ spec }) => `${spec?.kubeService?.ref?.namespace}/${spec?.kubeService?.ref?.name}`);
    yield {
      message: `${open.length} of ${services.length} services have no AccessPolicy, so all callers may call them: ${names.join(", ")}${open.length > SHOWN ? " and others" : ""}`,
      remedy: { text: "create AccessPolicies for them, or set spec.globalAccessPolicy of the VirtualMesh to ENABLED" },
    };
  },
});

/** Whether rules about other services are about all pods of a service: Istio's rules are about pods. */
function closedPods(guarded: readonly Destination[]): (service: Destination) => boolean {
  const placeOf = ({ spec }: Destination) => `${spec?.kubeService?.ref?.clusterName}/${spec?.kubeService?.ref?.namespace}`;
  const selectors = new Map<string, Destination[]>();
  for (const service of guarded) {
    const there = selectors.get(placeOf(service));
    if (there === undefined) selectors.set(placeOf(service), [service]);
    else there.push(service);
  }
  return (service) =>
    (selectors.get(placeOf(service)) ?? []).some(({ spec }) => {
      const { workloadSelectorLabels = {} } = spec?.kubeService ?? {};
      const isSome = Object.keys(workloadSelectorLabels).length > 0;
      return isSome && matchesLabels(workloadSelectorLabels, service.spec?.kubeService?.workloadSelectorLabels);
    });
}

/** Most selections name services: only the others are tried one by one. */
function selectedBy(selections: readonly Selection[]): (service: Destination) => boolean {
  const named = new Set<string>();
  const others: Selection[] = [];
  for (const selection of selections) {
    const refs = (selection ?? []).map(({ kubeServiceRefs, ...rest }) =>
      kubeServiceRefs !== undefined && Object.keys(rest).length === 0 ? kubeServiceRefs.services : undefined,
    );
    if (refs.length === 0 || refs.includes(undefined)) others.push(selection);
    for (const { name = "", namespace = "", clusterName = "" } of refs.flatMap((services) => services ?? [])) {
      named.add(keyOf({ name, namespace, clusterName }));
    }
  }
  return (service) => {
    const { name = "", namespace = "", clusterName = "" } = service.spec?.kubeService?.ref ?? {};
    return named.has(keyOf({ name, namespace, clusterName })) || others.some((selection) => selectsDestination(selection, service));
  };
}

type Selection = NonNullable<AccessPolicy["spec"]>["destinationSelector"];

/** CFG1010. */
export const sidecarsCompete = defineRule({
  code: "CFG1010",
  of: Sidecar,
  reads: { others: lookUp(Sidecar, { key: byPlace, index: byPlace }) },
  *find(sidecar, { lookup }) {
    const selectorOf = ({ spec }: Sidecar) => JSON.stringify(Object.entries(spec?.workloadSelector?.labels ?? {}).sort());
    const other = lookup("others").find((one) => one.metadata.name < sidecar.metadata.name && selectorOf(one) === selectorOf(sidecar));
    if (other === undefined) return;
    const which = selectorOf(sidecar) === "[]" ? "has no selector either" : "has the same selector";
    yield {
      field: "spec.workloadSelector",
      message: `${formatRef(refOf(other))} ${which}: which one is used is not defined`,
      remedy: "keep one of them",
    };
  },
});

interface AccountRef {
  readonly path: string;
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

/** The service accounts that a policy names in full. */
function accountsNamed({ spec }: AccessPolicy): readonly AccountRef[] {
  return (spec?.sourceSelector ?? []).flatMap(({ kubeServiceAccountRefs }, i) =>
    (kubeServiceAccountRefs?.serviceAccounts ?? []).flatMap(({ name = "", namespace = "", clusterName = "" }, j) => {
      const path = `spec.sourceSelector[${i}].kubeServiceAccountRefs.serviceAccounts[${j}]`;
      return name === "" || namespace === "" || clusterName === "" ? [] : [{ path, name, namespace, clusterName }];
    }),
  );
}

const accountPlaces: Index<AccessPolicy> = (policy) => [
  ...new Set(accountsNamed(policy).map(({ namespace, clusterName }) => `${namespace}/${clusterName}`)),
];
const accountClusters: Index<AccessPolicy> = (policy) => [...new Set(accountsNamed(policy).map(({ clusterName }) => clusterName))];

/** Service accounts of a policy that no workload runs as and that look misspelt. */
function misspeltAccounts(
  policy: AccessPolicy,
  known: { readonly workloads: readonly Workload[]; readonly namespaces: readonly Namespace[] },
): readonly RuleFinding[] {
  const accounts = accountsBy(known.workloads, ({ namespace, clusterName }) => `${namespace}/${clusterName}`);
  const namespaces = new Map<string, Set<string>>();
  for (const { metadata } of known.namespaces) {
    const cluster = metadata.clusterName ?? "";
    namespaces.set(cluster, (namespaces.get(cluster) ?? new Set()).add(metadata.name));
  }
  return accountsNamed(policy).flatMap(({ path, name, namespace, clusterName }): readonly RuleFinding[] => {
    const ofPlace = accounts.get(`${namespace}/${clusterName}`);
    if (ofPlace?.has(name) === true) return [];
    // Jobs have accounts too, and no pods most of the time: only what looks like a mistake is reported.
    if (ofPlace === undefined) {
      const ofCluster = namespaces.get(clusterName) ?? new Set<string>();
      const nearMiss = ofCluster.has(namespace) ? undefined : nearestName(namespace, ofCluster);
      const message = `there is no namespace ${namespace} in ${clusterName}`;
      return nearMiss === undefined ? [] : [{ field: `${path}.namespace`, message, remedy: "correct the namespace", nearMiss }];
    }
    const nearMiss = nearestName(name, ofPlace);
    const message = `no workload runs as service account ${namespace}/${name} in ${clusterName}`;
    return nearMiss === undefined ? [] : [{ field: `${path}.name`, message, remedy: "correct the service account", nearMiss }];
  });
}

/** SEC1016. */
export const accountUnknown = defineRule({
  code: "SEC1016",
  of: AccessPolicy,
  reads: {
    workloads: lookUp(Workload, { key: accountPlaces, index: byWorkloadPlace }),
    namespaces: ifKnown(lookUp(Namespace, { key: accountClusters, index: byObjectCluster })),
  },
  find: (policy, { lookup }) => misspeltAccounts(policy, { workloads: lookup("workloads"), namespaces: lookup("namespaces") }),
});
