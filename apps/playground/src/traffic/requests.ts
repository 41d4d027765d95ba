import type { HttpRoute } from "@isthmus/api";
import type { LoggedFlag } from "@isthmus/dataplane";
import type { Counted, CountedLabels } from "./counters.ts";
import type { TrafficEffect } from "./effect.ts";
import type { MeshProxy } from "./proxies.ts";
import { weighted } from "./random.ts";
import { type Asked, millisOf, routeFor } from "./routes.ts";
import { behaviourOf } from "./services.ts";

/** What came of a request, as its caller sees it. */
export interface RequestOutcome {
  readonly status: number;
  readonly ms: number;
  /** As Envoy calls it. */
  readonly details: string;
  readonly flags: readonly LoggedFlag[];
  /** The pod that answered, or should have. */
  readonly called: MeshProxy | undefined;
  /** The host that was called in the end: another one than was asked for where a policy shifts traffic. */
  readonly host: string;
}

/** One request, as one of its two proxies saw it. */
export interface Seen {
  readonly by: MeshProxy;
  readonly side: "source" | "destination";
  readonly caller: MeshProxy;
  readonly asked: Asked;
  readonly outcome: RequestOutcome;
  readonly counted: Counted;
  readonly labels: CountedLabels;
}

export interface RequestOptions {
  readonly effect: () => TrafficEffect;
  /** Whether two proxies accept each other's certificate. */
  readonly isMutual: (one: MeshProxy, other: MeshProxy) => boolean;
  readonly random: () => number;
  /** Whether a pod has room for one more request now. */
  readonly hasRoom: (called: MeshProxy) => boolean;
  readonly seen: (seen: Seen) => void;
}

/** Sends requests through simulated proxies: nothing waits, durations are computed. */
export interface Requests {
  /** Undefined: the caller's mesh has no such host, and no proxy counts anything. */
  send(caller: MeshProxy, asked: Asked): RequestOutcome | undefined;
}

