import { Type } from "@sinclair/typebox";
import type { Value } from "../shared/defineKind.ts";
import { duration } from "../shared/duration.ts";
import { headerManipulationSchema } from "../shared/headerManipulation.ts";
import { httpMatcher } from "../shared/httpMatcher.ts";
import { userClusterObjectRef, userObjectRef } from "../shared/refs.ts";
import { atMostOneOf, int32, listOf, oneOfWords, percentage, port, strings, uint32, userFields } from "../shared/schema.ts";
import { policyDestinationSelector, workloadSelector } from "../shared/selectors.ts";
import { stringMatch } from "../shared/stringMatch.ts";
import { connectionPoolSettingsSchema } from "./connectionPool.ts";
import { weightedDestination } from "./weightedDestination.ts";

/** Which TLS mode clients use. Shared with Settings. */
export const mtlsSchema = userFields(
  {
    istio: userFields({
      tlsMode: oneOfWords(["DISABLE", "SIMPLE", "ISTIO_MUTUAL"], {
        description:
          "ISTIO_MUTUAL: mutual TLS with the certificates of the mesh. SIMPLE: TLS without a client certificate. DISABLE: no TLS. Default: in a " +
          "TrafficPolicy, what the Settings say; in Settings, Istio's auto mTLS in a cluster, ISTIO_MUTUAL between meshes.",
      }),
    }),
  },
  { description: "TLS of connections to the destination." },
);

const trafficShift = userFields(
  {
    destinations: listOf(weightedDestination, {
      description: "Destinations of the traffic, with weights. Empty: the traffic is not shifted.",
      maxItems: 256,
    }),
  },
  { description: "Sends traffic to other destinations instead of the selected one, by weight." },
);

const faultInjection = userFields(
  {
    fixedDelay: duration({
      description: "Delay of requests, at least 1ms; `0s` is no fault, also where a wider policy sets one. Required unless abort is set.",
    }),
    abort: userFields(
      { httpStatus: int32({ description: "HTTP status of the response, 200 to 599. Required." }) },
      { description: "Aborts requests with an HTTP status. Required unless fixedDelay is set." },
    ),
    percentage: percentage({ description: "Percentage of requests. Default: 100." }),
  },
  {
    description: "Delays or aborts requests. Exactly one of `fixedDelay` and `abort`. Default: no fault.",
    ...atMostOneOf("fixedDelay", "abort"),
  },
);

const retries = userFields(
  {
    attempts: int32({ description: "Number of retries. Default: 2 if perTryTimeout is set, else 0." }),
    perTryTimeout: duration({ description: "Timeout of each attempt, at least 1ms. Default: the timeout of the whole request." }),
  },
  { description: "Retries of failed requests. Default: those of Istio." },
);

const corsPolicy = userFields(
  {
    allowOrigins: listOf(stringMatch(), { description: "Allowed origins. Empty: none." }),
    allowMethods: strings({ description: "Allowed methods. Empty: none." }),
    allowHeaders: strings({ description: "Allowed request headers. Empty: none." }),
    exposeHeaders: strings({ description: "Response headers that browsers may access. Empty: none." }),
    maxAge: duration({ description: "How long the response to a preflight request may be cached. Default: browsers decide." }),
    allowCredentials: Type.Boolean({ description: "Whether credentials are allowed. Default: they are not.", keepsZero: true }),
  },
  { description: "Cross-origin resource sharing. Default: nothing is said to browsers." },
);

const mirror = userFields(
  {
    kubeService: userClusterObjectRef({
      description: "Service that receives the mirrored requests. Required unless virtualDestination is set.",
    }),
    virtualDestination: userObjectRef({
      description: "VirtualDestination that receives the mirrored requests, at its port. Required unless kubeService is set.",
    }),
    percentage: percentage({ description: "Percentage of requests. Default: 100." }),
    port: port({ description: "Port of the Service. Required if the Service has several ports." }),
  },
  {
    description: "Mirrors requests to a second service, whose responses are discarded. Default: none are mirrored.",
    ...atMostOneOf("kubeService", "virtualDestination"),
  },
);

const outlierDetection = userFields(
  {
    consecutiveErrors: uint32({ description: "Number of consecutive errors after which an endpoint is ejected. Default: 5." }),
    interval: duration({ description: "Interval between checks. Default: 10s." }),
    baseEjectionTime: duration({ description: "Minimum ejection time of an endpoint. Default: 30s." }),
    maxEjectionPercent: uint32({ description: "Maximum percentage of ejected endpoints. Default: 100.", maximum: 100 }),
  },
  {
    description:
      "Temporarily ejects failing endpoints. Applies to the destination as a whole, regardless of the source selector. Default: no endpoint is ejected.",
  },
);

const csrf = userFields(
  {
    filterEnabled: Type.Boolean({ description: "Rejects requests from other origins with status 403. Default: false." }),
    shadowEnabled: Type.Boolean({
      description: "Only counts requests from other origins. Has no effect if `filterEnabled` is set. Default: false.",
    }),
    percentage: percentage({ description: "Percentage of requests that are checked. Default: 100." }),
    additionalOrigins: listOf(stringMatch(), {
      description:
        "Allowed origins in addition to the destination's own: host and port, without scheme, such as shop.example.com:8443. Empty: none.",
      maxItems: 256,
    }),
  },
  {
    description:
      "Protects the workloads of the destination against cross-site request forgery: POST, PUT, PATCH and DELETE are allowed if the host of the " +
      "Origin header, or else of the Referer header, is the host that is called. Requests without both headers have another origin. Applies " +
      "to all requests to the workloads, regardless of source selector and request matchers. Default: nothing is checked.",
  },
);

/** What a TrafficPolicy does with the traffic that it is for. */
export const trafficPolicyRules = userFields(
  {
    trafficShift,
    faultInjection,
    requestTimeout: duration({
      description: "Timeout of a request, at least 1ms; `0s` is none, also where a wider policy sets one. Default: no timeout.",
    }),
    retries,
    corsPolicy,
    mirror,
    headerManipulation: headerManipulationSchema,
    outlierDetection,
    connectionPoolSettings: connectionPoolSettingsSchema,
    mtls: mtlsSchema,
    csrf,
    rateLimit: userFields({}, { unsupported: "not supported yet, requests are not limited" }),
  },
  { description: "What to apply to the traffic." },
);

export type TrafficPolicyRules = Value<typeof trafficPolicyRules>;

export const trafficPolicySpec = userFields(
  {
    sourceSelector: listOf(workloadSelector, {
      description: "Sources of the traffic: at least one entry must match. Empty: all workloads.",
      maxItems: 256,
    }),
    destinationSelector: listOf(policyDestinationSelector, {
      description: "Destinations of the traffic: at least one entry must match. Empty: all.",
      maxItems: 256,
    }),
    httpRequestMatchers: listOf(httpMatcher, {
      description:
        "Requests: at least one entry must match. Empty: all. Has no effect on outlierDetection, connectionPoolSettings, mtls and csrf.",
      maxItems: 256,
    }),
    policy: trafficPolicyRules,
  },
  { description: "Which traffic the policy selects, and what to apply to it." },
);

export type TrafficPolicySpec = Value<typeof trafficPolicySpec>;
