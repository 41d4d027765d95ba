import type { Destination, Service, VirtualDestination } from "@isthmus/api";
import { displayName, formatRef, keyOf, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../findings.ts";
import type { MeshWithGateways } from "../../meshes/inputs.ts";
import { joinableMeshes, translatorOf } from "../../meshes/meshTranslators.ts";
import { givenHostFindings, type HostRules } from "../../policy/hosts/givenHosts.ts";
import { isLocalName } from "../../policy/hosts/hostnames.ts";
import { portsOf, serviceOf } from "../../policy/hosts/serviceRefs.ts";
import { byMesh } from "../../policy/indexes.ts";
import { destinationLocation, isWithinLimit, meshCluster, type PolicyLimit } from "../../policy/policyScope.ts";
import { selectsDestination } from "../../policy/selectors.ts";
import { isStatic } from "../../policy/virtualDestinations/virtualDestinationFindings.ts";
import { isFederatedTo, servicePortOf } from "../../policy/virtualDestinations/virtualDestinationTargets.ts";
import { meshKey } from "../federation/virtualMeshes.ts";
import { isSound, type VirtualDestinationForm } from "./forms.ts";
import { regionFindings } from "./regions.ts";

/** What a VirtualDestination is resolved with. */
export interface ResolutionSources {
  readonly virtualDestination: VirtualDestination;
  /** Who has a host, in words. */
  readonly ownerOf: (host: string) => string | undefined;
  /** Destinations that some form of it selects, in key order. */
  readonly selected: readonly Destination[];
  /** Meshes that it may be exported to, and those of the Destinations, by key. */
  readonly meshes: ReadonlyMap<string, JoinedMesh>;
  /** The key of the VirtualMesh that its spec names, where that is in force. */
  readonly hasVirtualMesh: (key: string) => boolean;
  /** Destinations whose own or federated host may be one of its hosts. */
  readonly ofSameHost: readonly Destination[];
  /** Services that one of its hosts, of two parts, may be of: also those that are no Destination. */
  readonly services: readonly Service[];
  readonly rules: HostRules;
  readonly limit: PolicyLimit;
}

/** A mesh with the VirtualMesh that it is in. */
export interface JoinedMesh extends MeshWithGateways {
  /** Its key. */
  readonly virtualMesh: string | undefined;
}

/** One form of a VirtualDestination, with what it names. */
export interface Resolution {
  readonly form: VirtualDestinationForm;
  readonly targets: readonly Destination[];
  readonly exports: readonly JoinedMesh[];
  readonly findings: readonly Finding[];
}

/** What one form of a VirtualDestination stands for. What it names wrongly is left out, and found. */
export function resolvedForm(form: VirtualDestinationForm, sources: ResolutionSources): Resolution {
  const exported = exportsOf(form, sources);
  const chosen = targetsOf(form, sources);
  const withPort = chosen.targets.filter((target) => servicePortOf(form.spec, target) !== undefined);
  const findings = [
    ...form.findings,
    ...hostFindings(form, sources),
    ...exported.findings,
    ...chosen.findings,
    ...chosen.targets.flatMap((target) => portFindings(form, target)),
    ...withPort.flatMap((target) => federationFindings(target, exported.meshes)),
    ...regionFindings(form.spec, exported.meshes, withPort),
  ];
  return { form, targets: withPort, exports: exported.meshes, findings };
}

/** Whether something can be written because of it. */
export function isUsable({ form, targets, exports, findings }: Resolution): boolean {
  return isSound(form) && findings.every(({ code }) => !HOST_REFUSALS.has(code)) && targets.length > 0 && exports.length > 0;
}

const HOST_REFUSALS: ReadonlySet<string> = new Set(["HostTaken", "HostOutOfReach"]);

function hostFindings(
  { spec, findings }: VirtualDestinationForm,
  { virtualDestination, ownerOf, ofSameHost, services, rules }: ResolutionSources,
): readonly Finding[] {
  const { hostname = "" } = spec;
  if (findings.some(({ code }) => code === "HostnameInvalid")) return [];
  const refused = givenHostFindings("spec.hostname", hostname, virtualDestination, rules);
  // Before all else: a user who may not give a host does not learn who has it.
  if (refused.some(({ code }) => code === "HostOutOfReach")) return refused;
  const owner = ownerOf(hostname);
  if (owner !== undefined && owner !== formatRef(refOf(virtualDestination))) {
    const message = `spec.hostname: ${hostname} is already the host of ${owner}: choose another`;
    return [invalidFinding("HostTaken", message)];
  }
  const federated = ofSameHost.find(({ status }) => status?.appliedFederation?.federatedHostname === hostname);
  if (federated !== undefined) {
    const message = `spec.hostname: ${hostname} is the federated host name of service ${nameOf(federated)}: choose another`;
    return [invalidFinding("HostTaken", message)];
  }
  const local = ofSameHost.find(({ spec: { kubeService } = {} }) =>
    isLocalName(hostname, serviceOf(kubeService?.ref ?? {}), rules.clusterDomains),
  );
  const called =
    local?.spec?.kubeService?.ref ?? services.find(({ metadata }) => hostname === `${metadata.name}.${metadata.namespace}`)?.metadata;
  if (called === undefined) return refused;
  const message = `spec.hostname: ${hostname} is how pods call service ${displayName(serviceOf(called))}, whose traffic this would take over: choose another`;
  return [invalidFinding("HostTaken", message)];
}

interface Exported {
  readonly meshes: readonly JoinedMesh[];
  readonly findings: readonly Finding[];
}

function exportsOf({ spec }: VirtualDestinationForm, sources: ResolutionSources): Exported {
  const { virtualMesh: ref, meshList } = spec;
  if (meshList !== undefined) return listedMeshes(meshList.meshes ?? [], sources);
  const { name = "", namespace = "" } = ref ?? {};
  if (name === "" || namespace === "") return { meshes: [], findings: [] };
  const virtualMesh = keyOf({ name, namespace, clusterName: "" });
  if (!sources.hasVirtualMesh(virtualMesh)) {
    const message = `spec.virtualMesh: VirtualMesh ${displayName({ name, namespace, clusterName: "" })} not found, or not in force: check the name, and its status`;
    return { meshes: [], findings: [invalidFinding("VirtualMeshUnknown", message)] };
  }
  return { meshes: [...sources.meshes.values()].filter((mesh) => mesh.virtualMesh === virtualMesh), findings: [] };
}

function listedMeshes(refs: readonly { readonly name?: string; readonly namespace?: string }[], { meshes }: ResolutionSources): Exported {
  const found = new Map<string, JoinedMesh>();
  const findings: Finding[] = [];
  const first = refs.flatMap((ref) => meshes.get(meshKey(ref))?.virtualMesh ?? [])[0];
  refs.forEach((ref, i) => {
    const { name = "", namespace = "" } = ref;
    if (name === "" || namespace === "") return;
    const [key, path] = [meshKey(ref), `spec.meshList.meshes[${i}]: Mesh ${displayName({ name, namespace, clusterName: "" })}`];
    const mesh = meshes.get(key);
    if (mesh === undefined) {
      findings.push(invalidFinding("MeshUnknown", `${path} not found: check the name, and that its cluster is registered`));
    } else if (first === undefined || mesh.virtualMesh !== first) {
      const where = first === undefined ? "is in no VirtualMesh in force" : "is not in the VirtualMesh of the others";
      findings.push(
        invalidFinding(
          "ExportOutsideVirtualMesh",
          `${path} ${where}, so it shares no trust with the destinations: add it there, or remove it here`,
        ),
      );
    } else found.set(key, mesh);
  });
  return { meshes: [...found.keys()].sort().flatMap((key) => found.get(key) ?? []), findings };
}

interface Chosen {
  readonly targets: readonly Destination[];
  readonly findings: readonly Finding[];
}

function targetsOf({ spec, selectors }: VirtualDestinationForm, { selected, meshes, limit }: ResolutionSources): Chosen {
  // Without entries a list of selectors would select everything.
  if (selectors.length === 0) return { targets: [], findings: [] };
  const matching = selected.filter((one) => isInMesh(one, meshes) && selectsDestination(selectors, one));
  const within = matching.filter((one) => isWithinLimit(limit, destinationLocation(one)));
  if (isStatic(spec)) return inOrder(spec.static?.destinations ?? [], within);
  if (within.length > 0) return { targets: within, findings: [] };
  const path = "spec.localized.destinationSelectors";
  const message = `${path}: select no Service in ${joinableMeshes} that this VirtualDestination may target: check labels, namespaces and clusters`;
  return { targets: [], findings: [invalidFinding("NothingSelected", message)] };
}

/** Only in meshes that can be joined a host can stand for Services of several. */
function isInMesh(destination: Destination, meshes: ResolutionSources["meshes"]): boolean {
  return byMesh(destination).some((key) => {
    const home = meshes.get(key);
    return home !== undefined && translatorOf(home.mesh)?.federation !== undefined;
  });
}

type StaticDestinations = NonNullable<NonNullable<VirtualDestinationForm["spec"]["static"]>["destinations"]>;

function inOrder(order: StaticDestinations, known: readonly Destination[]): Chosen {
  const byKey = new Map(known.map((one) => [keyOf(serviceOf(one.spec?.kubeService?.ref ?? {})), one]));
  const targets = new Set<Destination>();
  const findings: Finding[] = [];
  order.forEach(({ kubeService = {} }, i) => {
    const service = serviceOf(kubeService);
    const target = byKey.get(keyOf(service));
    if (target !== undefined) targets.add(target);
    else if (service.name !== "" && service.namespace !== "" && service.clusterName !== "") {
      const message = `spec.static.destinations[${i}].kubeService: Destination for service ${displayName(service)} not found: check the name, that its cluster is registered, and that its pods are in ${joinableMeshes}`;
      findings.push(invalidFinding("DestinationUnknown", message));
    }
  });
  return { targets: [...targets], findings };
}

function portFindings({ spec }: VirtualDestinationForm, target: Destination): readonly Finding[] {
  if (servicePortOf(spec, target) !== undefined) return [];
  const { number = 0, targetName, targetNumber } = spec.port ?? {};
  // Said already.
  if (number === 0 && targetName === undefined && targetNumber === undefined) return [];
  const field = targetName !== undefined ? "targetName" : targetNumber ? "targetNumber" : "number";
  const ports = portsOf(target).map((one) => (targetName === undefined ? one.port : one.name));
  const message = `spec.port.${field}: service ${nameOf(target)} has no port ${targetName ?? (targetNumber || number)}, only ${ports.join(", ") || "none"}, so it gets no traffic of this host: name a port that all its Services have`;
  return [invalidFinding("PortUnknown", message)];
}

/** Of a Destination that other clusters could only reach by its federated host, and that has none. */
function federationFindings(target: Destination, exports: readonly MeshWithGateways[]): readonly Finding[] {
  const { clusterName } = destinationLocation(target);
  const calling = exports.filter(({ mesh }) => meshCluster(mesh) !== clusterName);
  if (calling.length === 0) return [];
  const missed = calling.filter((one) => !isFederatedTo(target, one.mesh));
  if (missed.length === 0) return [];
  const remedy = "select it in the federation of their VirtualMesh, and check the status of that";
  if (target.status?.appliedFederation === undefined) {
    const message = `spec: service ${nameOf(target)} is federated to no mesh, so other clusters cannot reach it by this host: ${remedy}`;
    return [invalidFinding("NotFederated", message)];
  }
  const clusters = [...new Set(missed.map(({ mesh }) => meshCluster(mesh)))].join(", ");
  return [
    warningFinding(
      "NotFederated",
      `spec: service ${nameOf(target)} is not federated to ${clusters}, which cannot reach it by this host: ${remedy}`,
    ),
  ];
}

function nameOf({ spec }: Destination): string {
  return displayName(serviceOf(spec?.kubeService?.ref ?? {}));
}
