import { type AnyResource, canonicalJson, md5Hex, type Resource, type Snapshot } from "@isthmus/core";
import { type Members, membersAt } from "../apply/json.ts";
import { controlledBy, namespaceOf } from "./controller.ts";
import { withSidecar } from "./sidecar.ts";
import { type PodTemplate, SimulatedNamespace, SimulatedNode, type SimulatedPod } from "./workloads.ts";

/** Every kind that `podOf` looks at beside the owner's. */
export const podSources = [SimulatedNamespace, SimulatedNode] as const;

/** A pod of its owner's template, injected, and placed on a node: nobody else schedules it. */
export function podOf(
  owner: Resource,
  template: PodTemplate,
  place: { name: string; nodeName: string | undefined; snapshot: Snapshot },
): SimulatedPod {
  const injected = withSidecar(template, owner, place.snapshot);
  const { labels = {}, annotations = {} } = injected.metadata ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: place.name,
      ...namespaceOf(owner),
      labels,
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [controlledBy(owner)],
    },
    spec: {
      ...injected.spec,
      ...(place.nodeName === undefined ? {} : { nodeName: place.nodeName }),
      // Nothing runs that would have to stop: an API server then removes the pod at once, without a kubelet's consent.
      ...{ terminationGracePeriodSeconds: 0 },
    },
  };
}

/** The names of the nodes that pods can run on, in order. */
export function nodeNames(snapshot: Snapshot): readonly string[] {
  return [...snapshot.of(SimulatedNode)].map(({ metadata }) => metadata.name);
}

// Without vowels, so that no name spells anything. Source: k8s.io/apimachinery/pkg/util/rand.
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** A random ending of a name. */
export function randomSuffix(random: () => number): string {
  return Array.from({ length: 5 }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join("");
}

/** An ending of a name that depends on `text` alone. */
export function stableSuffix(text: string, length: number): string {
  const digits = md5Hex(text);
  return Array.from({ length }, (_, i) => ALPHABET[Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16) % ALPHABET.length]).join("");
}

/** A short word for a template: equal templates, whatever the order of their fields, have equal ones. */
export function templateHash(template: PodTemplate): string {
  return stableSuffix(canonicalJson(template), 10);
}

/** `resource` with the fields of `status` set, or undefined when it says so already. */
export function withPodStatus(resource: Resource, status: Members): AnyResource | undefined {
  const written: AnyResource = { ...resource };
  const before = membersAt(written, "status");
  const isSame = Object.entries(status).every(([field, value]) => saysAlready(before[field], value));
  return isSame ? undefined : { ...written, status: { ...before, ...status } };
}

/**
 * Whether an API server that was given `wanted` may have stored it as `stored`: it leaves out what is empty (`message: ""`, `replicas: 0`), and adds members of
 * its own (`lastProbeTime: null`, `lastState: {}`). Who compared exactly would write the same again for ever.
 */
function saysAlready(stored: unknown, wanted: unknown): boolean {
  if (isEmpty(wanted)) return isEmpty(stored);
  if (Array.isArray(wanted))
    return Array.isArray(stored) && stored.length === wanted.length && wanted.every((one, i) => saysAlready(stored[i], one));
  if (typeof wanted !== "object") return stored === wanted;
  if (typeof stored !== "object" || stored === null) return false;
  return Object.entries(wanted as object).every(([field, value]) => saysAlready((stored as Members)[field], value));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
