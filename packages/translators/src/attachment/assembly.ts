import { Destination, Mesh, OsmMeshConfig, Secret, Service, VirtualDestination, type VirtualMesh, Workload } from "@isthmus/api";
import { type ClusterObjectRef, equalJson, keyOf, keyOfResource, matchesLabels, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import type { DestinationInputs, Gateway, MeshInputs, Surroundings, VirtualMeshInputs } from "../inputs.ts";
import { serviceOf } from "../networking/istio/routes/targets.ts";
import { assignVirtualIps, type VirtualIp } from "../networking/istio/virtualMesh/virtualIps.ts";
import type { TargetInputs } from "../networking/targets.ts";
import type { AttachedTarget, Attachment } from "./attachment.ts";
import { byMesh, byPodLabel, byService, podLabelKey } from "./indexes.ts";
import { meshKeysOf } from "./virtualMeshes.ts";

/** The previous inputs of a target, by the key of the target. */
export type PreviousInputs = (targetKey: string) => TargetInputs | undefined;

/** The inputs of every target, by `resourceKeyOf` the target: Destinations, then Meshes, then VirtualMeshes. */
export function* targetInputs(
  attachment: Attachment,
  surroundings: Surroundings,
  previous: PreviousInputs,
): Iterable<readonly [string, TargetInputs]> {
  const assembly = new Assembly(attachment, surroundings);
  for (const destination of attachment.snapshot.of(Destination)) {
    const key = resourceKeyOf(refOf(destination));
    const inputs = assembly.ofDestination(destination);
    if (inputs !== undefined) yield [key, steady(inputs, previous(key))];
  }
  for (const mesh of attachment.snapshot.of(Mesh)) {
    const key = resourceKeyOf(refOf(mesh));
    yield [key, steady(assembly.ofMesh(mesh), previous(key))];
  }
  for (const virtualMesh of attachment.membership.accepted) {
    yield [resourceKeyOf(refOf(virtualMesh)), assembly.ofVirtualMesh(virtualMesh)];
  }
}

class Assembly {
  readonly #snapshot: Snapshot;
  readonly #attachment: Attachment;
  readonly #surroundings: Surroundings;
  readonly #gateways = new Map<string, readonly Gateway[]>();
  readonly #virtualIps: ReadonlyMap<string, VirtualIp>;

  constructor(attachment: Attachment, surroundings: Surroundings) {
    this.#attachment = attachment;
    this.#snapshot = attachment.snapshot;
    this.#surroundings = surroundings;
    this.#virtualIps = virtualIpsOf(attachment);
  }

  ofDestination(destination: Destination): DestinationInputs | undefined {
    const mesh = destination.spec?.mesh === undefined ? undefined : this.#mesh(destination.spec.mesh);
    const target = this.#attachment.targets.get(keyOfResource(destination));
    if (mesh === undefined || target === undefined) return undefined;
    const { trafficPolicies, accessPolicies, federatedTo, userObjects } = target;
    const isFederated = destination.status?.appliedFederation !== undefined;
    return {
      destination,
      mesh,
      trafficPolicies,
      accessPolicies,
      virtualMesh: this.#virtualMeshOf(mesh),
      federatedTo,
      gateways: isFederated ? this.#gatewaysOf(mesh) : NONE,
      virtualIp: isFederated ? this.#virtualIps.get(serviceKey(destination)) : undefined,
      ...this.#referredBy(target, destination),
      workloads: this.#workloadsBehind(destination),
      osmMeshConfig: this.#osmMeshConfigOf(mesh),
      userObjects,
      surroundings: this.#surroundings,
    };
  }

  ofMesh(mesh: Mesh): MeshInputs {
    const virtualMesh = this.#virtualMeshOf(mesh);
    return {
      mesh,
      virtualMesh,
      meshes: virtualMesh === undefined ? NONE : this.#meshesOf(virtualMesh),
      gateways: virtualMesh === undefined ? NONE : this.#gatewaysOf(mesh),
      workloads: virtualMesh === undefined ? NONE : this.#snapshot.of(Workload).where(byMesh, keyOfResource(mesh)),
      rootSecret: virtualMesh === undefined ? undefined : this.#rootSecretOf(virtualMesh),
      surroundings: this.#surroundings,
    };
  }

  ofVirtualMesh(virtualMesh: VirtualMesh): VirtualMeshInputs {
    const meshes = this.#meshesOf(virtualMesh);
    return { virtualMesh, meshes, rootSecret: this.#rootSecretOf(virtualMesh), surroundings: this.#surroundings };
  }

  #mesh(ref: { readonly name: string; readonly namespace: string }): Mesh | undefined {
    return this.#snapshot.of(Mesh).get({ ...ref, clusterName: "" });
  }

  #virtualMeshOf(mesh: Mesh): VirtualMesh | undefined {
    return this.#attachment.membership.virtualMeshOf.get(keyOfResource(mesh));
  }

  #meshesOf(virtualMesh: VirtualMesh): readonly Mesh[] {
    const members = new Set(meshKeysOf(virtualMesh));
    return [...this.#snapshot.of(Mesh)].filter((mesh) => members.has(keyOfResource(mesh)));
  }

  #rootSecretOf({ metadata }: VirtualMesh): Secret | undefined {
    const name = `${metadata.name}.${metadata.namespace ?? ""}`;
    return this.#snapshot.of(Secret).get({ name, namespace: this.#surroundings.namespace, clusterName: "" });
  }

  #gatewaysOf(mesh: Mesh): readonly Gateway[] {
    const key = keyOfResource(mesh);
    const known = this.#gateways.get(key);
    if (known !== undefined) return known;
    const gateways = (mesh.status?.appliedEastWestIngressGateways ?? []).flatMap((applied): readonly Gateway[] => {
      const { destinationRef, externalAddresses = [], destinationPort = 0, containerPort = 0 } = applied;
      const destination = this.#snapshot.of(Destination).get({ name: "", namespace: "", ...destinationRef, clusterName: "" });
      return destination === undefined ? [] : [{ destination, externalAddresses, destinationPort, containerPort }];
    });
    this.#gateways.set(key, gateways);
    return gateways;
  }

  #osmMeshConfigOf({ spec }: Mesh): OsmMeshConfig | undefined {
    if (spec?.osm === undefined) return undefined;
    const { namespace = "", cluster = "" } = spec.osm.installation ?? {};
    // OSM knows its settings under this name alone.
    return this.#snapshot.of(OsmMeshConfig).get({ name: "osm-mesh-config", namespace, clusterName: cluster });
  }

  /** What the policies in force send traffic to, beside the Destination itself. */
  #referredBy({ trafficPolicies }: AttachedTarget, destination: Destination): Pick<DestinationInputs, "referred" | "virtualDestinations"> {
    const services = new Map<string, ClusterObjectRef>();
    const virtual = new Map<string, ClusterObjectRef>();
    for (const { spec } of trafficPolicies) {
      const { trafficShift, mirror } = spec?.policy ?? {};
      for (const { kubeService } of [...(trafficShift?.destinations ?? []), ...(mirror === undefined ? [] : [mirror])]) {
        if (kubeService !== undefined) services.set(keyOf(serviceOf(kubeService)), serviceOf(kubeService));
      }
      for (const { virtualDestination } of trafficShift?.destinations ?? []) {
        if (virtualDestination !== undefined) virtual.set(keyOf(serviceOf(virtualDestination)), serviceOf(virtualDestination));
      }
    }
    services.delete(serviceKey(destination));
    return {
      referred: inKeyOrder(services).flatMap((ref) => this.#snapshot.of(Destination).where(byService, keyOf(ref)).slice(-1)),
      virtualDestinations: inKeyOrder(virtual).flatMap((ref) => this.#snapshot.of(VirtualDestination).get(ref) ?? []),
    };
  }

  #workloadsBehind({ spec }: Destination): readonly Workload[] {
    const { ref, workloadSelectorLabels = {} } = spec?.kubeService ?? {};
    const [first, ...others] = Object.entries(workloadSelectorLabels);
    if (ref === undefined || first === undefined) return NONE;
    const candidates = this.#snapshot.of(Workload).where(byPodLabel, podLabelKey(ref, ...first));
    if (others.length === 0) return candidates;
    return candidates.filter((workload) => matchesLabels(workloadSelectorLabels, workload.spec?.kubernetes?.podLabels));
  }
}

