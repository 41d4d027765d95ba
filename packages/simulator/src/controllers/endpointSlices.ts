import { SERVICE_NAME_LABEL } from "@isthmus/api";
import { type AnyResource, equalJson, refOf } from "@isthmus/core";
import { byController, changedControllers, controlledBy, namespaceOf, type SimulatedController } from "./controller.ts";
import { stableSuffix } from "./podTemplates.ts";
import { type EndpointGroup, endpointGroups, endpointSources, type ServiceEndpoint, servicesToReconcile } from "./serviceEndpoints.ts";
import { SimulatedEndpointSlice, SimulatedService } from "./workloads.ts";

// Source: kubernetes.io/docs/concepts/services-networking/endpoint-slices: at most 100 endpoints each.
const SLICE_SIZE = 100;

/** Service → EndpointSlices with the addresses of its pods. */
export const endpointSliceController: SimulatedController = {
  name: "endpointSlices",
  reads: [...endpointSources, SimulatedEndpointSlice],
  *affected(change, snapshot) {
    yield* servicesToReconcile(change, snapshot);
    yield* changedControllers(change, "Service");
  },
  async reconcile(ref, { cluster, snapshot }, signal) {
    const service = snapshot.of(SimulatedService).get(ref);
    if (service === undefined || service.metadata.deletionTimestamp !== undefined) return;
    const groups = endpointGroups(service, snapshot);
    const wanted = new Map((groups === undefined ? [] : slicesOf(service, groups)).map((slice) => [slice.metadata.name, slice]));
    for (const slice of snapshot.of(SimulatedEndpointSlice).where(byController, service.metadata.uid ?? "")) {
      const next = wanted.get(slice.metadata.name);
      wanted.delete(slice.metadata.name);
      if (next === undefined) await cluster.delete(refOf(slice), {}, signal);
      else if (!isSame(slice, next)) await cluster.update({ ...next, metadata: { ...slice.metadata, ...next.metadata } }, signal);
    }
    for (const slice of wanted.values()) await cluster.create(slice, signal);
  },
};

function slicesOf(service: SimulatedService, groups: readonly EndpointGroup[]): readonly AnyResource[] {
  // A Service without pods has an empty slice.
  const parts = groups.length === 0 ? [{ ports: [], endpoints: [] }] : groups.flatMap(inParts);
  return parts.map(({ ports, endpoints }, i) => ({
    apiVersion: SimulatedEndpointSlice.apiVersion,
    kind: SimulatedEndpointSlice.kind,
    metadata: {
      name: `${service.metadata.name}-${stableSuffix(`${service.metadata.uid}/${i}`, 5)}`,
      ...namespaceOf(service),
      labels: {
        [SERVICE_NAME_LABEL]: service.metadata.name,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
      ownerReferences: [controlledBy(service)],
    },
    addressType: "IPv4",
    endpoints: endpoints.map(endpointOf),
    ports,
  }));
}

function inParts({ ports, endpoints }: EndpointGroup): readonly EndpointGroup[] {
  const count = Math.ceil(endpoints.length / SLICE_SIZE);
  return Array.from({ length: count }, (_, i) => ({ ports, endpoints: endpoints.slice(i * SLICE_SIZE, (i + 1) * SLICE_SIZE) }));
}

function endpointOf({ address, isReady, nodeName, zone, targetRef }: ServiceEndpoint): object {
  return {
    addresses: [address],
    conditions: { ready: isReady, serving: isReady, terminating: false },
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    targetRef,
  };
}

function isSame(slice: AnyResource, next: AnyResource): boolean {
  return (
    ["endpoints", "ports"].every((field) => equalJson(slice[field] ?? [], next[field])) &&
    equalJson(slice.metadata.labels, next.metadata.labels)
  );
}
