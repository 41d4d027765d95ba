import { type ConnectionPolicy, DestinationRule, ServiceEntry, type ServiceEntryPort, type ServiceEntrySpec } from "@isthmus/api";
import { formatRef, type Output, type Resource, refOf } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../../findings.ts";
import { failoverHostname, localHostname } from "../../../policy/hosts/hostnames.ts";
import type { DestinationInputs, TargetTranslation } from "../../inputs.ts";
import { originOf, outputOf } from "../../outputMetadata.ts";
import { MUTUAL } from "../features/mtls.ts";
import { localSource, objectNameFor } from "../source.ts";
import { userConflict } from "../userObjects.ts";
import { outlierDetectionOf } from "../virtualDestination/outliers.ts";
import { TLS_MODE_LABEL } from "../virtualMesh/endpoints.ts";
import { failsOverToGuardedOnly, unguardedPeers, unguardedReports } from "./guards.ts";
import { failoverPorts, hasHostNamesAlone, portsMissingAt, type RemoteCluster, remoteClustersOf } from "./peers.ts";

/**
 * Lets a service fail over to those of its name in other clusters, where its VirtualMesh says so (docs/decisions/0085). In its own
 * cluster: a ServiceEntry for its host, whose endpoints, the gateways of the others, Istio adds to those of the Kubernetes Service, and
 * their order in the DestinationRule. `local` is what else is written for callers of its own cluster.
 */
export function withFailover(inputs: DestinationInputs, local: readonly Output[]): TargetTranslation {
  const { destination, virtualMesh, failoverPeers } = inputs;
  const { failover, federatedHostname = "" } = destination.status?.appliedFederation ?? {};
  const service = destination.spec?.kubeService?.ref;
  if (failover === undefined || service === undefined || virtualMesh === undefined || failoverPeers.length === 0) {
    return { outputs: local, reports: [] };
  }
  const { ports } = failoverPorts(destination);
  const rule = local.map(({ resource }) => resource).find(isDestinationRule);
  const obstacles = obstaclesTo(inputs, rule);
  const findings = [...obstacles, ...peerFindings(inputs, ports)];
  const reports = findings.map((finding) => reportOf(refOf(virtualMesh), finding, refOf(destination)));
  const unguarded = unguardedPeers(inputs);
  const leftOut = failsOverToGuardedOnly(inputs) ? unguarded : [];
  const usable = failoverPeers.filter((peer) => portsMissingAt(peer, ports).length === 0 && !leftOut.includes(peer));
  if (obstacles.length > 0 || ports.length === 0 || usable.length === 0) return { outputs: local, reports };

  const host = failoverHostname(service, federatedHostname);
  const clusters = remoteClustersOf(inputs, usable, ports);
  const { translationContext } = inputs;
  const parents = originOf({ translationContext, parents: [destination, virtualMesh], annotationsOf: destination });
  const identity = { ...objectNameFor(destination, localSource(destination)), origin: parents };
  const localHost = localHostname(service, translationContext.clusterDomains);
  const trafficPolicy = ordered(rule?.spec?.trafficPolicy ?? {}, { host, ports, detection: outlierDetectionOf(failover.outlierDetection) });
  const others = local.filter(({ resource }) => resource !== rule);
  const outputs = [...others, outputOf(identity, DestinationRule, { host: localHost, ...rule?.spec, trafficPolicy })];
  const spec = remoteEndpoints(localHost, ports, clusters);
  if (spec === undefined) return { outputs, reports };
  const passed = unguarded.filter((peer) => usable.includes(peer));
  const origin = originOf({ translationContext, parents: [virtualMesh] });
  return {
    outputs: [...outputs, outputOf({ ...identity, name: host, origin }, ServiceEntry, spec)],
    reports: [...reports, ...unguardedReports(inputs, passed)],
  };
}

// On endpoints of other clusters alone. That neither the client nor an endpoint of its own cluster has one is as good as having the same.
const OTHER_CLUSTER = "failover.isthmus.mesh/other-cluster";
const OTHER_REGION = "failover.isthmus.mesh/other-region";

