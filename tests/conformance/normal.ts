import { nanosecondsOf } from "@isthmus/api";

/** Where a value is: an object's kind and the fields down to it, list positions as numbers. */
export interface Place {
  readonly kind: string;
  readonly path: readonly (string | number)[];
}

// The words that proto enums have as their zero value, which may be left out. `**` stands for any fields.
const ZERO_WORDS: readonly (readonly [kind: string, field: string, word: string])[] = [
  ["DestinationRule", "tls.mode", "DISABLE"],
  ["Gateway", "tls.mode", "PASSTHROUGH"],
  ["AuthorizationPolicy", "spec.action", "ALLOW"],
  ["ServiceEntry", "spec.location", "MESH_EXTERNAL"],
  ["ServiceEntry", "spec.resolution", "NONE"],
  ["Destination", "kubeService.serviceType", "CLUSTER_IP"],
  ["", "state", "PENDING"],
];

// Fields of a status that the published API has; what else we say is an addition.
const STATUS_FIELDS = new Set([
  "observedGeneration",
  "state",
  "errors",
  "destinations",
  "workloads",
  "meshes",
  "appliedTrafficPolicies",
  "appliedAccessPolicies",
  "localFqdn",
  "appliedFederation",
  "requiredSubsets",
  "appliedVirtualMesh",
  "appliedEastWestIngressGateways",
  "appliedVirtualDestinations",
]);
const APPROVAL_FIELDS = new Set(["acceptanceOrder", "state", "errors"]);

/**
 * A value in the form that is compared: without zero values, errors only as being there, JSON in annotations read, without the
 * fields that are not compared. Undefined for a zero value.
 */
export function normal(value: unknown, place: Place): unknown {
  const field = place.path.at(-1);
  if (field === "errors" || field === "error") return isZero(value) ? undefined : "some";
  // In force with something to know: the published API has no such state.
  if (field === "state" && value === "WARNING") return "ACCEPTED";
  if (typeof value === "string" && isZeroWord(value, place)) return undefined;
  if (field === "parents.networking.mesh.gloo.solo.io" && typeof value === "string") return sortedParents(value);
  if (Array.isArray(value)) {
    // Zero values in a list count: they have a position.
    const elements = value.map((element, i) => normal(element, { ...place, path: [...place.path, i] }) ?? element);
    return elements.length === 0 ? undefined : elements;
  }
  if (typeof value === "object" && value !== null) return normalObject(value, place);
  return isZero(value) ? undefined : value;
}

function normalObject(value: object, place: Place): unknown {
  const entries = Object.entries(value)
    .filter(([field]) => isCompared(field, place))
    .map(([field, member]) => [field, normal(member, { ...place, path: [...place.path, field] })] as const)
    .filter(([, member]) => member !== undefined);
  // An empty message that is set means something, an empty map of names does not.
  const isMap = ["labels", "annotations", "metadata", "status"].includes(String(place.path.at(-1)));
  return entries.length === 0 && isMap ? undefined : Object.fromEntries(entries);
}

function isCompared(field: string, { path }: Place): boolean {
  if (path.length === 1 && path[0] === "status") return STATUS_FIELDS.has(field);
  if (path.length === 3 && path[0] === "status" && (path[1] === "destinations" || path[1] === "meshes")) return APPROVAL_FIELDS.has(field);
  // Two versions of the published product differ here.
  return !(field === "workloadLabels" && path.includes("ingressGateways"));
}

function isZero(value: unknown): boolean {
  return (
    value === undefined || value === null || value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0)
  );
}

function isZeroWord(value: string, { kind, path }: Place): boolean {
  const field = path.join(".");
  return ZERO_WORDS.some(
    ([ofKind, suffix, word]) => value === word && (ofKind === "" || ofKind === kind) && `.${field}`.endsWith(`.${suffix}`),
  );
}

/** Parents by type; each list as a set. */
function sortedParents(json: string): unknown {
  const byType = Object.entries(JSON.parse(json) as Readonly<Record<string, readonly object[]>>);
  return Object.fromEntries(byType.map(([type, refs]) => [type, refs.map((ref) => JSON.stringify(Object.entries(ref).sort())).sort()]));
}

/** Whether two texts are one duration in two spellings. */
export function isSameDuration(a: unknown, b: unknown): boolean {
  if (typeof a !== "string" || typeof b !== "string") return false;
  const left = nanosecondsOf(a);
  return left !== undefined && left === nanosecondsOf(b);
}
