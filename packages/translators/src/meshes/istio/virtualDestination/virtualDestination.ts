import {
  DestinationRule,
  type ServiceEntry as Entry,
  Gateway,
  type Mesh,
  ServiceEntry,
  type ServiceEntrySpec,
  VirtualService,
  type WorkloadEntry,
} from "@isthmus/api";
import { formatRef, type Output, type Report, refOf, sanitizedName } from "@isthmus/core";
import { type Finding, invalidFinding, reportOf, warningFinding } from "../../../findings.ts";
import { userNameOf } from "../../../policy/userResources.ts";
import { emptyTranslation, type MeshWithGateways, type TargetTranslation, type VirtualDestinationInputs } from "../../inputs.ts";
import { type OutputOrigin, originOf, outputOf } from "../../outputMetadata.ts";
import { identitiesOf, subjectAltNames } from "../access/identities.ts";
import { familiesOf, virtualIpsIn } from "../addressFamilies.ts";
import { passthrough } from "../virtualMesh/eastWestGateways.ts";
import { atMostEndpoints, MOST_ENDPOINTS, resolutionOf } from "../virtualMesh/endpoints.ts";
import { lacksDnsProxying, needsDnsProxying } from "../virtualMesh/federationRefusals.ts";
import { forAllNamespaces } from "../visibility.ts";
import { type EndpointOptions, endpointsOf, failoverPriority, podLabelsOf } from "./endpoints.ts";
import { outlierDetectionOf } from "./outliers.ts";
import { connectionsWithPolicies, routesWithPolicies } from "./policies.ts";
import { subsetReports, virtualSubsetsOf } from "./subsets.ts";
import { istioPlaceOf, type Tier, tiersFor } from "./tiers.ts";

/** What is in force of a VirtualDestination, for the translation of one mesh after the other. */
interface Host {
  readonly inputs: VirtualDestinationInputs;
  readonly hostname: string;
  readonly options: EndpointOptions;
  readonly origin: OutputOrigin;
}

/**
 * Two ServiceEntries for the host in each cluster (docs/decisions/0063). For clients: pods of their own cluster, and the gateways of others,
 * in the order of failover. For the gateways, in their own namespace and seen there alone: pods of their own cluster, so that what comes in
 * from another cluster stays, and requests never circle.
 */
export function translateVirtualDestination(inputs: VirtualDestinationInputs): TargetTranslation {
  const { virtualDestination, spec, exports, homes, translationContext } = inputs;
  if (spec === undefined) return emptyTranslation;
  const port = (spec.port?.protocol ?? DEFAULT_PROTOCOL).toLowerCase();
  const host: Host = {
    inputs,
    hostname: spec.hostname ?? "",
    options: { spec, workloads: inputs.workloads, port, subsets: virtualSubsetsOf(inputs), offline: inputs.offlineClusters },
    origin: originOf({ translationContext, parents: [virtualDestination] }),
  };
  const clients = distinctClusters(exports).map((mesh) => forClients(host, mesh));
  const gateways = distinctClusters([...exports, ...homes]).flatMap((mesh) => forGateways(host, mesh));
  return {
    outputs: [...clients.flatMap(({ outputs }) => outputs), ...gateways],
    reports: [
      ...offlineReports(inputs),
      ...clients.flatMap(({ reports }) => reports),
      ...(inputs.subsetPolicies.length === 0 ? [] : subsetReports(inputs, podLabelsOf(inputs.targets, host.options))),
    ],
  };
}

const DEFAULT_PROTOCOL = "HTTP";

/** One mesh of each cluster with an Istio mesh: revisions of a control plane share what is written. */
function distinctClusters(meshes: readonly MeshWithGateways[]): readonly MeshWithGateways[] {
  const byCluster = new Map<string, MeshWithGateways>();
  for (const one of meshes) {
    const { cluster } = istioPlaceOf(one.mesh);
    const known = byCluster.get(cluster);
    if (one.mesh.spec?.istio !== undefined && (known === undefined || known.gateways.length === 0)) byCluster.set(cluster, one);
  }
  return [...byCluster.values()];
}

function offlineReports({ virtualDestination, offlineClusters }: VirtualDestinationInputs): readonly Report[] {
  if (offlineClusters.length === 0) return [];
  const message = `spec: other clusters do not call ${offlineClusters.join(", ")} while they have something else to call, because its agent has been offline for longer than failover.excludeOffline of the Settings says: check the agent`;
  return [reportOf(refOf(virtualDestination), warningFinding("OfflineExcluded", message))];
}

