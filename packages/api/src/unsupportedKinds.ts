import { groupOf, nearestName } from "@isthmus/core";
import { allKinds } from "./roles.ts";
import { MADE_BY_DISCOVERY, UNSUPPORTED_KINDS } from "./unsupportedKindTable.ts";

/** Why an object of a kind or version that `kindOf` does not know is refused or left out. */
export interface UnsupportedKind {
  /** Whether it is of an API of ours: then somebody expects an effect of it. */
  readonly isOurs: boolean;
  /** What to write instead, where that is known. */
  readonly message: string;
}

/** Says what is to be known of a kind or version that `kindOf` does not know. */
export function unsupportedKind({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): UnsupportedKind {
  const group = groupOf(apiVersion);
  if (isInternal(group))
    return { isOurs: false, message: "translation does not use this kind, which is created by a management plane, not by users" };
  const isOurs = isOurGroup(group) || (!apiVersion.includes("/") && ourKinds().has(kind));
  if (!isOurs) return { isOurs, message: otherVersion(apiVersion, kind) ?? "translation does not use this kind" };
  const known = allKinds().some(({ kind: name, versions }) => name === kind && groupOf(versions[0] ?? "") === group);
  const instead = (known ? undefined : successor(group, kind)) ?? otherVersion(apiVersion, kind) ?? nearMiss(apiVersion, kind);
  return { isOurs, message: instead ?? `${kind} is not a kind of ${group}: supported kinds are ${namesIn(group)}` };
}

/** Groups of the Gloo Mesh APIs, of all generations. Source: the group names of their CRDs, specs/networking §1. */
function isOurGroup(group: string): boolean {
  if (GATEWAY_GROUPS.has(group)) return false;
  return group === "multicluster.solo.io" || EARLIER_GROUPS.has(group) || OUR_SUFFIXES.some((suffix) => group.endsWith(suffix));
}

// Without a prefix as well: a bare `gloo.solo.io` is Gloo Gateway's.
const EARLIER_GROUPS: ReadonlySet<string> = new Set(["smh.solo.io", "zephyr.solo.io"]);
const OUR_SUFFIXES = [".gloo.solo.io", ".smh.solo.io", ".zephyr.solo.io"];
// Of Gloo Gateway, another product. Source: its CRDs.
const GATEWAY_GROUPS: ReadonlySet<string> = new Set(["enterprise.gloo.solo.io", "graphql.gloo.solo.io"]);

/** What the published product's own parts write for each other, and a dump of a cluster holds. */
function isInternal(group: string): boolean {
  return group.startsWith("xds.agent.") || group === "internal.gloo.solo.io";
}

/** What does the same as a kind of an earlier or later generation in this API. */
function successor(group: string, kind: string): string | undefined {
  const row = UNSUPPORTED_KINDS.find(({ group: name }) => (name.startsWith(".") ? `.${group}`.endsWith(name) : group === name));
  // The groups of this generation end as those of the next one do.
  if (row === undefined || (row.group === ".gloo.solo.io" && group.endsWith(".mesh.gloo.solo.io"))) return undefined;
  const { belongsTo, kinds } = row;
  const found = Object.hasOwn(kinds, kind) ? kinds[kind] : kinds["*"];
  if (belongsTo === undefined) return found;
  return `${belongsTo}${found?.startsWith(MADE_BY_DISCOVERY) === true ? ", and" : ":"} ${found ?? inV1(kind)}`;
}

function inV1(kind: string): string {
  const versions = versionsOf(kind);
  return versions.length === 0
    ? "use TrafficPolicy, AccessPolicy or VirtualMesh of networking.mesh.gloo.solo.io/v1"
    : `use ${kind} of ${versions.join(" or ")}`;
}

function otherVersion(apiVersion: string, kind: string): string | undefined {
  const versions = versionsOf(kind);
  return versions.length === 0 ? undefined : `the supported version of ${kind} is ${versions.join(" or ")}, not ${apiVersion}`;
}

function versionsOf(kind: string): readonly string[] {
  return allKinds().flatMap((known) => (known.kind === kind ? known.versions : []));
}

function nearMiss(apiVersion: string, kind: string): string | undefined {
  const near = nearestName(kind, ourKinds());
  const [version] = near === undefined ? [] : versionsOf(near);
  return near === undefined ? undefined : `${kind} is not a kind of ${groupOf(apiVersion)}: did you mean ${near} (${version ?? ""})?`;
}

/** Kinds of ours that people write. */
function ourKinds(): ReadonlySet<string> {
  return new Set(allKinds().flatMap(({ kind, versions }) => (isOurGroup(groupOf(versions[0] ?? "")) ? [kind] : [])));
}

function namesIn(group: string): string {
  const names = allKinds().flatMap(({ kind, versions }) => (groupOf(versions[0] ?? "") === group ? [kind] : []));
  return names.length === 0 ? "none" : names.join(", ");
}
