import { agentKinds, allKinds, contributedKinds, type DefinedKind, kindOf, onDemandKinds, summaryKinds } from "@isthmus/api";
import type { AnyResource, Kind, Resource } from "@isthmus/core";
import { demoClusters } from "@isthmus/simulator";
import { fleets } from "@isthmus/testing";
import fc from "fast-check";
import type { Random } from "../../faults/random.ts";
import { deepValue, hostileKey, hostileText, longText } from "./hostile.ts";
import { mutatedText } from "./mutated.ts";
import { schemaValue } from "./schemaValues.ts";

/** The cluster whose agent is in an attacker's hands. */
export const EVIL = "evil";
/** Clusters that have nothing to do with it. */
export const GOOD: readonly string[] = ["good-1", "good-2"];
export const NAMESPACE = "gloo-mesh";

/** Objects as real clusters have them, all of the evil cluster: the demo's, and those of random fleets. The same in every process. */
const POOL: readonly AnyResource[] = [...Object.values(demoClusters()).flat(), ...fc.sample(fleets(), { numRuns: 40, seed: 1 }).flat()].map(
  (resource) => ({ ...resource, metadata: { ...resource.metadata, clusterName: EVIL } }) as AnyResource,
);

/** Kinds that are taken from an agent. */
const FROM_AGENTS: readonly Kind[] = [...agentKinds(), ...onDemandKinds(), ...summaryKinds(), ...contributedKinds()];

const NAMES = ["reviews", "ratings", "istiod", "istio", "a", "a-b", "settings", "good-1", "evil", "istio-ingressgateway", "x".repeat(253)];
const NAMESPACES = ["bookinfo", "istio-system", "gloo-mesh", "default", "b-c", "kube-system"];
const LABELS = ["app", "version", "istio", "kubernetes.io/service-name", "topology.kubernetes.io/zone"];

/** JSON text of one object of the evil cluster: right, or spoilt in some places. */
export function evilObjectText(random: Random): string {
  const value = random.int(2) === 0 ? random.pick(POOL) : objectOf(random.pick(FROM_AGENTS), random, EVIL);
  return mutatedText(value, random, random.pick([0, 1, 1, 2, 4]));
}

/** JSON text of one object of the management cluster, whose users may write anything. */
export function managementObjectText(random: Random): string {
  return mutatedText(objectOf(random.pick(allKinds()), random, ""), random, random.pick([0, 1, 1, 2, 4]));
}

/** JSON text of one object of a kind in a cluster. */
export function objectTextOf(kind: Kind, random: Random, clusterName: string): string {
  const value = random.int(3) === 0 ? (ofKind(kind, random) ?? objectOf(kind, random, clusterName)) : objectOf(kind, random, clusterName);
  return random.int(40) === 0 ? deepened(value, random) : mutatedText(value, random, random.pick([0, 1, 1, 2, 4]));
}

/** JSON text of an object that is right but for one more field, which is nested deeper than anybody means. */
function deepened(value: Resource, random: Random): string {
  return `${JSON.stringify(value).slice(0, -1)},${hostileKey(random)}:${deepValue(random)}}`;
}

function ofKind({ kind }: Kind, random: Random): AnyResource | undefined {
  const some = BY_KIND.get(kind);
  return some === undefined ? undefined : random.pick(some);
}

const BY_KIND: ReadonlyMap<string, readonly AnyResource[]> = grouped();

function grouped(): ReadonlyMap<string, readonly AnyResource[]> {
  const groups = new Map<string, AnyResource[]>();
  for (const resource of POOL) groups.set(resource.kind, [...(groups.get(resource.kind) ?? []), resource]);
  return groups;
}

/** An object as its kind's schema describes it. */
function objectOf(kind: Kind, random: Random, clusterName: string): Resource {
  const { apiVersion, versions, namespaced } = kind;
  const fields = "definition" in kind ? (kind as DefinedKind<Resource>).definition.fields : {};
  const content: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(fields))
    if (name !== "status" || random.int(4) === 0) content[name] = schemaValue(schema, random);
  return {
    ...content,
    apiVersion: random.int(8) === 0 ? random.pick(versions) : apiVersion,
    kind: kind.kind,
    metadata: {
      name: random.pick(NAMES),
      ...(namespaced ? { namespace: random.pick(NAMESPACES) } : {}),
      ...(clusterName === "" ? {} : { clusterName }),
      ...(random.int(2) === 0 ? { labels: { [random.pick(LABELS)]: random.pick(NAMES) } } : {}),
      ...(random.int(4) === 0 ? { creationTimestamp: random.pick(["1970-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "never"]) } : {}),
      ...(random.int(8) === 0 ? { generation: random.int(10), uid: "u", resourceVersion: String(random.int(1000)) } : {}),
    },
  };
}

/** Metadata of an attacker's choice around right content, as JSON: forged clusters, names of 10 KB, labels of 64 KB. */
export function forgedObjectText(random: Random): string {
  const value = random.pick(POOL);
  const clusterName = random.pick(['"good-1"', '""', '"evil"', '"evil "', "null", '"__proto__"', '["evil"]', hostileText(random)]);
  const name = random.int(4) === 0 ? longText(random) : random.pick([JSON.stringify(value.metadata.name), hostileText(random), '""']);
  const labels = random.int(4) === 0 ? `{${hostileKey(random)}:${longText(random)}}` : (JSON.stringify(value.metadata.labels) ?? "{}");
  const metadata = `{"name":${name},"namespace":${hostileText(random)},"clusterName":${clusterName},"labels":${labels}}`;
  const { metadata: _, ...content } = value;
  return `${JSON.stringify(content).slice(0, -1)},"metadata":${random.int(20) === 0 ? "null" : metadata}}`;
}

/** Whether this program deals with what an object calls itself. */
export function isOfKnownKind(value: unknown): value is Resource {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<Resource>;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return false;
  return typeof metadata === "object" && metadata !== null && typeof metadata.name === "string" && kindOf(apiVersion, kind) !== undefined;
}
