import { Destination, Mesh, Workload } from "@isthmus/api";
import { keyOf, keyOfResource, kindKeyOf, matchesLabels, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { workloadsBehind } from "../attachment/assembly.ts";
import { versionsOf } from "../incremental/changes.ts";
import { bySelector, podLabelKey } from "../policy/indexes.ts";
import type { Translation } from "./translate.ts";

/** How much of what was discovered is to be written to the management cluster: `Settings.spec.discovery.publish`. */
export type PublicationScope = "ALL" | "FEDERATED_OR_TARGETED" | "NONE";

/** What the Settings of a translation say; `ALL` where they say nothing. */
export function publicationScopeOf({ cache: memory }: Translation): PublicationScope {
  return memory.translationContext.settings?.spec?.discovery?.publish ?? "ALL";
}

/** The object that says it, whether it exists or not: why something that is still discovered is no longer published. */
export function publicationScopeSource({ cache: memory }: Translation): ResourceRef | undefined {
  const { settings } = memory.translationContext;
  return settings && refOf(settings);
}

/** Whether a discovered object is to be published. */
export function isInScope(world: Translation, resource: Resource): boolean {
  const scope = publicationScopeOf(world);
  if (scope !== "FEDERATED_OR_TARGETED") return scope === "ALL";
  switch (kindKeyOf(resource)) {
    case kindKeyOf(Destination):
      return isUsed(world, keyOfResource(resource));
    case kindKeyOf(Workload):
      return destinationsBefore(resource as Workload, world).some((destination) => isUsed(world, keyOfResource(destination)));
    default:
      // Meshes are few, and VirtualMeshes name them.
      return true;
  }
}

/** The discovered objects (`resourceKeyOf`) of which this may not be as it was, though they are; "all" when the scope is another one. */
export function rescoped(now: Translation, before: Translation | undefined): readonly string[] | "all" {
  if (before === undefined || publicationScopeOf(before) !== publicationScopeOf(now)) return "all";
  if (publicationScopeOf(now) !== "FEDERATED_OR_TARGETED") return NONE;
  const destinations = new Set<string>();
  const [left, right] = [before.cache.attachment, now.cache.attachment];
  for (const { key } of right.attachedPolicies.changesSince(left.attachedPolicies)) destinations.add(key);
  for (const { key } of right.known.changesSince(left.known)) destinations.add(key);
  for (const mesh of versionsOf(now.attached.of(Mesh).changesSince(before.attached.of(Mesh)))) {
    for (const key of byGateway(mesh)) destinations.add(key);
  }
  const workloads = [...destinations].flatMap((key) => [before, now].flatMap((world) => workloadsOf(key, world)));
  return [
    ...[...destinations].map((key) => `${kindKeyOf(Destination)}|${key}`),
    ...workloads.map((workload) => `${kindKeyOf(Workload)}|${keyOfResource(workload)}`),
  ];
}

const NONE: readonly never[] = [];

/** Whether a Destination is federated, selected by a policy (in force or not), or a gateway in use. */
function isUsed({ cache: memory, attached }: Translation, key: string): boolean {
  const { attachedPolicies, known } = memory.attachment;
  const { trafficPolicies = NONE, refused = NONE, accessPolicies = NONE, heldAccess = NONE } = attachedPolicies.row(key) ?? {};
  if (trafficPolicies.length + refused.length + accessPolicies.length + heldAccess.length > 0) return true;
  return known.row(key)?.status?.appliedFederation !== undefined || attached.of(Mesh).where(byGateway, key).length > 0;
}

/** Meshes by the Destinations through which they are reached. */
function byGateway({ status }: Mesh): readonly string[] {
  const gateways = status?.appliedEastWestIngressGateways ?? NONE;
  return gateways.map(({ destinationRef }) => keyOf({ name: "", namespace: "", ...destinationRef, clusterName: "" }));
}

/** The Destinations that lead to a Workload. */
function destinationsBefore({ spec }: Workload, { inputs }: Translation): readonly Destination[] {
  const { controller, podLabels = {} } = spec?.kubernetes ?? {};
  if (controller === undefined) return NONE;
  const candidates = Object.entries(podLabels).flatMap((label) =>
    inputs.of(Destination).where(bySelector, podLabelKey(controller, ...label)),
  );
  return candidates.filter((destination) => matchesLabels(destination.spec?.kubeService?.workloadSelectorLabels ?? {}, podLabels));
}

function workloadsOf(key: string, { inputs }: Translation): readonly Workload[] {
  const destination = inputs.of(Destination).row(key);
  return destination === undefined ? NONE : workloadsBehind(destination, inputs);
}
