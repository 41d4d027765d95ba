import { Type } from "@sinclair/typebox";
import { declaredAlone } from "../shared/declaredFields.ts";
import { type DefinedKind, defineKind } from "../shared/defineKind.ts";
import { fields, listOf, strings } from "../shared/schema.ts";
import { EXPERIMENTAL_VERSIONS, STANDARD_VERSIONS } from "./versions.ts";

const target = { group: Type.String(), kind: Type.String(), name: Type.String(), namespace: Type.String(), port: Type.Integer() };
const parentRef = fields({ ...target, sectionName: Type.String() });
const backendRef = fields({ ...target, weight: Type.Integer() });
const filter = fields({ requestMirror: fields({ backendRef }) });
// Not what requests they are for, nor what is done to their headers: no rule reads that, and values may be secrets.
const rule = fields({ backendRefs: listOf(backendRef), filters: listOf(filter) });
const spec = fields({ parentRefs: listOf(parentRef), hostnames: strings(), rules: listOf(rule) });

function routeKind(kind: string, plural: string, versions: readonly string[]) {
  const [apiVersion = ""] = versions;
  return defineKind({ apiVersion, kind, plural, versions, fields: { spec } }, declaredAlone({ spec }));
}

type RouteKind = ReturnType<typeof routeKind>;
/** A route of the Gateway API, of any kind. */
export type GatewayApiRoute = RouteKind extends DefinedKind<infer R, infer _> ? R : never;

/** Which requests of Gateways, or of callers of a Service, go where. Read only. Source: gateway-api.sigs.k8s.io/reference/spec, HTTPRoute. */
export const HTTPRoute = routeKind("HTTPRoute", "httproutes", STANDARD_VERSIONS);
/** The same of gRPC. Source: as above, GRPCRoute. */
export const GRPCRoute = routeKind("GRPCRoute", "grpcroutes", EXPERIMENTAL_VERSIONS);
/** The same of connections with TLS, by the server name that they ask for. Source: as above, TLSRoute. */
export const TLSRoute = routeKind("TLSRoute", "tlsroutes", EXPERIMENTAL_VERSIONS);
/** The same of connections. Open Service Mesh has a kind of this name too. Source: as above, TCPRoute. */
export const KubernetesTCPRoute = routeKind("TCPRoute", "tcproutes", EXPERIMENTAL_VERSIONS);

/** All of them. */
export const GATEWAY_API_ROUTES: readonly RouteKind[] = [HTTPRoute, GRPCRoute, TLSRoute, KubernetesTCPRoute];
