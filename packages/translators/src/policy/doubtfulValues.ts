import { type AccessPolicy, type HttpMatcher, nanosecondsOf, type TrafficPolicy, type VirtualMesh } from "@isthmus/api";
import { nearestName } from "@isthmus/core";
import { type Finding, warningFinding } from "../findings.ts";
import { saysNothing } from "./silentRules.ts";

/*
 * Values that are in force as they are written, whatever the mesh, and that hardly anybody means: warnings alone.
 */

/** What is doubtful in a TrafficPolicy of which every field is known. */
export function doubtfulTraffic({ spec }: TrafficPolicy): readonly Finding[] {
  const { httpRequestMatchers = [], policy } = spec ?? {};
  if (policy === undefined || saysNothing(policy)) {
    return [warningFinding("NoEffect", "spec.policy: is empty, so this policy has no effect: set what to apply, such as requestTimeout")];
  }
  return [
    ...httpRequestMatchers.flatMap((matcher, i) => matcherFindings(matcher, `spec.httpRequestMatchers[${i}]`)),
    ...retryFindings(policy),
    ...weightFindings(policy.trafficShift?.destinations ?? []),
    ...repeatedFindings(
      (policy.trafficShift?.destinations ?? []).map(shiftTarget),
      "spec.policy.trafficShift.destinations",
      "it gets both shares: add them up in one entry",
    ),
  ];
}

/** What is doubtful in an AccessPolicy of which every field is known. */
export function doubtfulAccess({ spec }: AccessPolicy): readonly Finding[] {
  const { sourceSelector, destinationSelector = [], allowedMethods = [], allowedPaths = [], allowedPorts = [] } = spec ?? {};
  const isLimited = allowedMethods.length + allowedPaths.length + allowedPorts.length > 0;
  const callee = destinationSelector.length === 0 ? "every destination" : "the selected destinations";
  return [
    // An empty list, or an empty entry, is written on purpose; so is what everybody may do, and nothing else.
    ...(sourceSelector === undefined && !isLimited
      ? [
          warningFinding(
            "AllCallersAllowed",
            `spec.sourceSelector: is missing, so every caller may call ${callee}: name the callers, or write sourceSelector: [{}] if all are meant`,
          ),
        ]
      : []),
    ...allowedMethods.flatMap((method, i) => methodFindings(method, `spec.allowedMethods[${i}]`)),
    ...allowedPaths.flatMap((path, i) => pathFindings(path, `spec.allowedPaths[${i}]`)),
  ];
}

/** What is doubtful in a VirtualMesh. */
export function doubtfulVirtualMesh({ spec }: VirtualMesh): readonly Finding[] {
  const { meshes = [], mtlsConfig } = spec ?? {};
  const { rootCertificateAuthority, intermediateCertOptions } = mtlsConfig?.shared ?? {};
  return [
    ...(meshes.length === 0
      ? [warningFinding("NoEffect", "spec.meshes: is empty, so this VirtualMesh has no effect: name its meshes")]
      : []),
    ...repeatedFindings(
      meshes.map(({ name = "", namespace = "" }) => (name === "" || namespace === "" ? undefined : `${namespace}/${name}`)),
      "spec.meshes",
      "it has no effect: remove it, or name another mesh",
    ),
    ...zeroFindings(rootCertificateAuthority?.generated, "spec.mtlsConfig.shared.rootCertificateAuthority.generated"),
    ...zeroFindings(intermediateCertOptions, "spec.mtlsConfig.shared.intermediateCertOptions"),
  ];
}

/** Entries of a list that are one of the entries before, by what they name; undefined names nothing. */
function repeatedFindings(names: readonly (string | undefined)[], path: string, consequence: string): readonly Finding[] {
  const first = new Map<string, number>();
  return names.flatMap((name, i) => {
    if (name === undefined) return [];
    const before = first.get(name);
    if (before !== undefined)
      return [warningFinding("EntryRepeated", `${path}[${i}]: names the same as entry ${before}, so ${consequence}`)];
    first.set(name, i);
    return [];
  });
}

type ShiftEntry = NonNullable<NonNullable<Rules["trafficShift"]>["destinations"]>[number];

