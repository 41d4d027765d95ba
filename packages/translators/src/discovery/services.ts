import { type Mesh, meshInstallationOf, type Node, type Pod, type Service } from "@isthmus/api";
import { matchesLabels, type Owner } from "@isthmus/core";
import type { RowSources } from "../incremental/derived.ts";
import type { Group } from "../incremental/groupedBy.ts";
import { type DiscoveredServiceInputs, isAnnotated } from "./destinations.ts";
import { addressGroups, nodeNamesOf } from "./endpoints.ts";
import { nobodyOutside, podsWithoutSidecar } from "./outsideMesh.ts";
import { serviceAccountsBehind } from "./serviceAccounts.ts";
import type { serviceJoins } from "./serviceJoins.ts";
import { type DiscoveryContext, nodeNamed, reachableNode } from "./sources.ts";
import { standInAmong } from "./standIns.ts";

/** Where the inputs of a Service come from. */
export interface ServiceSources {
  readonly lookup: RowSources<typeof serviceJoins, DiscoveryContext, unknown>["lookup"];
  readonly owner: Owner;
  readonly namespace: string;
}

/** What the translation of one Service reads; undefined when it can't be in a mesh. */
export function discoveredServiceInputs(
  service: Service,
  { lookup, owner, namespace }: ServiceSources,
): DiscoveredServiceInputs | undefined {
  const { type, selector = {} } = service.spec ?? {};
  const workloads = lookup("workloads").filter(({ spec }) => matchesLabels(selector, spec?.kubernetes?.podLabels));
  if (workloads.length === 0 && !isAnnotated(service)) return undefined;
  const [slices, endpoints] = [lookup("slices"), lookup("endpoints")];
  const addresses = addressGroups(service, slices, endpoints[0]);
  const hasSelector = Object.keys(selector).length > 0;
  const pods = type === "NodePort" || hasSelector ? lookup("pods") : NONE;
  const [nodes] = lookup("nodes");
  const nodeOf = (pod: Pod | undefined) => nodeNamed(pod?.spec?.nodeName, nodes);
  return {
    service,
    annotatedMesh: isAnnotated(service) ? annotatedMesh(lookup) : undefined,
    workloads,
    pods: hasSelector ? pods : NONE,
    addresses,
    isReadinessKnown: slices.length + endpoints.length > 0,
    endpointNodes: nodeNamesOf(addresses).flatMap((name) => nodeNamed(name, nodes) ?? []),
    podNodes:
      type === "NodePort"
        ? nodesFor(
            pods.flatMap((pod) => nodeOf(pod) ?? []),
            nodes,
          )
        : NONE,
    firstNode: hasSelector ? nodeOf(pods[0]) : undefined,
    serviceAccounts: hasSelector ? serviceAccountsBehind({ pods, workloads, addresses }) : undefined,
    outsideMesh: hasSelector ? podsWithoutSidecar(pods) : nobodyOutside,
    owner,
    namespace,
  };
}

/** Every node forwards a node port: while no pod runs on one, the address is that of another, rather than none. */
function nodesFor(ofPods: readonly Node[], nodes: Group<Node> | undefined): readonly Node[] {
  if (ofPods.length > 0 || nodes === undefined) return ofPods;
  const { node } = reachableNode(nodes);
  return node === undefined ? NONE : [node];
}

function annotatedMesh(lookup: ServiceSources["lookup"]): Mesh | undefined {
  const meshes = lookup("meshes");
  const last = meshes.filter((mesh) => meshInstallationOf(mesh) !== undefined).at(-1);
  return last && standInAmong(meshes, () => lookup("virtualMeshes"))(last);
}

const NONE: readonly never[] = [];
