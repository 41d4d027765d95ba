import { type AccessPolicy, type CiliumEndpointSelector, type CiliumIngressRule, type Mesh, rootNamespaceOf } from "@isthmus/api";
import { formatRef, keyOfResource, refOf } from "@isthmus/core";
import { type Finding, warningFinding } from "../../../findings.ts";
import { meshCluster } from "../../../policy/policyScope.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { isJoinedTo, isOfSameName, meshesLetIn, namedClusters } from "./callers.ts";
import { labelsWithoutIdentity } from "./identityLabels.ts";

/** What would be written, and of what. */
export interface IntendedPolicy {
  readonly access: readonly { readonly form: AccessPolicy }[];
  readonly rules: readonly CiliumIngressRule[];
}

/** Why a Destination gets no policy: it would cut more than was asked, or nothing. */
export function reasonsAgainst(inputs: DestinationInputs, intended: IntendedPolicy): readonly Finding[] {
  const { destination, mesh, ownGateways, pods, translationContext } = inputs;
  const { ref } = destination.spec?.kubeService ?? {};
  const namespace = ref?.namespace ?? "";
  const isReserved = [
    "kube-system",
    mesh.spec?.istio?.installation?.namespace,
    rootNamespaceOf(mesh),
    translationContext.namespace,
  ].includes(namespace);
  const isGateway = ownGateways.some((gateway) => keyOfResource(gateway.destination) === keyOfResource(destination));
  const notedAs = mesh.spec?.istio?.ingressGateways?.some((gateway) => gateway.name === ref?.name && gateway.namespace === namespace);
  const name = formatRef(refOf(destination));
  if (isGateway || notedAs === true) return [open(name, "it is a gateway, whose callers come from outside of the cluster", NARROW)];
  if (isReserved) return [open(name, `namespace ${namespace} has callers without an identity in Cilium`, NARROW)];
  const unlabelled = labelReason(inputs, intended);
  if (unlabelled !== undefined) return [open(name, unlabelled.reason, unlabelled.remedy)];
  if (pods.length > 0 && pods.every(({ isOnHost }) => isOnHost)) {
    return [open(name, "all its pods have hostNetwork, and Cilium knows no pods there, only their nodes", WITHOUT_HOST)];
  }
  const outside = callersOutside(inputs, intended.access);
  if (outside.length === 0) return [];
  const [here, others] = [ref?.clusterName ?? "", outside.join(", ")];
  const reason = `callers of ${others} reach its pods directly, by federation.flatNetwork, and no Cluster Mesh of Cilium joins ${others} and ${here}, so that the policy would refuse them`;
  return [open(name, reason, `join the clusters by a Cluster Mesh, name callers of ${here} alone in sourceSelector, or rely on the mesh`)];
}

interface Reason {
  readonly reason: string;
  readonly remedy: string;
}

/** Identities lack a label by which the policy would know its pods, or callers. */
function labelReason(inputs: DestinationInputs, { access, rules }: IntendedPolicy): Reason | undefined {
  const { destination, mesh, federatedTo } = inputs;
  const cilium = mesh.spec?.cilium;
  if (cilium === undefined) return undefined;
  const ofPods = labelsWithoutIdentity(Object.keys(destination.spec?.kubeService?.workloadSelectorLabels ?? {}), cilium);
  if (ofPods === "unclear") return unclear(mesh);
  if (ofPods.length > 0) {
    return {
      reason: `label ${ofPods.join(", ")} of its selector is not part of identities in Cilium, so that the policy would select no pod`,
      remedy:
        cilium.identityLabels === undefined
          ? "select the pods of the Service by other labels, such as app"
          : "select the pods of the Service by other labels, or add it to labels in ConfigMap cilium-config",
    };
  }
  const byCallers = [...new Set(rules.flatMap(({ fromEndpoints = [] }) => fromEndpoints.flatMap(labelKeysOf)))];
  for (const other of [mesh, ...[...meshesOfCallers(access, inputs), ...federatedTo].filter((one) => isJoinedTo(one, cilium))]) {
    const ofCallers = labelsWithoutIdentity(byCallers, other.spec?.cilium ?? cilium);
    if (ofCallers === "unclear") return unclear(other);
    if (ofCallers.length === 0) continue;
    const reason = `label ${ofCallers.join(", ")}, by which it would know callers, is not part of identities in Cilium in ${meshCluster(other)}, so that the policy would refuse them`;
    return { reason, remedy: "change labels in ConfigMap cilium-config there so that it is included, or rely on the mesh" };
  }
  return undefined;
}

