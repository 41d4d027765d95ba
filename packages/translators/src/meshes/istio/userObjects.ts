import { DestinationRule, type GatewayApiRoute, GRPCRoute, HTTPRoute, VirtualService } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../findings.ts";
import { clusterDomainOf, hostnameFrom } from "../../policy/hosts/hostnames.ts";
import type { DestinationInputs, UserObject } from "../inputs.ts";
import type { Source } from "./source.ts";

/** A kind of object, for one source of requests. */
interface Place {
  readonly kind: "VirtualService" | "DestinationRule" | "HTTPRoute" | "GRPCRoute";
  readonly source: Source;
}

/** Routes of the Gateway API by which users route calls of sidecars to a Service. */
export const ROUTES_BEFORE_OURS = [HTTPRoute.kind, GRPCRoute.kind] as readonly ("HTTPRoute" | "GRPCRoute")[];

type Inputs = Pick<DestinationInputs, "destination" | "userObjects" | "translationContext">;

/** The first object of a user, in key order, that is about the same host in the same cluster as ours would be. */
export function userConflict(inputs: Inputs, place: Place): UserObject | undefined {
  return userConflicts(inputs, place)[0];
}

/** All of them. */
export function userConflicts(inputs: Inputs, { kind, source }: Place): readonly UserObject[] {
  const { destination, userObjects, translationContext } = inputs;
  const service = destination.spec?.kubeService?.ref;
  if (service === undefined || userObjects.length === 0) return NONE;
  const host = hostnameFrom(source.clusterName, { service, destination }, translationContext.clusterDomains);
  return userObjects.filter(
    (object) =>
      object.kind === kind &&
      object.metadata.clusterName === source.clusterName &&
      hostsOf(object, translationContext.clusterDomains).some((other) => overlap(host, other)),
  );
}

const NONE: readonly never[] = [];
const NOWHERE = { name: "", namespace: "", clusterName: "" };

interface Meeting {
  readonly place: Place;
  /** Whether the reader may know the object. */
  readonly isNamed: boolean;
  /** What comes of it: ours beside it, ours after it for callers of its namespace, ours with its settings, none of ours, or none for what this policy says of connections as that one is for some callers alone: nothing of it where its routes lead to subsets of ours. */
  readonly outcome: "BESIDE" | "BEFORE" | "CARRIED" | "STANDS" | "FOR_SOME" | "FOR_SOME_WITH_SUBSETS";
}

/**
 * What a user's object for the same host means for the policies on a destination. One of another cluster than the destination's keeps
 * at most its own cluster's copy from being written: anyone who writes there takes no policy off what is elsewhere.
 */
export function userConflictFinding(inputs: Inputs, object: UserObject, { place, isNamed, outcome }: Meeting): Finding {
  const { ref: service = NOWHERE } = inputs.destination.spec?.kubeService ?? {};
  const { clusterDomains } = inputs.translationContext;
  const host = hostnameFrom(place.source.clusterName, { service, destination: inputs.destination }, clusterDomains);
  const what = `host ${host} is also configured by ${isNamed ? formatRef(refOf(object)) : `a ${object.kind} in another cluster`}`;
  const refuse = service.clusterName === place.source.clusterName ? invalidFinding : warningFinding;
  switch (outcome) {
    case "STANDS":
      return refuse("UserConfigConflict", `${what}, so no ${place.kind} is written: remove that object, or this policy`);
    case "FOR_SOME":
      return refuse(
        "UserConfigConflict",
        `${what}, for some callers alone (exportTo, workloadSelector), so what this policy says of connections is not in force there: remove that object, or those fields`,
      );
    case "FOR_SOME_WITH_SUBSETS":
      return refuse(
        "UserConfigConflict",
        `${what}, for some callers alone (exportTo, workloadSelector), so this policy is not in force there: remove that object, or this policy`,
      );
    case "CARRIED":
      return warningFinding(
        "UserConfigConflict",
        `${what}: the ${place.kind} that is written has its settings, too, but for what policies say: remove that object, or this policy`,
      );
    case "BEFORE":
      return warningFinding(
        "UserConfigConflict",
        `${what}, which Istio prefers for callers in its namespace, so what this policy says of routes is not in force for these: remove that object, or this policy`,
      );
    case "BESIDE":
      return warningFinding("UserConfigConflict", `${what}; Istio uses only one of the two: remove that object, or this policy`);
  }
}

/** The hosts of a user's object in a sidecar's eyes, short names in full. */
export function hostsOf(object: UserObject, clusterDomains: ReadonlyMap<string, string>): readonly string[] {
  const { namespace = "", clusterName = "" } = object.metadata;
  const domain = clusterDomainOf(clusterName, clusterDomains);
  return rawHostsOf(object, clusterDomains).map((host) =>
    host.includes(".") || host.startsWith("*") ? host : `${host}.${namespace}.svc.${domain}`,
  );
}

function rawHostsOf(object: UserObject, clusterDomains: ReadonlyMap<string, string>): readonly string[] {
  if (isVirtualService(object)) {
    // Routes of gateways alone never meet those of sidecars. Source: istio.io VirtualService.gateways, the reserved word `mesh`.
    const { hosts = [], gateways = [] } = object.spec ?? {};
    return gateways.length === 0 || gateways.includes("mesh") ? hosts : [];
  }
  if (isRoute(object)) {
    // Of Gateways alone they never meet calls of sidecars. Source: gateway-api.sigs.k8s.io/mesh, a Service as the parent.
    const { namespace: own = "", clusterName = "" } = object.metadata;
    const domain = clusterDomainOf(clusterName, clusterDomains);
    return (object.spec?.parentRefs ?? []).flatMap(({ group = "", kind, name, namespace = own }) =>
      group === "" && kind === "Service" && name !== undefined ? [`${name}.${namespace}.svc.${domain}`] : [],
    );
  }
  const host = isDestinationRule(object) ? object.spec?.host : undefined;
  return host === undefined ? [] : [host];
}

function isVirtualService(object: UserObject): object is VirtualService {
  return object.kind === VirtualService.kind;
}

function isRoute(object: UserObject): object is GatewayApiRoute {
  return object.kind === HTTPRoute.kind || object.kind === GRPCRoute.kind;
}

function isDestinationRule(object: UserObject): object is DestinationRule {
  return object.kind === DestinationRule.kind;
}

/** Whether some host name falls under both, each of which may begin with `*`. Source: istio.io host.Name.Matches. */
function overlap(a: string, b: string): boolean {
  const [left, right] = [a.startsWith("*"), b.startsWith("*")];
  if (left && right) return a.slice(1).endsWith(b.slice(1)) || b.slice(1).endsWith(a.slice(1));
  if (left) return b.endsWith(a.slice(1));
  if (right) return a.endsWith(b.slice(1));
  return a === b;
}
