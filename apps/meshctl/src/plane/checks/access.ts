import { type AccessPolicy, type Destination, type Mesh, meshInstallationOf } from "@isthmus/api";
import { misspeltAccounts, type RuleFinding } from "@isthmus/insights";
import { portFamily } from "@isthmus/translators";
import { knownCallers, type UnknownName, unknownNamespaces } from "../../offline/checks/callers.ts";
import { groupsBy } from "../../offline/groupsBy.ts";
import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";
import { objectKey, refKey } from "./objectKeys.ts";
import type { PlaneState } from "./planeState.ts";

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
            message: `${subjectName(virtualMesh)}: spec.globalAccessPolicy is ENABLED and there is no AccessPolicy: all calls are denied`,
            remedy: "create an AccessPolicy, or set spec.globalAccessPolicy to DISABLED",
          })),
};

/** Where some services of a mesh are guarded, the others should be on purpose. */
export const servicesAreGuarded: Check = {
  category,
  description: "Where a mesh has services with an AccessPolicy, all have one",
  reads: ["meshes", "virtualMeshes", "destinations"],
  findings: ({ meshes, virtualMeshes, destinations }) => {
    // There nobody may call what has none.
    const closed = new Set(virtualMeshes.filter(({ spec }) => spec?.globalAccessPolicy === "ENABLED").map(objectKey));
    const services = groupsBy(destinations, ({ spec }) => refKey(spec?.mesh));
    return meshes
      .filter(({ status }) => !closed.has(refKey(status?.appliedVirtualMesh?.ref)))
      .flatMap((mesh) => unguarded(mesh, services.get(objectKey(mesh)) ?? []));
  },
};

function unguarded(mesh: Mesh, services: readonly Destination[]): readonly CheckFinding[] {
  const own = installationNamespace(mesh);
  const guardable = services.filter(({ spec }) => spec?.kubeService !== undefined && spec.kubeService.ref?.namespace !== own);
  const open = guardable.filter(({ status }) => (status?.appliedAccessPolicies ?? []).length === 0);
  if (open.length === 0 || open.length === guardable.length) return [];
  const names = open.slice(0, SHOWN).map(({ spec }) => `${spec?.kubeService?.ref?.namespace}/${spec?.kubeService?.ref?.name}`);
  const more = open.length > SHOWN ? " and others" : "";
  const message = `${subjectName(mesh)}: ${open.length} of ${guardable.length} services have no AccessPolicy, so all callers may call them: ${names.join(", ")}${more}`;
  const remedy = "create AccessPolicies for them, or set spec.globalAccessPolicy of the VirtualMesh to ENABLED";
  return [{ code: "SEC1003", severity: "warning", message, remedy }];
}

const SHOWN = 5;

/** Of its control plane and gateways. */
function installationNamespace(mesh: Mesh): string | undefined {
  return meshInstallationOf(mesh)?.namespace;
}

/** Whom policies allow. */
export const callersAreKnown: Check = {
  category,
  description: "The callers that AccessPolicies name exist",
  reads: ["accessPolicies", "workloads"],
  findings: ({ accessPolicies, workloads }) => {
    const callers = knownCallers(workloads);
    return accessPolicies.flatMap((policy) => [
      ...misspeltAccounts(policy, { workloads, namespaces: [] }).map((found) => misspelt(policy, found)),
      ...unknownNamespaces(policy, callers).map((name) => emptyNamespace(policy, name)),
    ]);
  },
};

/** As insights say it. */
function misspelt(policy: AccessPolicy, { field = "", message, nearMiss }: RuleFinding): CheckFinding {
  return {
    code: "SEC1016",
    severity: "warning",
    message: `${subjectName(policy)}: ${field}: ${message}`,
    remedy: `did you mean ${nearMiss}?`,
  };
}

function emptyNamespace(policy: AccessPolicy, { path, problem, remedy }: UnknownName): CheckFinding {
  return { code: "SEC1007", severity: "warning", message: `${subjectName(policy)}: ${path}: ${problem}`, remedy };
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
  return { code: "SEC1006", severity: "warning", message, remedy: "put both meshes into one VirtualMesh with spec.mtlsConfig" };
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
