import { Type } from "@sinclair/typebox";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, listOf, stringMap, strings } from "../shared/schema.ts";
import { durationString } from "./fragments.ts";
import { NETWORKING_VERSIONS } from "./versions.ts";

const tcpKeepalive = fields({ probes: Type.Integer(), time: durationString, interval: durationString });

const connectionPool = fields({
  tcp: fields({
    maxConnections: Type.Integer(),
    connectTimeout: durationString,
    tcpKeepalive,
    maxConnectionDuration: durationString,
    idleTimeout: durationString,
  }),
  http: fields({
    http1MaxPendingRequests: Type.Integer(),
    http2MaxRequests: Type.Integer(),
    maxRequestsPerConnection: Type.Integer(),
    maxRetries: Type.Integer(),
    idleTimeout: durationString,
    h2UpgradePolicy: Type.String(),
    useClientProtocol: Type.Boolean(),
    maxConcurrentStreams: Type.Integer(),
  }),
});

const connectionPolicy = {
  // The last three only users write.
  tls: fields({
    mode: Type.String(),
    sni: Type.String(),
    caCertificates: Type.String(),
    credentialName: Type.String(),
    insecureSkipVerify: Type.Boolean(),
  }),
  outlierDetection: fields({
    consecutive5xxErrors: Type.Integer(),
    consecutiveGatewayErrors: Type.Integer(),
    interval: durationString,
    baseEjectionTime: durationString,
    maxEjectionPercent: Type.Integer(),
    minHealthPercent: Type.Integer(),
  }),
  connectionPool,
  loadBalancer: fields({ localityLbSetting: fields({ enabled: Type.Boolean(), failoverPriority: strings() }) }),
};

const trafficPolicy = fields({
  ...connectionPolicy,
  portLevelSettings: listOf(fields({ port: fields({ number: Type.Integer() }), ...connectionPolicy })),
});

const subset = fields({ name: Type.String(), labels: stringMap(), trafficPolicy });

const destinationRuleSpec = fields({ host: Type.String(), trafficPolicy, subsets: listOf(subset), exportTo: strings() });

/** How connections to a host are made once the route is chosen. Source: istio.io/docs/reference/config/networking/destination-rule. */
export const DestinationRule = defineKind({
  apiVersion: "networking.istio.io/v1",
  kind: "DestinationRule",
  plural: "destinationrules",
  versions: NETWORKING_VERSIONS,
  fields: { spec: destinationRuleSpec },
});
export type DestinationRule = ReturnType<typeof DestinationRule.parse>;

/** How connections to a host are made. */
export type ConnectionPolicy = Value<typeof trafficPolicy>;
/** A named part of a host's endpoints, by their labels. */
export type Subset = Value<typeof subset>;
