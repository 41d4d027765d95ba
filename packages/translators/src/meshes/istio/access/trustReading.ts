import type { Mesh } from "@isthmus/api";
import { type Finding, invalidFinding, warningFinding } from "../../../findings.ts";
import type { TrustDomain } from "../../../policy/trustDomain.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { LOCAL_TRUST_DOMAIN } from "./principalPatterns.ts";
import { trustDomainOf } from "./trustDomainOf.ts";

/** How the mesh that enforces a rule tells callers apart: by the trust domains in their identities, some of which it takes for one another. */
export interface TrustReading {
  /** Of the clusters of which callers are named, in key order within each. */
  readonly trustDomains: readonly TrustDomain[];
  /** Trust domain and aliases of the mesh that enforces: in its rules each of them, and `cluster.local`, stands for all of them. */
  readonly own: readonly string[];
  /** Whose callers can come, as a VirtualMesh joins them: the mesh that enforces, and those of its VirtualMesh with trust domains that are named. */
  readonly joined: readonly TrustDomain[];
  /** Those of other meshes with such trust domains: whether their certificates are trusted is not known. */
  readonly elsewhere: readonly TrustDomain[];
  /** Whether callers that cannot be distinguished are let in with those that are named. */
  readonly isSharingAllowed: boolean;
}

/** How the mesh of a Destination reads rules about the callers of `meshes`. */
export function trustReadingOf({ mesh, alikeMeshes, translationContext }: TrustInputs, meshes: readonly Mesh[]): TrustReading {
  const own = trustDomainOf(mesh);
  return {
    trustDomains: meshes.flatMap((one) => trustDomainOf(one) ?? []),
    own: own === undefined ? [] : [own.trustDomain, ...(own.aliases ?? [])],
    joined: [...(own === undefined ? [] : [own]), ...alikeMeshes.joined],
    elsewhere: alikeMeshes.elsewhere,
    isSharingAllowed: isSharingAllowed({ translationContext }),
  };
}

/** The inputs on which that depends. */
export type TrustInputs = Pick<DestinationInputs, "mesh" | "alikeMeshes" | "translationContext">;

/** Whether the Settings let in callers that cannot be distinguished from those that a policy names. */
export function isSharingAllowed({ translationContext: { settings } }: Pick<TrustInputs, "translationContext">): boolean {
  return settings?.spec?.policies?.sharedTrustDomain === "WARN";
}

/**
 * The trust domains that a principal with `trustDomain` lets in. Source: istio.io/istio pilot/pkg/security/trustdomain/bundle.go,
 * ReplaceTrustDomainAliases.
 */
function domainsLetIn(trustDomain: string, own: readonly string[]): readonly string[] {
  return trustDomain === LOCAL_TRUST_DOMAIN || own.includes(trustDomain) ? own : [trustDomain];
}

/** What a principal with the trust domain of one cluster comes to. */
export interface DomainVerdict {
  /** Whether the principal may be written. */
  readonly isSayable: boolean;
  readonly findings: readonly Finding[];
}

/** Judges a principal for callers of `place`, where `named` are all clusters of which these callers are meant; "" stands for every cluster. */
export function domainVerdict(place: TrustDomain, path: string, named: ReadonlySet<string>, reading: TrustReading): DomainVerdict {
  const letIn = domainsLetIn(place.trustDomain, reading.own);
  if (!letIn.includes(place.trustDomain)) return pointsElsewhere(place, path, { named, reading });
  const others = (places: readonly TrustDomain[]) =>
    named.has("") ? [] : places.filter(({ trustDomain, clusterName }) => letIn.includes(trustDomain) && !named.has(clusterName));
  const [joined, elsewhere] = [others(reading.joined), others(reading.elsewhere)];
  if (joined.length > 0 && !reading.isSharingAllowed) return { isSayable: false, findings: [refused(place, path, joined)] };
  const findings = [
    ...(joined.length === 0 ? [] : [letInToo(place, path, joined)]),
    ...(elsewhere.length === 0 ? [] : [mayBeLetIn(place, path, elsewhere)]),
  ];
  return { isSayable: true, findings };
}

/** `cluster.local`, for a mesh that takes it for its own: callers of `place` are not let in, and its own are. */
function pointsElsewhere(
  { clusterName }: TrustDomain,
  path: string,
  { named, reading }: { readonly named: ReadonlySet<string>; readonly reading: TrustReading },
): DomainVerdict {
  const [own = "unknown"] = reading.own;
  const reason = `callers of cluster ${clusterName} are not allowed, because its mesh has trust domain ${LOCAL_TRUST_DOMAIN}, which the mesh of the selected destination, with trust domain ${own}, takes for its own`;
  const message = `${path}: ${reason}: set another trustDomain in the mesh configuration of ${clusterName}`;
  // Of every cluster: the others are let in.
  if (named.has("")) return { isSayable: true, findings: [warningFinding("TrustDomainLocal", message)] };
  return { isSayable: false, findings: [invalidFinding("TrustDomainLocal", message)] };
}

function refused(place: TrustDomain, path: string, others: readonly TrustDomain[]): Finding {
  return invalidFinding(
    "TrustDomainShared",
    `${path}: ${cannotTell(place, others)}, so callers of ${place.clusterName} are not allowed: name all of these clusters, ${tellApart(place, others)}, or set policies.sharedTrustDomain: WARN in the Settings to allow them all`,
  );
}

function letInToo(place: TrustDomain, path: string, others: readonly TrustDomain[]): Finding {
  return warningFinding("TrustDomainShared", `${path}: ${cannotTell(place, others)}, so they are allowed too: ${tellApart(place, others)}`);
}

function mayBeLetIn(place: TrustDomain, path: string, others: readonly TrustDomain[]): Finding {
  return warningFinding(
    "TrustDomainShared",
    `${path}: ${cannotTell(place, others)}: if their meshes trust the same root certificate, they are allowed too, although no VirtualMesh joins them: ${tellApart(place, others)}`,
  );
}

function cannotTell(place: TrustDomain, others: readonly TrustDomain[]): string {
  const { clusterName, trustDomain } = place;
  const domains = new Set([trustDomain, ...others.map((other) => other.trustDomain)]);
  const reason = areEqual(place, others)
    ? `both have trust domain ${trustDomain}`
    : `the mesh of the selected destination takes trust domains ${[...domains].join(" and ")} for one another`;
  return `Istio cannot tell callers of cluster ${clusterName} from those of ${clustersOf(others)}, as ${reason}`;
}

function tellApart(place: TrustDomain, others: readonly TrustDomain[]): string {
  return areEqual(place, others)
    ? "set a different trustDomain in the mesh configuration of each"
    : "remove trustDomainAliases from the mesh configuration of the selected destination";
}

function areEqual({ trustDomain }: TrustDomain, others: readonly TrustDomain[]): boolean {
  return others.every((other) => other.trustDomain === trustDomain);
}

const MOST_NAMED = 3;

function clustersOf(places: readonly TrustDomain[]): string {
  const clusters = [...new Set(places.map(({ clusterName }) => clusterName))].sort();
  const more = clusters.length - MOST_NAMED;
  return `${clusters.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