/** What an entry of a shift sends requests to; with headers of its own it is another one. */
function shiftTarget({ kubeService, virtualDestination, options }: ShiftEntry): string | undefined {
  const target = kubeService ?? virtualDestination;
  if (target === undefined || !saysNothing(options ?? {})) return undefined;
  const { name = "", namespace = "", clusterName = "", port = 0, subset = {} } = target as NonNullable<typeof kubeService>;
  const labels = Object.entries(subset).map(([key, value]) => `${key}=${value}`);
  return JSON.stringify([kubeService === undefined, name, namespace, clusterName, port, labels.sort()]);
}

/** Zero stands for the default, as everywhere in the published API. */
function zeroFindings(options: object | undefined, path: string): readonly Finding[] {
  return Object.entries(options ?? {})
    .filter(([, value]) => value === 0)
    .map(([field]) => warningFinding("NoEffect", `${path}.${field}: 0 is ignored (same as not set)`));
}

function matcherFindings({ method, uri }: HttpMatcher, path: string): readonly Finding[] {
  return [
    ...(method === undefined ? [] : methodFindings(method, `${path}.method`)),
    ...(uri?.exact === undefined ? [] : pathFindings(uri.exact, `${path}.uri.exact`)),
    ...(uri?.prefix === undefined ? [] : pathFindings(uri.prefix, `${path}.uri.prefix`)),
  ];
}

function pathFindings(value: string, path: string): readonly Finding[] {
  // The request target of OPTIONS may be `*`, and paths of AccessPolicies may begin with it.
  if (value === "" || value.startsWith("/") || value.startsWith("*")) return [];
  const message = `${path}: no request matches ${JSON.stringify(value)}, because paths begin with a slash: write ${JSON.stringify(`/${value}`)}`;
  return [warningFinding("PathNeverMatches", message)];
}

function methodFindings(value: string, path: string): readonly Finding[] {
  if (value === "" || value.includes("*") || METHODS.has(value)) return [];
  const near = nearestName(value, METHODS);
  const remedy = near === undefined ? "write one such as GET or POST" : `did you mean ${near}?`;
  return [warningFinding("MethodUnknown", `${path}: ${JSON.stringify(value)} is not an HTTP method, so no request matches it: ${remedy}`)];
}

// Source: iana.org/assignments/http-methods, those of RFC 9110 first, and what caches and UPnP use beside them.
const METHODS: ReadonlySet<string> = new Set(
  (
    "GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY LABEL LINK LOCK MERGE MKACTIVITY " +
    "MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE ORDERPATCH PRI PROPFIND PROPPATCH QUERY REBIND REPORT SEARCH UNBIND UNCHECKOUT UNLINK " +
    "UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL BAN PURGE M-SEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE"
  ).split(" "),
);

type Rules = NonNullable<NonNullable<TrafficPolicy["spec"]>["policy"]>;

function retryFindings({ requestTimeout, retries }: Rules): readonly Finding[] {
  const { attempts = 0, perTryTimeout } = retries ?? {};
  const whole = nanosecondsOf(requestTimeout ?? "") ?? 0;
  const each = nanosecondsOf(perTryTimeout ?? "") ?? 0;
  if (whole <= 0 || each <= 0 || attempts <= 0 || attempts * each <= whole) return [];
  const message = `spec.policy.retries: ${attempts} attempts of ${perTryTimeout} do not fit into the requestTimeout of ${requestTimeout}, which ends the last of them: raise requestTimeout, or lower attempts or perTryTimeout`;
  return [warningFinding("RetriesCutShort", message)];
}

// Small weights are plainly shares, such as 1 and 2; larger ones are percentages.
const LARGEST_SHARE = 10;

function weightFindings(destinations: readonly { readonly weight?: number }[]): readonly Finding[] {
  const weights = destinations.map(({ weight = 0 }) => weight);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum === 100 || weights.every((weight) => weight <= LARGEST_SHARE)) return [];
  const path = "spec.policy.trafficShift.destinations";
  const [first = 0, ...others] = weights;
  const message =
    others.length === 0
      ? `${path}[0].weight: ${first} has no effect, because a single destination gets all requests: add a destination for the others, or remove it`
      : `${path}: weights add up to ${sum}, not 100, so they are shares of ${sum}: set weights that add up to 100`;
  return [warningFinding("WeightsUneven", message)];
}