// One list for all that have nothing, so that equal inputs are the same.
const NONE: readonly never[] = [];

/** An address for each Destination that is federated. The Service's age counts: a Destination that was just discovered has none. */
function virtualIpsOf({ snapshot }: Attachment): ReadonlyMap<string, VirtualIp> {
  const federated = [...snapshot.of(Destination)].filter(({ status }) => status?.appliedFederation !== undefined);
  return assignVirtualIps(
    federated.flatMap(({ metadata, spec }) => {
      const service = spec?.kubeService?.ref;
      if (service === undefined) return [];
      const creationTimestamp = snapshot.of(Service).get(service)?.metadata.creationTimestamp ?? metadata.creationTimestamp;
      return [{ service, ...(creationTimestamp === undefined ? {} : { creationTimestamp }) }];
    }),
  );
}

/** The inputs with what was made for this run taken from the previous one where it says the same. */
function steady<I extends DestinationInputs | MeshInputs>(inputs: I, previous: TargetInputs | undefined): I {
  if (previous === undefined || !("gateways" in previous)) return inputs;
  const gateways = equalJson(inputs.gateways, previous.gateways) ? previous.gateways : inputs.gateways;
  if (!("virtualIp" in inputs) || !("virtualIp" in previous)) return { ...inputs, gateways };
  return { ...inputs, gateways, virtualIp: equalJson(inputs.virtualIp, previous.virtualIp) ? previous.virtualIp : inputs.virtualIp };
}

function serviceKey({ spec }: Destination): string {
  return keyOf({ name: "", namespace: "", clusterName: "", ...spec?.kubeService?.ref });
}

function inKeyOrder(refs: ReadonlyMap<string, ClusterObjectRef>): readonly ClusterObjectRef[] {
  return refs.size < 2 ? [...refs.values()] : [...refs.keys()].sort().flatMap((key) => refs.get(key) ?? []);
}
