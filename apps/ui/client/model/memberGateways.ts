import { keyOf, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { Destination, type Mesh, type VirtualMesh } from "../data/kinds.ts";
import { millisecondsOf } from "./age.ts";
import { targetsOf } from "./policyTargets.ts";
import { workloadsBehind } from "./selection.ts";
import { countedEdges, TRAFFIC_MINUTES, type TrafficMinutes, trafficEnds } from "./topology/traffic.ts";

/** A gateway through which other meshes reach one. */
export interface MemberGateway {
  readonly destination: Destination | undefined;
  readonly name: string;
  /** With their port; none: it has no address that other clusters could use. */
  readonly addresses: readonly string[];
  /** When requests through it were counted last: within so many minutes before `at`, in ISO 8601. Undefined: none are known of. */
  readonly traffic: { readonly minutes: TrafficMinutes; readonly at: string } | undefined;
}

/** How other meshes of a VirtualMesh reach one of them. */
export interface MeshGateways {
  readonly mesh: Mesh;
  readonly gateways: readonly MemberGateway[];
  /** What is wrong with them. */
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

// What a VirtualMesh says of gateways: none that can be used, or one without an address.
const GATEWAY_CODES: ReadonlySet<string> = new Set(["FED1003", "FED1004"]);

/** The gateways of all meshes of a VirtualMesh. `now`: of the server's clock, in milliseconds since 1970. */
export function meshGateways(fleet: Fleet, virtualMesh: VirtualMesh, now: number): readonly MeshGateways[] {
  const said = fleet.insights.row(resourceKeyOf(refOf(virtualMesh)))?.insights ?? [];
  return targetsOf(fleet, virtualMesh).flatMap(({ mesh }): readonly MeshGateways[] => {
    if (mesh === undefined) return [];
    const problems = said
      .filter(({ code, targets = [] }) => GATEWAY_CODES.has(code) && targets.some((ref) => isRefOf(ref, mesh)))
      .map(({ code, message }) => ({ code, message }));
    const gateways = (mesh.status?.appliedEastWestIngressGateways ?? []).map(
      ({ destinationRef, externalAddresses = [], destinationPort }): MemberGateway => {
        const { name = "", namespace = "" } = destinationRef ?? {};
        const destination = fleet.snapshot.of(Destination).row(keyOf({ name, namespace, clusterName: "" }));
        return {
          destination,
          name,
          addresses: externalAddresses.map((address) => addressText(address, destinationPort)),
          traffic: destination === undefined ? undefined : trafficThrough(fleet, destination, now),
        };
      },
    );
    return [{ mesh, gateways, problems }];
  });
}

/** IPv6 addresses have colons of their own. */
function addressText(address: string, port: number | undefined): string {
  if (port === undefined) return address;
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function isRefOf({ kind, name, namespace }: ResourceRef, mesh: Mesh): boolean {
  return kind === mesh.kind && name === mesh.metadata.name && namespace === (mesh.metadata.namespace ?? "");
}

const HOUR_MS = 3_600_000;

/** Whether proxies have counted something that the workloads behind a gateway sent or got: in the shortest window that has it, of the last hour. */
function trafficThrough(fleet: Fleet, gateway: Destination, now: number): MemberGateway["traffic"] {
  const behind = new Set(workloadsBehind(fleet, gateway));
  const ends = trafficEnds(fleet);
  for (const minutes of TRAFFIC_MINUTES) {
    const times = countedEdges(fleet, minutes).flatMap((counted) => {
      const isThrough = [ends.source(counted), ends.target(counted)].some((workload) => workload !== undefined && behind.has(workload));
      return isThrough ? [fleet.activity.get(counted.cluster)?.at ?? ""] : [];
    });
    const at = times.sort().at(-1);
    const ms = millisecondsOf(at);
    if (at !== undefined && ms !== undefined && now - ms < HOUR_MS) return { minutes, at };
  }
  return undefined;
}
