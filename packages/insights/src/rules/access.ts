import { AccessPolicy, AuthorizationPolicy, Destination, Mesh, Sidecar, VirtualMesh, Workload } from "@isthmus/api";
import { formatRef, type Index, keyOf, matchesLabels, nearestName, refOf } from "@isthmus/core";
import { defineRule, lookUp, type RuleFinding } from "../rule.ts";
import { byPlace, placeKey } from "./places.ts";

const everywhere: Index<object> = () => [""];
const whereCallsNeedPolicies: Index<VirtualMesh> = ({ spec }) => (spec?.globalAccessPolicy === "ENABLED" ? [""] : []);

/** SEC1001. */
export const everybodyShutOut = defineRule({
  code: "SEC1001",
  of: VirtualMesh,
  reads: { policies: lookUp(AccessPolicy, { key: whereCallsNeedPolicies, index: everywhere }) },
  *find({ spec }, { lookup }) {
    if (spec?.globalAccessPolicy !== "ENABLED" || lookup("policies").length > 0) return;
    yield {
      field: "spec.globalAccessPolicy",
      message: "is ENABLED and there is no AccessPolicy: all calls are denied",
      remedy: "create an AccessPolicy, or set DISABLED",
    };
  },
});

const byWorkloadPlace: Index<Workload> = ({ spec }) => {
  const { namespace, clusterName } = spec?.kubernetes?.controller ?? {};
  return namespace === undefined ? [] : [`${namespace}/${clusterName ?? ""}`];
};
const byWorkloadCluster: Index<Workload> = ({ spec }) => {
  const { clusterName } = spec?.kubernetes?.controller ?? {};
  return clusterName === undefined ? [] : [clusterName];
};
const ownPlace: Index<AuthorizationPolicy> = (policy) => (policy.spec?.selector === undefined ? [] : [placeKey(policy)]);

/** SEC1004 of Istio objects of users. */
export const authorizationSelectsNothing = defineRule({
  code: "SEC1004",
  of: AuthorizationPolicy,
  reads: { workloads: lookUp(Workload, { key: ownPlace, index: byWorkloadPlace }) },
  *find(policy, { lookup }) {
    const { matchLabels = {} } = policy.spec?.selector ?? {};
    const workloads = lookup("workloads");
    // Where no workload of the namespace is known, none is missing: a gateway is no workload, for one.
    if (Object.keys(matchLabels).length === 0 || workloads.length === 0) return;
    if (workloads.some(({ spec }) => matchesLabels(matchLabels, spec?.kubernetes?.podLabels))) return;
    const labels = Object.entries(matchLabels).map(([key, value]) => `${key}: ${value}`);
    const values = workloads.flatMap(({ spec }) =>
      Object.entries(spec?.kubernetes?.podLabels ?? {}).map(([key, value]) => `${key}: ${value}`),
    );
    yield {
      field: "spec.selector.matchLabels",
      message: `no workload of namespace ${policy.metadata.namespace} has pods with ${labels.join(", ")}, so the policy applies to nothing`,
      remedy: "correct the labels",
      nearMiss: nearestName(labels[0] ?? "", values),
    };
  },
});

/** `cluster.local/ns/bookinfo/sa/reviews`: the trust domain may be anything. */
function accountOf(principal: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, ns, namespace = "", sa, name = ""] = principal.split("/");
  return ns === "ns" && sa === "sa" && !`${namespace}${name}`.includes("*") ? { namespace, name } : undefined;
}

interface Principal {
  readonly path: string;
  readonly namespace: string;
  readonly name: string;
}

function principalsOf({ spec }: AuthorizationPolicy): readonly Principal[] {
  return (spec?.rules ?? []).flatMap(({ from = [] }, i) =>
    from.flatMap(({ source }, j) =>
      (source?.principals ?? []).flatMap((principal, k) => {
        const account = accountOf(principal);
        return account === undefined ? [] : [{ path: `spec.rules[${i}].from[${j}].source.principals[${k}]`, ...account }];
      }),
    ),
  );
}

