import { Mesh, type TrafficPolicy, type VirtualDestination } from "@isthmus/api";
import { keyOfResource, type Report } from "@isthmus/core";
import { observedMetadata } from "../attachment/meshes.ts";
import { requiredSubsetsFrom } from "../attachment/requiredSubsets.ts";
import { acceptedForm, isSoundAsWhole, MOST_REPEATED } from "./acceptedForm.ts";
import { conditionsOf, type DeliveryProgress, messagesOf, publishedState } from "./approval.ts";
import { LISTED } from "./listed.ts";
import { approvals } from "./policies.ts";

/** What is in force of a VirtualDestination. */
interface InForce {
  readonly targets: readonly { readonly metadata: { readonly name: string; readonly namespace?: string }; readonly spec?: TargetSpec }[];
  readonly exports: readonly { readonly mesh: Mesh }[];
  readonly subsetPolicies: readonly TrafficPolicy[];
}

interface TargetSpec {
  readonly kubeService?: { readonly ref?: object };
}

/** What the status of one VirtualDestination follows from. */
export interface VirtualDestinationSources {
  /** Findings about it. */
  readonly reports: readonly Report[];
  /** Undefined where nothing is translated. */
  readonly inputs: InForce | undefined;
  /** Undefined where nothing is delivered. */
  readonly progress: DeliveryProgress | undefined;
}

/** The status of a VirtualDestination. */
export function virtualDestinationStatus(
  virtualDestination: VirtualDestination,
  { reports, inputs, progress }: VirtualDestinationSources,
): object {
  const { targets = [], exports = [], subsetPolicies = [] } = inputs ?? {};
  const own = reports.filter(({ target }) => target === undefined);
  const meshes = approvals(
    new Map(exports.map(({ mesh }) => [keyOfResource(mesh), undefined])),
    reports.filter(({ target }) => target?.kind === Mesh.kind),
  );
  const warnings = reports.filter(({ state }) => state === "WARNING").length;
  return {
    ...observedMetadata(virtualDestination),
    state: publishedState(reports),
    ...(meshes.keys.length === 0 ? {} : { meshes: meshes.listed }),
    ...(targets.length === 0 ? {} : { selectedDestinations: targets.slice(0, LISTED).map(selectedDestination) }),
    ...(subsetPolicies.length === 0 ? {} : { requiredSubsets: requiredSubsetsFrom(subsetPolicies.slice(0, LISTED)) }),
    ...messagesOf(own),
    targetCount: meshes.keys.length,
    acceptedCount: meshes.accepted,
    destinationCount: targets.length,
    ...(warnings === 0 ? {} : { warningCount: warnings }),
    conditions: conditionsOf({ reports, targets: meshes.keys.length, accepted: meshes.accepted, progress }),
    // One in a workload cluster is not translated.
    ...acceptedForm(virtualDestination, {
      isAccepted: (virtualDestination.metadata.clusterName ?? "") === "" && isSoundAsWhole(reports),
      most: MOST_REPEATED,
    }),
  };
}

function selectedDestination({ metadata, spec }: InForce["targets"][number]): object {
  const { name, namespace = "" } = metadata;
  return { ref: { name, namespace }, destination: { kubeService: spec?.kubeService?.ref ?? {} } };
}