function forClients(host: Host, exported: MeshWithGateways): TargetTranslation {
  const { inputs, options } = host;
  const { mesh } = exported;
  const tiers = tiersFor(mesh, { ...inputs, spec: options.spec });
  const families = familiesOf(mesh);
  const endpoints = endpointsOf(tiers, { ...options, families });
  const resolution = resolutionOf(endpoints.map(({ address = "" }) => address));
  const findings = [...meshFindings(host, exported, resolution), ...omittedFindings(endpoints, mesh)];
  const reports = findings.map((finding) => reportOf(refOf(inputs.virtualDestination), finding, refOf(mesh)));
  if (resolution === undefined || findings.some(({ state }) => state === "INVALID")) return { outputs: [], reports };
  const place = { namespace: clientNamespace(host, exported), clusterName: istioPlaceOf(mesh).cluster };
  const entry = {
    exportTo: ["*"],
    addresses: virtualIpsIn(families, inputs.virtualIp.address),
    ...entrySpec(host, endpoints),
    resolution,
    ...subjectAltNames(identitiesBehind(tiers, inputs)),
  };
  const rule = connectionsWithPolicies(inputs, mesh, ruleSpec(host, tiers));
  const routes = routesWithPolicies(inputs, mesh, { hostname: host.hostname, port: options.spec.port?.number ?? 0 });
  return {
    outputs: [
      output(host, place, ServiceEntry, entry),
      output(host, place, DestinationRule, forAllNamespaces(mesh, DestinationRule, rule)),
      ...(routes === undefined
        ? []
        : [output({ ...host, origin: originWithPolicies(inputs) }, place, VirtualService, forAllNamespaces(mesh, VirtualService, routes))]),
    ],
    reports,
  };
}

/** Of each Destination that a caller may come to. */
function identitiesBehind(tiers: readonly Tier[], { homes }: VirtualDestinationInputs): readonly (readonly string[] | undefined)[] {
  const meshes = new Map(homes.map(({ mesh }) => [mesh.metadata.name, mesh]));
  return tiers
    .flatMap(({ local, remote }) => [...local, ...remote.flatMap(({ destinations }) => destinations)])
    .map((destination) => {
      const mesh = meshes.get(destination.spec?.mesh?.name ?? "");
      return mesh && identitiesOf(destination, mesh);
    });
}

function originWithPolicies({ translationContext, virtualDestination, trafficPolicies }: VirtualDestinationInputs): OutputOrigin {
  return originOf({ translationContext, parents: [virtualDestination, ...trafficPolicies] });
}

/** Where clients look a host up, which must not be where gateways do: there theirs hides it. */
function clientNamespace({ inputs }: Host, { agentNamespace = inputs.translationContext.namespace }: MeshWithGateways): string {
  return agentNamespace;
}

function ruleSpec(host: Host, tiers: readonly Tier[]): NonNullable<DestinationRule["spec"]> {
  const { options } = host;
  return {
    ...subsetRule(host),
    trafficPolicy: {
      ...MUTUAL_TLS,
      outlierDetection: outlierDetectionOf(options.spec.localized?.outlierDetection),
      loadBalancer: { localityLbSetting: { enabled: true, failoverPriority: failoverPriority(tiers.length) } },
    },
  };
}

// East-west gateways pass nothing else on.
const MUTUAL_TLS = { tls: { mode: "ISTIO_MUTUAL" } } as const;

/** The name of a subset is in the SNI, so gateways know the subsets of callers. */
function subsetRule({ hostname, options: { subsets } }: Host): NonNullable<DestinationRule["spec"]> {
  return { host: hostname, trafficPolicy: MUTUAL_TLS, ...(subsets.length === 0 ? {} : { subsets }) };
}

/** For each namespace with gateways of a mesh. Without pods of its own it has an empty one: what arrives there must not leave again. */
function forGateways(host: Host, home: MeshWithGateways): readonly Output[] {
  const { inputs, options } = host;
  const clusterName = istioPlaceOf(home.mesh).cluster;
  const tiers = tiersFor(home.mesh, { ...inputs, spec: options.spec })
    .filter(({ local }) => local.length > 0)
    .map(({ local }) => ({ local, remote: [] }));
  const endpoints = endpointsOf(tiers, options);
  const resolution = resolutionOf(endpoints.map(({ address = "" }) => address));
  const namespaces = new Set(home.gateways.map(({ destination }) => destination.spec?.kubeService?.ref?.namespace ?? ""));
  if (resolution === undefined) return [];
  const entries = [...namespaces].flatMap((namespace) => {
    const place = { namespace, clusterName };
    const entry = output(host, place, ServiceEntry, { exportTo: ["."], ...entrySpec(host, endpoints), resolution });
    // An order among several Destinations of one cluster.
    const rule = tiers.length > 1 ? ruleSpec(host, tiers) : options.subsets.length > 0 ? subsetRule(host) : undefined;
    return rule === undefined ? [entry] : [entry, output(host, place, DestinationRule, { ...rule, exportTo: ["."] })];
  });
  return [...entries, ...entrances(host, home)];
}