function unclear(mesh: Mesh): Reason {
  return {
    reason: `labels in ConfigMap cilium-config of ${meshCluster(mesh)} has patterns that are more than beginnings of labels, so that the policy might select no pod, or refuse callers`,
    remedy: "write only letters, digits, - _ / . and \\. in them, remove labels to use the defaults, or rely on the mesh",
  };
}

/** Keys without their source. */
function labelKeysOf({ matchLabels = {}, matchExpressions = [] }: CiliumEndpointSelector): readonly string[] {
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key = "" }) => key)].map((key) => key.replace(/^k8s:/, ""));
}

/** Clusters whose callers reach the pods of a Destination with an address that Cilium knows nothing of. */
function callersOutside(
  { destination, mesh, federatedTo }: DestinationInputs,
  access: readonly { readonly form: AccessPolicy }[],
): readonly string[] {
  const cilium = mesh.spec?.cilium;
  if (cilium === undefined || destination.status?.appliedFederation?.flatNetwork !== true) return [];
  const named = new Set(access.flatMap(({ form }) => (form.spec?.sourceSelector ?? []).flatMap(namedClusters)));
  const isNamed = (other: Mesh) => named.has("") || named.has(meshCluster(other));
  const outside = federatedTo.filter((other) => !isInCluster(other, destination) && isNamed(other) && !isJoinedTo(other, cilium));
  return [...new Set(outside.map(meshCluster))].sort();
}

/** What is not as it seems, though a Destination gets a policy. */
export function doubtsAbout(inputs: DestinationInputs, access: IntendedPolicy["access"]): readonly Finding[] {
  const { destination, mesh, pods } = inputs;
  const cilium = mesh.spec?.cilium;
  const name = formatRef(refOf(destination));
  const onHost = pods.filter(({ isOnHost }) => isOnHost).length;
  const never =
    cilium?.enforcement === "never"
      ? [
          `a CiliumNetworkPolicy for ${name} has no effect, because enable-policy is never in ConfigMap cilium-config; only the mesh enforces this policy: set enable-policy to default`,
        ]
      : [];
  const hosts =
    onHost === 0
      ? []
      : [
          `a CiliumNetworkPolicy for ${name} has no effect on ${onHost} of its ${pods.length} known pods, because they have hostNetwork, and Cilium knows no pods there, only their nodes; only the mesh enforces this policy on them: ${WITHOUT_HOST}`,
        ];
  const twins = meshesOfCallers(access, inputs).filter(
    (other) => cilium !== undefined && !isInCluster(other, destination) && isOfSameName(other, cilium),
  );
  return [
    ...[...never, ...hosts].map((message) => warningFinding("NetworkLayerOpen", message)),
    ...[...new Set(twins.map(meshCluster))].map((other) =>
      warningFinding("ClusterMeshAmbiguous", twinMessage(name, other, destination.spec?.kubeService?.ref?.clusterName ?? "")),
    ),
  ];
}

/** Meshes of which policies let callers in, some perhaps twice. */
function meshesOfCallers(access: IntendedPolicy["access"], { mesh, callingMeshes }: DestinationInputs): readonly Mesh[] {
  const named = new Set(access.flatMap(({ form }) => (form.spec?.sourceSelector ?? []).flatMap(namedClusters)));
  return named.has("") ? callingMeshes : [...named].flatMap((clusterName) => meshesLetIn(clusterName, { mesh, callingMeshes }));
}

function twinMessage(name: string, other: string, here: string): string {
  return (
    `a CiliumNetworkPolicy for ${name} does not let callers of ${other} in directly, because a Cluster Mesh of Cilium does not join ` +
    `clusters of the same name or ID, and ${other} and ${here} have one: give each a cluster-name and a cluster-id of its own in ConfigMap cilium-config`
  );
}

function isInCluster(mesh: Mesh, { spec }: DestinationInputs["destination"]): boolean {
  return meshCluster(mesh) === spec?.kubeService?.ref?.clusterName;
}

const NARROW = "narrow the destinationSelector, or rely on the mesh";
const WITHOUT_HOST = "remove hostNetwork from the pods, or rely on the mesh";

function open(name: string, reason: string, remedy: string): Finding {
  return warningFinding(
    "NetworkLayerOpen",
    `${name} gets no CiliumNetworkPolicy, because ${reason}; only the mesh enforces this policy: ${remedy}`,
  );
}