/** What is less than the whole order is compared label by label: pods of the own cluster, clusters of its region, others; then zones. */
const PRIORITY = [OTHER_REGION, OTHER_CLUSTER, "topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

/** Gateways of clusters whose pods can answer: none while there are no pods. Undefined where no cluster has gateways. */
function remoteEndpoints(
  host: string,
  ports: readonly ServiceEntryPort[],
  clusters: readonly RemoteCluster[],
): ServiceEntrySpec | undefined {
  const endpoints = clusters.flatMap(({ region, distance, addresses }) =>
    addresses.map(({ address, port }) => ({
      address,
      ports: Object.fromEntries(ports.map(({ name = "" }) => [name, port])),
      labels: {
        [TLS_MODE_LABEL]: "istio",
        [OTHER_CLUSTER]: "true",
        ...(distance === "other region" ? { [OTHER_REGION]: "true" } : {}),
      },
      ...(region === "" ? {} : { locality: region }),
    })),
  );
  // A restart of the pods of all others is no deletion.
  if (!clusters.some(({ isReachable }) => isReachable)) return undefined;
  const identities = clusters.filter(({ addresses }) => addresses.length > 0).flatMap((cluster) => cluster.identities);
  return {
    // Istio adds the endpoints to those of the Service in this namespace, anyone who may see this object.
    exportTo: ["."],
    hosts: [host],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports,
    ...(endpoints.length === 0 ? {} : { subjectAltNames: [...new Set(identities)].sort(), endpoints }),
  };
}

interface Order {
  /** By which the gateways of others know the service. */
  readonly host: string;
  readonly ports: readonly ServiceEntryPort[];
  readonly detection: NonNullable<ConnectionPolicy["outlierDetection"]>;
}

/** Port by port, as the name that gateways go by has the port in it. Settings of a port replace all others. What policies say stays. */
function ordered(policy: ConnectionPolicy, { host, ports, detection }: Order): ConnectionPolicy {
  const settings = {
    ...policy,
    // While every endpoint fails, or only pods of the own cluster are there: those get the requests, rather than nobody.
    outlierDetection: { ...detection, ...policy.outlierDetection, minHealthPercent: 1 },
    loadBalancer: { localityLbSetting: { enabled: true, failoverPriority: PRIORITY } },
  };
  const portLevelSettings = ports.map(({ number = 0 }) => ({
    port: { number },
    ...settings,
    tls: { mode: MUTUAL, ...policy.tls, sni: `outbound_.${number}_._.${host}` },
  }));
  return { ...policy, portLevelSettings };
}

/** Why a service fails over to no other cluster, although it should: written all the same, it would change what its own cluster gets. */
function obstaclesTo(inputs: DestinationInputs, rule: DestinationRule | undefined): readonly Finding[] {
  const { destination } = inputs;
  const none = (why: string) => unavailable(inputs, "", why);
  const user = userConflict(inputs, { kind: "DestinationRule", source: localSource(destination) });
  if (user !== undefined) return [none(`${formatRef(refOf(user))} configures its host too: remove that object`)];
  const mode = rule?.spec?.trafficPolicy?.tls?.mode;
  if (mode !== undefined && mode !== MUTUAL) {
    return [
      none(
        `its TLS mode is ${mode} and east-west gateways only forward ISTIO_MUTUAL: set mtls.istio.tlsMode: ISTIO_MUTUAL in the Settings, or in a TrafficPolicy for it`,
      ),
    ];
  }
  return [];
}

/** Ports and clusters that are left out. */
function peerFindings(inputs: DestinationInputs, ports: readonly ServiceEntryPort[]): readonly Finding[] {
  const leftOut = failsOverToGuardedOnly(inputs) ? unguardedPeers(inputs) : [];
  const { unnamed } = failoverPorts(inputs.destination);
  return [
    ...(unnamed.length === 0
      ? []
      : [unavailable(inputs, ` at port ${unnamed.join(", ")}`, "Istio finds endpoints by the name of the port, and it has none: name it")]),
    ...inputs.failoverPeers.flatMap((peer) => {
      const cluster = ` ${peer.destination.spec?.kubeService?.ref?.clusterName ?? ""}`;
      const missing = portsMissingAt(peer, ports);
      if (missing.length > 0) {
        const why = `the service there has no port ${missing.join(", ")}: add it there, or use a VirtualDestination`;
        return [unavailable(inputs, ` to${cluster}`, why)];
      }
      if (leftOut.includes(peer)) {
        const why = "no AccessPolicy selects the service there and failover.targets of the Settings is GUARDED_ONLY: select it too";
        return [unavailable(inputs, ` to${cluster}`, why)];
      }
      if (!hasHostNamesAlone(peer)) return [];
      const why = "the gateways there have host names alone, which Istio does not look up for the host of a Kubernetes Service";
      return [unavailable(inputs, ` to${cluster}`, `${why}: give them IP addresses, or use a VirtualDestination`)];
    }),
  ];
}

function unavailable({ destination }: DestinationInputs, where: string, why: string): Finding {
  return warningFinding(
    "FailoverUnavailable",
    `${formatRef(refOf(destination))} does not fail over${where || " to other clusters"}, because ${why}`,
  );
}

function isDestinationRule(resource: Resource): resource is DestinationRule {
  return resource.kind === DestinationRule.kind;
}