const byAnyNamespace: Index<Workload> = ({ spec }) => {
  const { namespace } = spec?.kubernetes?.controller ?? {};
  return namespace === undefined ? [] : [namespace];
};
const principalNamespaces: Index<AuthorizationPolicy> = (policy) => [...new Set(principalsOf(policy).map(({ namespace }) => namespace))];

/** SEC1005 of Istio objects of users. */
export const principalUnknown = defineRule({
  code: "SEC1005",
  of: AuthorizationPolicy,
  reads: { workloads: lookUp(Workload, { key: principalNamespaces, index: byAnyNamespace }) },
  find: (policy, { lookup }) =>
    principalsOf(policy).flatMap(({ path, namespace, name }): readonly RuleFinding[] => {
      const accounts = lookup("workloads")
        .filter(({ spec }) => spec?.kubernetes?.controller?.namespace === namespace)
        .map(({ spec }) => spec?.kubernetes?.serviceAccountName || "default");
      // A namespace without workloads is SEC1007, and may be unknown.
      if (accounts.length === 0 || accounts.includes(name)) return [];
      const message = `no workload runs as service account ${namespace}/${name}`;
      return [{ field: path, message, remedy: "correct the service account", nearMiss: nearestName(name, accounts) }];
    }),
});

function namespacesOf({ spec }: AuthorizationPolicy): readonly { readonly path: string; readonly namespace: string }[] {
  return (spec?.rules ?? []).flatMap(({ from = [] }, i) =>
    from.flatMap(({ source }, j) =>
      (source?.namespaces ?? []).flatMap((namespace, k) =>
        namespace.includes("*") ? [] : [{ path: `spec.rules[${i}].from[${j}].source.namespaces[${k}]`, namespace }],
      ),
    ),
  );
}

const namedNamespaces: Index<AuthorizationPolicy> = (policy) => [...new Set(namespacesOf(policy).map(({ namespace }) => namespace))];
const clusterOfNamed: Index<AuthorizationPolicy> = (policy) =>
  namespacesOf(policy).length === 0 ? [] : [policy.metadata.clusterName ?? ""];

/** SEC1007 of Istio objects of users. */
export const sourceNamespaceEmpty = defineRule({
  code: "SEC1007",
  of: AuthorizationPolicy,
  reads: {
    named: lookUp(Workload, { key: namedNamespaces, index: byAnyNamespace }),
    own: lookUp(Workload, { key: clusterOfNamed, index: byWorkloadCluster }),
  },
  find: (policy, { lookup }) => {
    const known = lookup("own").flatMap(({ spec }) => spec?.kubernetes?.controller?.namespace ?? []);
    if (known.length === 0) return [];
    const named = new Set(lookup("named").flatMap(({ spec }) => spec?.kubernetes?.controller?.namespace ?? []));
    return namespacesOf(policy).flatMap(({ path, namespace }): readonly RuleFinding[] => {
      if (named.has(namespace)) return [];
      const nearMiss = nearestName(namespace, new Set(known));
      return [{ field: path, message: `no workload in a mesh is in namespace ${namespace}`, remedy: "correct the namespace", nearMiss }];
    });
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
  },
  *find(mesh, { lookup }) {
    if (lookup("virtualMesh").some(({ spec }) => spec?.globalAccessPolicy === "ENABLED")) return;
    const own = mesh.spec?.istio?.installation?.namespace;
    const services = lookup("destinations").filter(
      ({ spec }) => spec?.kubeService !== undefined && spec.kubeService.ref?.namespace !== own,
    );
    const open = services.filter(({ status }) => (status?.appliedAccessPolicies ?? []).length === 0);
    if (open.length === 0 || open.length === services.length) return;
    const names = open.slice(0, SHOWN).map(({ spec }) => `${spec?.kubeService?.ref?.namespace}/${spec?.kubeService?.ref?.name}`);
    yield {
      message: `${open.length} of ${services.length} services have no AccessPolicy, so all callers may call them: ${names.join(", ")}${open.length > SHOWN ? " and others" : ""}`,
      remedy: { text: "create AccessPolicies for them, or set spec.globalAccessPolicy of the VirtualMesh to ENABLED" },
    };
  },
});

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
