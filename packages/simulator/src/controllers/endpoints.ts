import { type AnyResource, equalJson, refOf } from "@isthmus/core";
import { namespaceOf, type SimulatedController } from "./controller.ts";
import { type EndpointGroup, endpointGroups, endpointSources, type ServiceEndpoint, servicesToReconcile } from "./serviceEndpoints.ts";
import { SimulatedEndpoints, SimulatedService } from "./workloads.ts";

/** Service → Endpoints: what EndpointSlices superseded, and some still read. */
export const endpointsController: SimulatedController = {
  name: "endpoints",
  reads: [...endpointSources, SimulatedEndpoints],
  *affected(change, snapshot) {
    yield* servicesToReconcile(change, snapshot);
    const resource = change.after ?? change.before;
    if (resource?.kind === "Endpoints") yield { ...refOf(resource), apiVersion: SimulatedService.apiVersion, kind: SimulatedService.kind };
  },
  async reconcile(ref, { cluster, snapshot }, signal) {
    const service = snapshot.of(SimulatedService).get(ref);
    const current = snapshot.of(SimulatedEndpoints).get(ref);
    if (service === undefined) {
      // They have no owner reference: the Service's own controller removes them.
      if (current?.metadata.labels?.[MANAGED_BY] === MANAGER) await cluster.delete(refOf(current), {}, signal);
      return;
    }
    const groups = endpointGroups(service, snapshot);
    if (groups === undefined) return;
    const wanted = endpointsOf(service, groups);
    if (current === undefined) await cluster.create(wanted, signal);
    else if (!equalJson(current["subsets"] ?? [], wanted["subsets"])) {
      await cluster.update({ ...wanted, metadata: { ...current.metadata, labels: wanted.metadata.labels ?? {} } }, signal);
    }
  },
};

// Source: kubernetes.io/docs/reference/labels-annotations-taints: endpoints.kubernetes.io/managed-by, Kubernetes ≥ 1.33.
const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const MANAGER = "endpoint-controller";

function endpointsOf(service: SimulatedService, groups: readonly EndpointGroup[]): AnyResource {
  return {
    apiVersion: SimulatedEndpoints.apiVersion,
    kind: SimulatedEndpoints.kind,
    metadata: { name: service.metadata.name, ...namespaceOf(service), labels: { ...service.metadata.labels, [MANAGED_BY]: MANAGER } },
    subsets: groups.map(({ ports, endpoints }) => ({
      ...addresses("addresses", endpoints, true),
      ...addresses("notReadyAddresses", endpoints, false),
      ...(ports.length === 0 ? {} : { ports: ports.map(({ name, ...port }) => (name === "" ? port : { name, ...port })) }),
    })),
  };
}

function addresses(field: string, endpoints: readonly ServiceEndpoint[], isReady: boolean): Readonly<Record<string, unknown>> {
  const found = endpoints.filter((endpoint) => endpoint.isReady === isReady);
  if (found.length === 0) return {};
  return {
    [field]: found.map(({ address, nodeName, targetRef }) => ({ ip: address, ...(nodeName === undefined ? {} : { nodeName }), targetRef })),
  };
}
