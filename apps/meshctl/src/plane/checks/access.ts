import { type AccessPolicy, type Destination, type Mesh, meshInstallationOf } from "@isthmus/api";
import { portFamily } from "@isthmus/translators";
import { knownCallers, type UnknownName, unknownNamespaces } from "../../offline/checks/callers.ts";
import { groupsBy } from "../../offline/groupsBy.ts";
import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";
import { INSIGHT_GROUPS } from "./insightGroups.ts";
import { objectKey, refKey } from "./objectKeys.ts";
import type { PlaneState } from "./planeState.ts";
import { insightCheck, insightsWith } from "./readInsights.ts";

const category = CATEGORIES.access;

/** Whether anybody may call at all. */
export const accessIsPossible: Check = {
  category,
  description: "Where calls require an AccessPolicy, there are some",
  reads: ["virtualMeshes", "accessPolicies"],
  findings: ({ virtualMeshes, accessPolicies }) =>
    accessPolicies.length > 0
      ? []
      : virtualMeshes
          .filter(({ spec }) => spec?.globalAccessPolicy === "ENABLED")
          .map((virtualMesh) => ({
            code: "SEC1001",
            severity: "error",
            message: `${subjectName(virtualMesh)}: spec.globalAccessPolicy: is ENABLED and there is no AccessPolicy: all calls are denied that AuthorizationPolicies of users do not allow`,
            remedy: "create an AccessPolicy, or set DISABLED",
          })),
};

/** Where some services of a mesh are guarded, the others should be on purpose. */
export const servicesAreGuarded: Check = insightCheck({
  category,
  description: "Where a mesh has services with an AccessPolicy, all have one",
  reads: ["meshes", "virtualMeshes", "destinations", "accessPolicies"],
  codes: INSIGHT_GROUPS.guarded,
});

/** Whom policies allow. */
export const callersAreKnown: Check = {
  category,
  description: "The callers that AccessPolicies name exist",
  codes: INSIGHT_GROUPS.callers,
  reads: ["accessPolicies", "workloads"],
  findings: (state) => {
    const callers = knownCallers(state.workloads);
    return [
      ...insightsWith(state, INSIGHT_GROUPS.callers),
      ...state.accessPolicies.flatMap((policy) => unknownNamespaces(policy, callers).map((name) => emptyNamespace(policy, name))),
    ];
  },
};

function emptyNamespace(policy: AccessPolicy, { path, problem, remedy }: UnknownName): CheckFinding {
  return { code: "SEC1107", severity: "warning", message: `${subjectName(policy)}: ${path}: ${problem}`, remedy };
}

/** Identities hold in meshes that trust each other. */
export const callersAreTrusted: Check = {
  category,
  description: "Callers of other clusters that AccessPolicies name are in meshes that the destinations trust",
  reads: ["meshes", "destinations", "accessPolicies"],
  findings: (state) => {
    const virtualMeshesOf = virtualMeshesByCluster(state.meshes);
    const guarded = destinationsByPolicy(state.destinations);
    const meshes = new Map(state.meshes.map((mesh) => [objectKey(mesh), mesh]));
    return state.accessPolicies.flatMap((policy) => {
      const destinations = guarded.get(objectKey(policy)) ?? [];
      return [...clustersNamed(policy)].flatMap((cluster) => {
        const trusted = virtualMeshesOf.get(cluster);
        // Without a mesh nothing is known of it.
        if (trusted === undefined) return [];
        const apart = destinations.find(({ spec }) => {
          const virtualMesh = refKey(meshes.get(refKey(spec?.mesh))?.status?.appliedVirtualMesh?.ref);
          return spec?.kubeService?.ref?.clusterName !== cluster && !(virtualMesh !== NONE && trusted.has(virtualMesh));
        });
        return apart === undefined ? [] : [untrusted(policy, cluster, apart)];
      });
    });
  },
};

const NONE = refKey();

function untrusted(policy: AccessPolicy, cluster: string, { spec }: Destination): CheckFinding {
  const { name, namespace, clusterName } = spec?.kubeService?.ref ?? {};
  const message = `${subjectName(policy)}: allows callers of cluster ${cluster} for service ${namespace}/${name} in ${clusterName}, and no VirtualMesh has the meshes of both: unless they have one root all the same, such calls fail`;
  return { code: "SEC1106", severity: "warning", message, remedy: "put both meshes into one VirtualMesh with spec.mtlsConfig" };
}

/** The VirtualMeshes of the meshes in each cluster. */
function virtualMeshesByCluster(meshes: readonly Mesh[]): ReadonlyMap<string, ReadonlySet<string>> {
  const clusters = new Map<string, Set<string>>();
  for (const mesh of meshes) {
    const { cluster } = meshInstallationOf(mesh) ?? {};
    if (cluster === undefined) continue;
    clusters.set(cluster, (clusters.get(cluster) ?? new Set()).add(refKey(mesh.status?.appliedVirtualMesh?.ref)));
  }
  return clusters;
}

function destinationsByPolicy(destinations: readonly Destination[]): ReadonlyMap<string, readonly Destination[]> {
  const guarded = destinations.flatMap((destination) =>
    (destination.status?.appliedAccessPolicies ?? []).map(({ ref }) => ({ policy: refKey(ref), destination })),
  );
  const groups = [...groupsBy(guarded, ({ policy }) => policy)];
  return new Map(groups.map(([policy, group]) => [policy, group.map(({ destination }) => destination)]));
}

function clustersNamed({ spec }: AccessPolicy): ReadonlySet<string> {
  const named = (spec?.sourceSelector ?? []).flatMap(({ kubeIdentityMatcher, kubeServiceAccountRefs }) => [
    ...(kubeIdentityMatcher?.clusters ?? []),
    ...(kubeServiceAccountRefs?.serviceAccounts ?? []).map(({ clusterName = "" }) => clusterName),
  ]);
  return new Set(named.filter((cluster) => cluster !== ""));
}

/** Paths and methods are of HTTP. */
export const restrictionsAreOfHttp: Check = {
  category,
  description: "AccessPolicies restrict paths and methods of HTTP ports only",
  reads: ["destinations", "accessPolicies"],
  findings: ({ destinations, accessPolicies }: PlaneState) => {
    const guarded = destinationsByPolicy(destinations);
    return accessPolicies
      .filter(({ spec }) => (spec?.allowedPaths ?? []).length > 0 || (spec?.allowedMethods ?? []).length > 0)
      .flatMap((policy) => (guarded.get(objectKey(policy)) ?? []).flatMap((destination) => notHttp(policy, destination)));
  },
};

function notHttp(policy: AccessPolicy, { spec }: Destination): readonly CheckFinding[] {
  const { ref, ports = [] } = spec?.kubeService ?? {};
  const allowed = policy.spec?.allowedPorts ?? [];
  const wrong = ports.filter(
    (its) =>
      (allowed.length === 0 || allowed.includes(its.targetPortNumber ?? its.port ?? 0)) && ["TCP", "TLS"].includes(portFamily(its) ?? ""),
  );
  if (wrong.length === 0) return [];
  const names = wrong.map(({ port, name, appProtocol }) => `${port} (${appProtocol || name})`).join(", ");
  const message = `${subjectName(policy)}: restricts paths or methods, and port ${names} of service ${ref?.namespace}/${ref?.name} in ${ref?.clusterName} is not HTTP: calls to it are denied`;
  const remedy = "leave out allowedPaths and allowedMethods for it, or name the port http-… if it is HTTP";
  return [{ code: "SEC1010", severity: "warning", message, remedy }];
}