/** Reports each request to `seen` once for the proxy of each end that it reached. `hasRoom` is asked once for each try that arrives. */
export function requestSimulation(options: RequestOptions): Requests {
  const { effect, isMutual, random, hasRoom, seen } = options;

  function send(caller: MeshProxy, asked: Asked): RequestOutcome | undefined {
    const known = effect().host(caller.cluster, asked.host);
    if (known === undefined) return undefined;
    const route = routeFor(effect().virtualService(caller.cluster, asked.host), asked, caller);
    const outcome = route === "none" ? nobody(asked, 404, "route_not_found", ["noRouteFound"]) : routed(caller, asked, route);
    if (outcome !== undefined) report("source", caller, asked, outcome);
    return outcome;
  }

  function routed(caller: MeshProxy, asked: Asked, route: HttpRoute | undefined): RequestOutcome | undefined {
    const { abort, delay } = route?.fault ?? {};
    const delayMs = happens(delay?.percentage?.value, delay) ? (millisOf(delay?.fixedDelay) ?? 0) : 0;
    if (happens(abort?.percentage?.value, abort))
      return { ...nobody(asked, abort?.httpStatus ?? 500, "fault_filter_abort", ["faultInjected"]), ms: delayMs + 1 };
    const target = targetOf(asked, route);
    const { attempts = DEFAULT_RETRIES, perTryTimeout, retryOn } = route?.retries ?? {};
    const [most, perTry] = [millisOf(route?.timeout) || undefined, millisOf(perTryTimeout) || undefined];
    let [ms, last]: [number, RequestOutcome | undefined] = [delayMs, undefined];
    for (let tries = 0; tries <= attempts; tries++) {
      last = within(perTry, tried(caller, asked, target), "response_timeout");
      if (last === undefined) return undefined;
      ms += last.ms;
      if (!isRetried(last, retryOn)) break;
    }
    return last && within(most, { ...last, ms }, "response_timeout");
  }

  function happens(percent: number | undefined, fault: object | undefined): boolean {
    return fault !== undefined && random() * 100 < (percent ?? 100);
  }

  /** The host and subset of one of the route's shares. */
  function targetOf(asked: Asked, route: HttpRoute | undefined): { readonly host: string; readonly subset: string } {
    const { destination } = weighted(route?.route ?? [], ({ weight = 100 }) => weight, random) ?? {};
    return { host: destination?.host ?? asked.host, subset: destination?.subset ?? "" };
  }

  /** One try. The first tier with a ready pod answers. */
  function tried(caller: MeshProxy, asked: Asked, { host, subset }: ReturnType<typeof targetOf>): RequestOutcome | undefined {
    const { legs = [] } = effect().host(caller.cluster, asked.host) ?? {};
    const leg = legs.find((one) => one.host === host && one.subset === subset);
    for (const tier of leg?.tiers ?? []) {
      const pods = [...tier.keys()].flatMap((cluster) => effect().podsBehind({ caller: caller.cluster, host, subset, cluster }));
      const called = pods[Math.floor(random() * pods.length)];
      if (called !== undefined) return answered(caller, { ...asked, host }, called);
    }
    return { ...nobody(asked, 503, "no_healthy_upstream", ["noHealthyUpstream"]), host };
  }

  function answered(caller: MeshProxy, asked: Asked, called: MeshProxy): RequestOutcome | undefined {
    if (!isMutual(caller, called)) {
      return {
        ...nobody(asked, 503, "upstream_reset_before_response_started{connection_failure|TLS_error}", ["upstreamConnectionFailure"]),
        host: asked.host,
      };
    }
    const isAllowed = effect().isAllowed(caller, called, asked);
    if (isAllowed === undefined) return undefined;
    const wayMs = caller.cluster === called.cluster ? 0.6 : BETWEEN_REGIONS_MS;
    const about = { called, host: asked.host };
    const outcome: RequestOutcome = isAllowed
      ? { ...about, ...served(called) }
      : { ...about, status: 403, ms: 0.3, details: "rbac_access_denied_matched_policy[none]", flags: [] };
    report("destination", caller, asked, outcome);
    return { ...outcome, ms: outcome.ms + wayMs };
  }

  /** What the program behind the proxy does. Bookinfo's answer even where what they ask for fails. */
  function served(called: MeshProxy): Pick<RequestOutcome, "status" | "ms" | "details" | "flags"> {
    const { medianMs, errors, slow, calls } = behaviourOf(called);
    if (!hasRoom(called)) return { status: 503, ms: 0.4, details: "overflow", flags: ["upstreamOverflow"] };
    const own = medianMs * Math.exp(SPREAD * gaussian(random)) * (random() < slow ? 20 : 1);
    const waited = calls.reduce(
      (ms, host) => ms + (send(called, { host, port: 9080, method: "GET", path: pathOf(host), headers: {} })?.ms ?? 0),
      0,
    );
    return { status: random() < errors ? 500 : 200, ms: own + waited, details: "via_upstream", flags: [] };
  }

  function report(side: Seen["side"], caller: MeshProxy, asked: Asked, outcome: RequestOutcome): void {
    const by = side === "source" ? caller : outcome.called;
    if (by === undefined) return;
    const failed = outcome.status >= 400;
    const counted = { ms: outcome.ms, requestBytes: 420, responseBytes: failed ? 90 : 1_600 + Math.floor(random() * 3_000) };
    seen({ by, side, caller, asked, outcome, counted, labels: labelsOf(side, caller, outcome) });
  }

  function labelsOf(reporter: Seen["side"], caller: MeshProxy, { called, host, status, flags }: RequestOutcome): CountedLabels {
    const service = effect().serviceOf(caller.cluster, host);
    const isOwn = service?.cluster === caller.cluster || reporter === "destination";
    return {
      reporter,
      source_workload: caller.workload,
      source_workload_namespace: caller.namespace,
      source_cluster: caller.cluster,
      // Senders call what a ServiceEntry is for as its host, in the namespace of that object.
      destination_service_name: isOwn ? (service?.name ?? host) : host,
      destination_service_namespace: isOwn
        ? (service?.namespace ?? "unknown")
        : (effect().entryNamespace(caller.cluster, host) ?? "unknown"),
      destination_workload: called?.workload ?? "unknown",
      destination_workload_namespace: called?.namespace ?? "unknown",
      destination_cluster: called?.cluster ?? "unknown",
      response_code: String(status),
      response_flags: flags.length === 0 ? "-" : flags.join("-"),
    };
  }

  return { send };
}

function nobody({ host }: Asked, status: number, details: string, flags: readonly LoggedFlag[]): RequestOutcome {
  return { status, ms: 0.2, details, flags, called: undefined, host };
}

function within(mostMs: number | undefined, outcome: RequestOutcome | undefined, details: string): RequestOutcome | undefined {
  if (outcome === undefined || mostMs === undefined || outcome.ms <= mostMs) return outcome;
  return { ...outcome, status: 504, ms: mostMs, details, flags: ["upstreamRequestTimeout"] };
}

function isRetried({ status, flags }: RequestOutcome, retryOn = DEFAULT_RETRY_ON): boolean {
  if (status < 500 || flags.includes("faultInjected")) return false;
  const reasons = retryOn.split(",");
  if (reasons.includes("5xx") || (reasons.includes("gateway-error") && status > 501 && status < 505)) return true;
  return reasons.includes(String(status)) || (status === 503 && reasons.includes("unavailable"));
}

// Source: istio.io/docs/reference/config/networking/virtual-service, HTTPRetry.
const DEFAULT_RETRIES = 2;
const DEFAULT_RETRY_ON = "connect-failure,refused-stream,unavailable,cancelled,503";
/** There and back. */
const BETWEEN_REGIONS_MS = 38;
// Of the logarithm: a tenth of the requests takes half as long again.
const SPREAD = 0.35;

function pathOf(host: string): string {
  return `/${host.slice(0, host.indexOf("."))}/0`;
}

/** Source: Box and Muller, "A Note on the Generation of Random Normal Deviates" (1958). */
function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
