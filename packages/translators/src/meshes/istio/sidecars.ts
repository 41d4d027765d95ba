import { type Destination, type ServiceDependency, Sidecar } from "@isthmus/api";
import { formatRef, matchesLabels, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, reportOf, warningFinding } from "../../findings.ts";
import { clusterDomainOf, localHostname } from "../../policy/hosts/hostnames.ts";
import { dependencyFormOf } from "../../policy/serviceDependencyFindings.ts";
import { isFederatedTo } from "../../policy/virtualDestinations/virtualDestinationTargets.ts";
import { emptyTranslation, type SelectedWorkloadInputs, type TargetTranslation } from "../inputs.ts";
import { originOf, outputOf } from "../outputMetadata.ts";

/**
 * A Sidecar with the hosts that a Workload depends on; none where it could take away what the Workload calls, or something of another one
 * (docs/decisions/0072). Source: istio.io/docs/reference/config/networking/sidecar.
 */
export function sidecarFor(inputs: SelectedWorkloadInputs): TargetTranslation {
  const { workload, dependencies, translationContext } = inputs;
  const { controller, podLabels = {} } = workload.spec?.kubernetes ?? {};
  if (controller === undefined || dependencies.length === 0) return emptyTranslation;
  const hosts = hostsOf(inputs);
  const findings = findingsOf(inputs, hosts);
  const target = refOf(workload);
  const reports = dependencies.flatMap((one) => findings(one).map((finding) => reportOf(refOf(one), finding, target)));
  if (!isLimited(inputs, hosts)) return { outputs: [], reports };
  const { name, namespace, clusterName } = controller;
  const identity = { name, namespace, clusterName, origin: originOf({ translationContext, parents: dependencies }) };
  const spec = { workloadSelector: { labels: podLabels }, egress: [{ hosts: [...controlPlaneHosts(inputs), ...hosts] }] };
  return { outputs: [outputOf(identity, Sidecar, spec)], reports };
}

/** The hosts by which a Workload calls what it depends on. */
function hostsOf({ workload, mesh, destinations, virtualHosts, translationContext }: SelectedWorkloadInputs): readonly string[] {
  const { clusterName } = workload.spec?.kubernetes?.controller ?? {};
  const hostOf = (destination: Destination) => {
    const service = destination.spec?.kubeService?.ref;
    if (service === undefined) return [];
    if (service.clusterName === clusterName) return [localHostname(service, translationContext.clusterDomains)];
    return isFederatedTo(destination, mesh) ? (destination.status?.appliedFederation?.federatedHostname ?? []) : [];
  };
  const own = destinations.flatMap(hostOf);
  // Of a Destination that cannot be called from here, neither can hosts that lead to it alone.
  return [...new Set([...own, ...virtualHosts])].sort().map((host) => `*/${host}`);
}

/** Services of the control plane, such as for tracing; not the federated hosts, whose ServiceEntries are in its namespace too. */
function controlPlaneHosts({ workload, mesh, translationContext }: SelectedWorkloadInputs): readonly string[] {
  const { namespace = "" } = mesh.spec?.istio?.installation ?? {};
  const domain = clusterDomainOf(workload.spec?.kubernetes?.controller?.clusterName ?? "", translationContext.clusterDomains);
  return namespace === "" ? [] : [`${namespace}/*.${namespace}.svc.${domain}`];
}

function isLimited(inputs: SelectedWorkloadInputs, hosts: readonly string[]): boolean {
  const { open, neighbors, workload } = inputs;
  const { podLabels = {} } = workload.spec?.kubernetes ?? {};
  const isAlone = Object.keys(podLabels).length > 0 && neighbors.length === 0;
  return open.length === 0 && hosts.length > 0 && isAlone && usersOwn(inputs).selecting.length === 0;
}

type Findings = (dependency: ServiceDependency) => readonly Finding[];

function findingsOf(inputs: SelectedWorkloadInputs, hosts: readonly string[]): Findings {
  const { workload, open, neighbors } = inputs;
  const name = formatRef(refOf(workload));
  const { podLabels = {} } = workload.spec?.kubernetes ?? {};
  const [opening] = open;
  if (opening !== undefined) {
    const why = dependencyFormOf(opening).source === "open" ? "has errors and was never accepted" : "selects everything";
    const finding = warningFinding(
      "DependenciesNotLimited",
      `${name} is not limited, because ${formatRef(refOf(opening))}, which selects it too, ${why}: correct that one`,
    );
    const own = invalidFinding(
      "DependenciesNotLimited",
      `${name} is not limited, because this ServiceDependency has errors and was never accepted: correct it`,
    );
    return (dependency) => {
      if (!open.includes(dependency)) return [finding];
      // Of one that selects everything it is said as a whole.
      return dependencyFormOf(dependency).source === "open" ? [own] : [];
    };
  }
  const { selecting, ofNamespace } = usersOwn(inputs);
  const [mine] = selecting;
  if (mine !== undefined) {
    return all(
      invalidFinding(
        "SidecarTaken",
        `${name} has ${formatRef(refOf(mine))} of a user already, and Istio uses only one, so that one stays: remove it, or narrow the sourceSelectors`,
      ),
    );
  }
  if (Object.keys(podLabels).length === 0) {
    return all(
      invalidFinding("PodLabelsShared", `${name} has pods without labels, so no Sidecar can select them alone: give them a label`),
    );
  }
  const [neighbor] = neighbors;
  if (neighbor !== undefined) {
    return all(
      invalidFinding(
        "PodLabelsShared",
        `${name} is not limited, because pods of ${formatRef(refOf(neighbor))} have all of its labels and would lose hosts too: give its pods a label of their own`,
      ),
    );
  }
  if (hosts.length === 0) {
    const message = `${name} is not limited, because it can call none of the selected destinations: check destinationSelectors, and the federation of Services in other clusters`;
    return all(warningFinding("DependenciesNotLimited", message));
  }
  const [general] = ofNamespace;
  if (general === undefined) return () => [];
  const message = `${formatRef(refOf(general))} of a user, for all pods of its namespace, is not used for ${name} any more, as Istio prefers a Sidecar with a workloadSelector: move what it needs of that one`;
  return all(warningFinding("SidecarReplaced", message));
}

function all(finding: Finding): Findings {
  return () => [finding];
}

/** Sidecars of users that select the Workload's pods, and those for its whole namespace. */
function usersOwn({ workload, userSidecars }: SelectedWorkloadInputs): {
  readonly selecting: readonly Sidecar[];
  readonly ofNamespace: readonly Sidecar[];
} {
  const { podLabels = {} } = workload.spec?.kubernetes ?? {};
  const labelsOf = ({ spec }: Sidecar) => Object.entries(spec?.workloadSelector?.labels ?? {});
  return {
    selecting: userSidecars.filter((one) => labelsOf(one).length > 0 && matchesLabels(Object.fromEntries(labelsOf(one)), podLabels)),
    ofNamespace: userSidecars.filter((one) => labelsOf(one).length === 0),
  };
}
