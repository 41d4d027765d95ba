import { AuthorizationPolicy, DestinationRule, KubernetesCluster, ServiceEntry, VirtualService } from "@isthmus/api";
import { formatRef, type Index, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { networkingOwner } from "@isthmus/translators";
import { shellCommand } from "../insight.ts";
import { defineRule, lookUpPart, type RuleFinding } from "../rule.ts";
import { isRegistration } from "./registrations.ts";

type Comparison = NonNullable<NonNullable<KubernetesCluster["status"]>["comparison"]>;

function comparisonOf(
  { status, metadata }: KubernetesCluster,
  number: keyof Comparison,
): { readonly count: number; readonly where: string } {
  const { [number]: count, mode } = status?.comparison ?? {};
  return { count: typeof count === "number" ? count : 0, where: `in ${metadata.name}, whose mode is ${mode ?? "not known"}` };
}

function look(cluster: string, text: string): RuleFinding["remedy"] {
  return { text, command: shellCommand("meshctl", "cluster", "describe", cluster) };
}

/** CFG1014, of clusters in which not everything may be written: elsewhere it is restored, or its writer is named by REL1005. */
export const generatedObjectsDiffer = defineRule({
  code: "CFG1014",
  of: KubernetesCluster,
  reads: {},
  *find(cluster, { context }) {
    const { count, where } = comparisonOf(cluster, "wouldChange");
    if (count === 0 || !isRegistration(cluster, context.namespace)) return;
    yield {
      field: "status.comparison.wouldChange",
      message: `${objects(count)} ${where}, ${count === 1 ? "differs" : "differ"} from what is desired: mode manage would restore ${count === 1 ? "it" : "them"}`,
      remedy: look(cluster.metadata.name, "see what differs, and set spec.mode to manage when it may be restored"),
    };
  },
});

/** FED1010, of the same clusters. */
export const generatedObjectsOrphaned = defineRule({
  code: "FED1010",
  of: KubernetesCluster,
  reads: {},
  *find(cluster, { context }) {
    const { count, where } = comparisonOf(cluster, "wouldDelete");
    if (count === 0 || !isRegistration(cluster, context.namespace)) return;
    yield {
      field: "status.comparison.wouldDelete",
      message: `${objects(count)} ${where}, ${count === 1 ? "is" : "are"} in force and follow${count === 1 ? "s" : ""} from nothing any more: mode manage would delete ${count === 1 ? "it" : "them"}`,
      remedy: look(cluster.metadata.name, "see which they are, and set spec.mode to manage when they may go"),
    };
  },
});

function objects(count: number): string {
  return count === 1 ? "1 generated object" : `${count} generated objects`;
}

const OWNER_LABEL = networkingOwner("").label;
/** On what Gloo Mesh 2 writes. Source: the objects that its labs print. */
const PLATFORM_LABEL = "owner.gloo.solo.io/name";

interface Marked {
  readonly ref: ResourceRef;
  /** Namespace of the plane; undefined: one of the other make. */
  readonly planeNamespace: string | undefined;
}

const markedIn: Index<Resource> = ({ metadata: { labels = {}, clusterName = "" } }) =>
  labels[OWNER_LABEL] === undefined && labels[PLATFORM_LABEL] === undefined ? [] : [clusterName];
const ownCluster: Index<KubernetesCluster> = ({ metadata }) => [metadata.name];
const marked = (object: Resource): Marked => ({ ref: refOf(object), planeNamespace: object.metadata.labels?.[OWNER_LABEL] });
const part = { key: ownCluster, index: markedIn, select: marked };

const SHOWN = 3;

/** CFG1015. */
export const twoPlanesWrite = defineRule({
  code: "CFG1015",
  of: KubernetesCluster,
  reads: {
    virtualServices: lookUpPart(VirtualService, part),
    destinationRules: lookUpPart(DestinationRule, part),
    serviceEntries: lookUpPart(ServiceEntry, part),
    authorizationPolicies: lookUpPart(AuthorizationPolicy, part),
  },
  *find(cluster, { context, lookup }) {
    const { spec, metadata } = cluster;
    // Where nothing of ours is written, no object has two writers.
    if (!isRegistration(cluster, context.namespace) || (spec?.mode ?? "manage") !== "manage") return;
    const all = [
      ...lookup("virtualServices"),
      ...lookup("destinationRules"),
      ...lookup("serviceEntries"),
      ...lookup("authorizationPolicies"),
    ].filter(({ planeNamespace }) => planeNamespace !== context.namespace);
    const [first] = all;
    if (first === undefined) return;
    const planes = [...new Set(all.map(({ planeNamespace: one }) => (one === undefined ? "Gloo Mesh 2" : `namespace ${one}`)))].sort();
    const names = all.map(({ ref }) => formatRef({ ...ref, clusterName: "" })).sort();
    yield {
      message: `${all.length === 1 ? "1 object is" : `${all.length} objects are`} marked as written by another management plane (${planes.slice(0, SHOWN).join(", ")}): ${names.slice(0, SHOWN).join(", ")}${names.length > SHOWN ? " and others" : ""}`,
      remedy: {
        text: "let one plane manage the cluster: end the other one and delete what it has left, or set spec.mode of this KubernetesCluster to observe",
        command: shellCommand("meshctl", "cluster", "pause", metadata.name, "--observe"),
      },
    };
  },
});
