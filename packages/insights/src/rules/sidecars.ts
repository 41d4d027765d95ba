import { Mesh, Sidecar } from "@isthmus/api";
import { defineRule, lookUpPart } from "../rule.ts";
import { byMeshCluster, byObjectCluster } from "./places.ts";

/** The namespaces of control planes whose mesh is in a VirtualMesh: there are the objects by which hosts of other clusters are known. */
const joinedHome = ({ spec, status }: Mesh) =>
  status?.appliedVirtualMesh === undefined ? undefined : spec?.istio?.installation?.namespace;

// Of the Services of a cluster. Where a cluster's own domain is another one, nothing is said.
const LOCAL = ".svc.cluster.local";

/** Whether an entry of `egress.hosts` can take a federated host. Source: istio.io/docs/reference/config/networking/sidecar, IstioEgressListener. */
function reaches(entry: string, { home, own }: { readonly home: string; readonly own: string }): boolean {
  const [place = "", host = ""] = entry.split("/");
  return (place === "*" || place === home || (place === "." && own === home)) && !host.endsWith(LOCAL);
}

/** FED1020. */
export const hostsHiddenBySidecar = defineRule({
  code: "FED1020",
  of: Sidecar,
  reads: { homes: lookUpPart(Mesh, { key: byObjectCluster, index: byMeshCluster, select: joinedHome }) },
  *find({ spec, metadata: { namespace: own = "" } }, { lookup }) {
    const hosts = (spec?.egress ?? []).flatMap(({ hosts: named = [] }) => named);
    // Without any, what holds for its namespace or for the mesh does here, too.
    if (hosts.length === 0) return;
    const [home] = lookup("homes").filter((one) => one !== undefined);
    if (home === undefined || hosts.some((entry) => reaches(entry, { home, own }))) return;
    const whose = Object.keys(spec?.workloadSelector?.labels ?? {}).length > 0 ? "the pods that it selects" : `pods of namespace ${own}`;
    yield {
      field: "spec.egress",
      message: `no entry of hosts takes hosts of other clusters, which are known by objects in namespace ${home}: ${whose} cannot call them`,
      remedy: `where they are to, add ${home}/*.global to hosts, and */ with the host of each VirtualDestination that they call`,
    };
  },
});
