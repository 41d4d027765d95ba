import { Type } from "@sinclair/typebox";
import type { Value } from "../shared/defineKind.ts";
import { duration } from "../shared/duration.ts";
import { headerManipulation } from "../shared/headerManipulation.ts";
import { httpMatcher } from "../shared/httpMatcher.ts";
import { userClusterObjectRef } from "../shared/refs.ts";
import { atMostOneOf, int32, listOf, oneOfWords, percentage, port, strings, uint32, userFields } from "../shared/schema.ts";
import { destinationSelector, workloadSelector } from "../shared/selectors.ts";
import { stringMatch } from "../shared/stringMatch.ts";
import { connectionPoolSettings } from "./connectionPool.ts";
import { weightedDestination } from "./weightedDestination.ts";

/** Which TLS mode clients use. Shared with Settings. */
export const mtls = userFields(
  {
    istio: userFields({
      tlsMode: oneOfWords(["DISABLE", "SIMPLE", "ISTIO_MUTUAL"], {
        description:
          "ISTIO_MUTUAL: mutual TLS with the mesh's certificates. SIMPLE: TLS of the client's making. DISABLE, the default: none.",
      }),
    }),
  },
  { description: "TLS of connections to the destination." },
);

const trafficShift = userFields(
  { destinations: listOf(weightedDestination, { description: "Where traffic goes, by weight.", maxItems: 256 }) },
  { description: "Sends traffic somewhere else than to the destination itself, by weight." },
);

const faultInjection = userFields(
  {
    fixedDelay: duration({ description: "Requests wait this long, at least 1ms." }),
    abort: userFields(
      { httpStatus: int32({ description: "HTTP status of the answer, 200 to 599." }) },
      { description: "Requests are answered at once with a status." },
    ),
    percentage: percentage({ description: "Share of requests. Omitted: 100." }),
  },
  { description: "Delays or aborts requests. Exactly one of `fixedDelay` and `abort`.", ...atMostOneOf("fixedDelay", "abort") },
);

const retries = userFields(
  {
    attempts: int32({ description: "Number of retries. Omitted beside perTryTimeout: 2." }),
    perTryTimeout: duration({ description: "Time for each attempt, at least 1ms. Omitted: the timeout of the whole request." }),
  },
  { description: "Retries of failed requests." },
);

const corsPolicy = userFields(
  {
    allowOrigins: listOf(stringMatch(), { description: "Origins that are allowed." }),
    allowMethods: strings({ description: "Methods that are allowed." }),
    allowHeaders: strings({ description: "Request headers that are allowed." }),
    exposeHeaders: strings({ description: "Response headers that browsers may read." }),
    maxAge: duration({ description: "How long the answer to a preflight request may be kept." }),
    allowCredentials: Type.Boolean({ description: "Whether credentials may be sent.", keepsZero: true }),
  },
  { description: "Cross-origin resource sharing." },
);

const mirror = userFields(
  {
    kubeService: userClusterObjectRef({ description: "The Service that gets a copy of each request." }),
    percentage: percentage({ description: "Share of requests. Omitted: 100." }),
    port: port({ description: "Port of the Service. Needed when it has several." }),
  },
  { description: "Sends a copy of requests to a second service, whose answers are thrown away." },
);

const outlierDetection = userFields(
  {
    consecutiveErrors: uint32({ description: "Errors in a row after which an endpoint is ejected. Default 5." }),
    interval: duration({ description: "Time between two looks. Default 10s." }),
    baseEjectionTime: duration({ description: "Shortest time that an endpoint stays out. Default 30s." }),
    maxEjectionPercent: uint32({ description: "Greatest share of endpoints that may be out, in percent. Default 100.", maximum: 100 }),
  },
  { description: "Takes failing endpoints out for a while. It is about the destination as a whole, whatever the source selector says." },
);

const csrf = userFields(
  {
    filterEnabled: Type.Boolean({ description: "Requests of other origins are answered with 403." }),
    shadowEnabled: Type.Boolean({ description: "Requests of other origins are only counted. Without effect beside `filterEnabled`." }),
    percentage: percentage({ description: "Share of requests that are looked at. Omitted: 100." }),
    additionalOrigins: listOf(stringMatch(), {
      description: "Origins that are let in beside the destination's own: host and port, without scheme, such as shop.example.com:8443.",
      maxItems: 256,
    }),
  },
  {
    description:
      "Protects the destination's workloads against cross-site request forgery: POST, PUT, PATCH and DELETE are let in when the Origin, or " +
      "else the Referer, is of the host that is called. Requests that have neither, as those of programs, are of another origin. It is " +
      "about all requests to the workloads, whatever source selector and request matchers say.",
  },
);

/** What a TrafficPolicy does with the traffic that it is for. */
export const trafficPolicyRules = userFields(
  {
    trafficShift,
    faultInjection,
    requestTimeout: duration({ description: "Time within which a request must be answered, at least 1ms." }),
    retries,
    corsPolicy,
    mirror,
    headerManipulation,
    outlierDetection,
    connectionPoolSettings,
    mtls,
    csrf,
    rateLimit: userFields({}, { unsupported: "not supported yet, requests are not limited" }),
  },
  { description: "What happens with the traffic." },
);

export type TrafficPolicyRules = Value<typeof trafficPolicyRules>;

export const trafficPolicySpec = userFields(
  {
    sourceSelector: listOf(workloadSelector, {
      description: "Whose traffic: an entry must match. Empty: every workload's.",
      maxItems: 256,
    }),
    destinationSelector: listOf(destinationSelector, {
      description: "Traffic to which destinations: an entry must match. Empty: all.",
      maxItems: 256,
    }),
    httpRequestMatchers: listOf(httpMatcher, {
      description:
        "Which requests: an entry must match. Empty: all. Without effect on outlierDetection, connectionPoolSettings, mtls and csrf.",
      maxItems: 256,
    }),
    policy: trafficPolicyRules,
  },
  { description: "Which traffic, and what happens with it." },
);

export type TrafficPolicySpec = Value<typeof trafficPolicySpec>;
