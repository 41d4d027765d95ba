import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, listOf, mapOf, stringMap, strings } from "../shared/schema.ts";
import { durationString, istioStringMatch, percent } from "./fragments.ts";
import { NETWORKING_VERSIONS } from "./versions.ts";

const destination = fields({ host: Type.String(), subset: Type.String(), port: fields({ number: Type.Integer() }) });

const headerOperations = fields({ add: stringMap(), set: stringMap(), remove: strings() });
const headers = fields({ request: headerOperations, response: headerOperations });

const match = fields({
  name: Type.String(),
  uri: istioStringMatch,
  method: istioStringMatch,
  headers: mapOf(istioStringMatch),
  withoutHeaders: mapOf(istioStringMatch),
  queryParams: mapOf(istioStringMatch),
  ignoreUriCase: Type.Boolean(),
  port: Type.Integer(),
  sourceLabels: stringMap(),
  sourceNamespace: Type.String(),
  gateways: strings(),
});

const httpRoute = fields({
  name: Type.String(),
  match: listOf(match),
  route: listOf(fields({ destination, weight: Type.Integer(), headers })),
  timeout: durationString,
  retries: fields({ attempts: Type.Integer(), perTryTimeout: durationString, retryOn: Type.String() }),
  fault: fields({
    delay: fields({ fixedDelay: durationString, percentage: percent }),
    abort: fields({ httpStatus: Type.Integer(), percentage: percent }),
  }),
  mirror: destination,
  mirrorPercentage: percent,
  corsPolicy: fields({
    allowOrigins: listOf(istioStringMatch),
    allowMethods: strings(),
    allowHeaders: strings(),
    exposeHeaders: strings(),
    maxAge: durationString,
    allowCredentials: Type.Boolean(),
  }),
  headers,
});

/** A route of connections, by their port or the server name that they ask for. */
const connectionRoute = fields({
  match: listOf(
    fields({
      port: Type.Integer(),
      sniHosts: strings(),
      sourceLabels: stringMap(),
      sourceNamespace: Type.String(),
      gateways: strings(),
    }),
  ),
  route: listOf(fields({ destination, weight: Type.Integer() })),
});

/** How requests for hosts are routed. Source: istio.io/docs/reference/config/networking/virtual-service. */
export const VirtualService = defineKind({
  apiVersion: "networking.istio.io/v1",
  kind: "VirtualService",
  plural: "virtualservices",
  versions: NETWORKING_VERSIONS,
  fields: {
    spec: fields({
      hosts: strings(),
      gateways: strings(),
      exportTo: strings(),
      http: listOf(httpRoute),
      tls: listOf(connectionRoute),
      tcp: listOf(connectionRoute),
    }),
  },
});
export type VirtualService = ReturnType<typeof VirtualService.parse>;

/** One route of connections of a VirtualService: the first whose matches hold is taken. */
export type ConnectionRoute = Value<typeof connectionRoute>;
/** One route of a VirtualService: the first whose matches hold is taken. */
export type HttpRoute = Value<typeof httpRoute>;
/** What requests a route is for: everything that is given must hold. */
export type HttpMatchRequest = Value<typeof match>;