/** The gateways of a VirtualMesh let in its federated hosts alone. */
function entrances(host: Host, { mesh, gateways, hostnameSuffix }: MeshWithGateways): readonly Output[] {
  if (host.hostname.endsWith(`.${hostnameSuffix}`)) return [];
  const { namespace, cluster: clusterName } = istioPlaceOf(mesh);
  const { name: own, namespace: ofOwn } = host.inputs.virtualDestination.metadata;
  return gateways.map((gateway) => {
    const { name, namespace: ofGateway = "" } = gateway.destination.metadata;
    const identity = { name: sanitizedName(`${own}-${ofOwn}-${name}-${ofGateway}`), namespace, clusterName, origin: host.origin };
    return outputOf(identity, Gateway, passthrough(gateway, host.hostname));
  });
}

function entrySpec({ hostname, options }: Host, endpoints: readonly WorkloadEntry[]): ServiceEntrySpec {
  const { number = 0, protocol = DEFAULT_PROTOCOL } = options.spec.port ?? {};
  const some = endpoints.length === 0 ? {} : { endpoints: atMostEndpoints(endpoints) };
  const ports = [{ name: options.port, number, protocol: protocol.toUpperCase() }];
  return { hosts: [hostname], location: "MESH_INTERNAL", ports, ...some };
}

function output(
  { inputs, origin }: Host,
  place: { readonly namespace: string; readonly clusterName: string },
  type: { readonly apiVersion: string; readonly kind: string },
  spec: NonNullable<Entry["spec"] | DestinationRule["spec"] | VirtualService["spec"]>,
): Output {
  return outputOf({ name: userNameOf(inputs.virtualDestination.metadata), ...place, origin }, type, spec);
}

function meshFindings(host: Host, exported: MeshWithGateways, resolution: "STATIC" | "DNS" | undefined): readonly Finding[] {
  const { inputs, hostname } = host;
  const { mesh, gateways } = exported;
  const [name, { cluster }] = [formatRef(refOf(mesh)), istioPlaceOf(mesh)];
  const taken = inputs.userEntries.find(({ metadata }) => metadata.clusterName === cluster);
  const namespace = clientNamespace(host, exported);
  const isShared = gateways.some(({ destination }) => destination.spec?.kubeService?.ref?.namespace === namespace);
  return [
    ...(taken === undefined
      ? []
      : [
          invalidFinding(
            "UserConfigConflict",
            `spec.hostname: ${hostname} is the host of ${formatRef(refOf(taken))}, so nothing is written for clients of ${name}: remove that object, or choose another host`,
          ),
        ]),
    ...(isShared
      ? [
          invalidFinding(
            "NamespaceOfGateways",
            `spec: clients of ${name} would find the host in namespace ${namespace}, where its east-west gateways run, and requests could circle between gateways: run the agent or the gateways in another namespace`,
          ),
        ]
      : []),
    ...(resolution === undefined
      ? [
          invalidFinding(
            "AddressesMixed",
            `spec: the endpoints for clients of ${name} have both host names and IPv6 addresses, which Envoy does not support in one cluster: give the gateways IP addresses`,
          ),
        ]
      : []),
    ...(needsDnsProxying(hostname) && lacksDnsProxying(mesh)
      ? [
          warningFinding(
            "DnsProxyingMissing",
            `spec.hostname: ${name} does not proxy DNS, so its clients cannot resolve ${hostname} unless another DNS server does: set ISTIO_META_DNS_CAPTURE in the metadata of its proxies`,
          ),
        ]
      : []),
    ...virtualIpFindings(inputs),
  ];
}

function omittedFindings({ length }: readonly WorkloadEntry[], mesh: Mesh): readonly Finding[] {
  if (length <= MOST_ENDPOINTS) return [];
  const message = `spec: clients of ${formatRef(refOf(mesh))} call ${MOST_ENDPOINTS} of ${length} endpoints, as a ServiceEntry has at most ${MOST_ENDPOINTS}: select fewer destinations`;
  return [warningFinding("EndpointsOmitted", message)];
}

function virtualIpFindings({ virtualIp }: VirtualDestinationInputs): readonly Finding[] {
  return virtualIp.note === undefined ? [] : [warningFinding("VirtualIpCollision", `spec.hostname: ${virtualIp.note}`)];
}
