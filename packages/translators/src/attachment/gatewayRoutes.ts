import {
  type Destination,
  GATEWAY_API_ROUTES,
  Gateway,
  type GatewayApiRoute,
  ReferenceGrant,
  Service,
  VirtualDestination,
  VirtualService,
} from "@isthmus/api";
import { equalJson, keyOf, keyOfResource, type Resource } from "@isthmus/core";
import { inputKind, join, unionOf } from "../incremental/join.ts";
import type { Matching } from "../incremental/matching.ts";
import { NETWORKING_OWNER_LABEL } from "../meshes/outputMetadata.ts";
import { byLabel, byNamespace, byService, destinationsByCluster } from "../policy/indexes.ts";
import { selectedDestinations, selectingCandidates } from "../policy/selection.ts";
import { selectsDestination } from "../policy/selectors.ts";
import { type AttachedSources, destinations } from "./destinationJoins.ts";
import { bySelectedTargets, formsOf } from "./virtualDestinations/forms.ts";

const NONE: readonly never[] = [];

/** A Destination and the VirtualDestinations of which some form takes it. */
const takenBy: Matching<Destination, VirtualDestination> = {
  find: (destination, table) =>
    [...selectingCandidates({ where: (key) => table.where(bySelectedTargets, key) }, destination)].filter((one) =>
      formsOf(one).some(({ selectors }) => selectors.length > 0 && selectsDestination(selectors, destination)),
    ),
  findBack: (one, table) =>
    formsOf(one).flatMap(({ selectors }): readonly Destination[] =>
      selectors.length === 0 ? NONE : [...selectedDestinations(selectors, table)],
    ),
  isSameAsking: (before, after) =>
    equalJson(before.spec?.kubeService?.ref, after.spec?.kubeService?.ref) &&
    equalJson(before.spec?.kubeService?.labels, after.spec?.kubeService?.labels),
  isSameFound: (before, after) => before === after,
  indexes: [bySelectedTargets],
  backIndexes: [byLabel, byNamespace, byService, destinationsByCluster],
};

/** Destination → what may lead gateways to it, beside its federation. */
export const gatewayRoutes = unionOf<AttachedSources, Destination, Resource>([
  join({ from: destinations, to: inputKind<AttachedSources, VirtualDestination>(VirtualDestination), matching: takenBy }),
  join({ from: destinations, key: byService, to: inputKind<AttachedSources, VirtualService>(VirtualService), index: byRoutedService }),
  ...GATEWAY_API_ROUTES.map((kind) =>
    join({ from: destinations, key: byService, to: inputKind<AttachedSources, GatewayApiRoute>(kind), index: byBackend }),
  ),
  // By which routes of other namespaces lead here.
  join({ from: destinations, key: byOwnNamespace, to: inputKind<AttachedSources, ReferenceGrant>(ReferenceGrant), index: byPlace }),
  join({ from: destinations, key: destinationsByCluster, to: inputKind<AttachedSources, Gateway>(Gateway), index: passingByCluster }),
]);

// All sidecars, where others name a Gateway.
const MESH = "mesh";

/** Of any kind of route. */
interface RouteMatch {
  readonly gateways?: readonly string[];
}

/** VirtualServices of users that gateways read, by the Services to which they lead. Those without hosts are parts of others, perhaps of such. */
function byRoutedService({ metadata, spec = {} }: VirtualService): readonly string[] {
  if (metadata.labels?.[NETWORKING_OWNER_LABEL] !== undefined) return NONE;
  const { gateways = NONE, http = NONE, tls = NONE, tcp = NONE } = spec;
  const matches = [...http, ...tls, ...tcp].flatMap((route) => (route as { readonly match?: readonly RouteMatch[] }).match ?? NONE);
  const ofMatches = matches.flatMap((match) => match.gateways ?? NONE);
  const isOfGateway = [...gateways, ...ofMatches].some((gateway) => gateway !== MESH);
  if (!isOfGateway && (spec.hosts ?? NONE).length > 0) return NONE;
  const routed = [...http, ...tls, ...tcp].flatMap(({ route = NONE }) => route.map(({ destination }) => destination?.host ?? ""));
  const hosts = [...routed, ...http.map(({ mirror }) => mirror?.host ?? "")];
  const keys = hosts.flatMap((host): readonly string[] => {
    const service = serviceOfHost(host, metadata.namespace ?? "");
    return service === undefined ? NONE : [keyOf({ ...service, clusterName: metadata.clusterName ?? "" })];
  });
  return [...new Set(keys)];
}

/** Routes of users that are of Gateways, by the Services to which they lead. */
function byBackend({ metadata, spec = {} }: GatewayApiRoute): readonly string[] {
  if (metadata.labels?.[NETWORKING_OWNER_LABEL] !== undefined) return NONE;
  const isOfGateway = (spec.parentRefs ?? NONE).some(
    ({ group = GATEWAY_API, kind = Gateway.kind }) => group === GATEWAY_API && kind === Gateway.kind,
  );
  if (!isOfGateway) return NONE;
  const mirrors = (rule: RouteRule) => (rule.filters ?? NONE).flatMap(({ requestMirror }) => requestMirror?.backendRef ?? NONE);
  const backends = (spec.rules ?? NONE).flatMap((rule) => [...(rule.backendRefs ?? NONE), ...mirrors(rule)]);
  const { namespace: own = "", clusterName = "" } = metadata;
  const keys = backends.flatMap(({ group = "", kind = Service.kind, name = "", namespace = own }): readonly string[] =>
    BACKENDS.has(`${group}/${kind}`) && name !== "" ? [keyOf({ name, namespace, clusterName })] : NONE,
  );
  return [...new Set(keys)];
}

type RouteRule = NonNullable<NonNullable<GatewayApiRoute["spec"]>["rules"]>[number];
const GATEWAY_API = "gateway.networking.k8s.io";
// What a route may name that is a Service in the end: itself, or under its name in all clusters.
const BACKENDS: ReadonlySet<string> = new Set(["/Service", "multicluster.x-k8s.io/ServiceImport"]);

function byOwnNamespace({ spec }: Destination): readonly string[] {
  const { namespace, clusterName } = spec?.kubeService?.ref ?? {};
  return namespace === undefined || clusterName === undefined ? NONE : [`${clusterName}/${namespace}`];
}

function byPlace({ metadata: { namespace = "", clusterName = "" } }: ReferenceGrant): readonly string[] {
  return [`${clusterName}/${namespace}`];
}

/** A name alone is of the own namespace, whatever the domain of the cluster. Source: istio.io, VirtualService, Destination.host. */
function serviceOfHost(host: string, ownNamespace: string): { readonly name: string; readonly namespace: string } | undefined {
  const [name = "", namespace = "", svc] = host.split(".", 3);
  if (name === "") return undefined;
  if (!host.includes(".")) return { name, namespace: ownNamespace };
  return svc === "svc" ? { name, namespace } : undefined;
}

/** Gateways of users that pass connections unopened to the service that they ask for: for which, their hosts say. */
function passingByCluster({ metadata, spec }: Gateway): readonly string[] {
  const isPassing = (spec?.servers ?? []).some(({ tls }) => tls?.mode === "AUTO_PASSTHROUGH");
  return isPassing && metadata.labels?.[NETWORKING_OWNER_LABEL] === undefined ? [metadata.clusterName ?? ""] : NONE;
}

/** One for each. */
export function distinctRoutes(routes: readonly Resource[]): readonly Resource[] {
  return routes.length < 2 ? routes : [...new Map(routes.map((route) => [`${route.kind} ${keyOfResource(route)}`, route])).values()];
}
