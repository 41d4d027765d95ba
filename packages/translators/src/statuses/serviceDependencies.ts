import { type ServiceDependency, Sidecar, Workload } from "@isthmus/api";
import type { Report } from "@isthmus/core";
import { observedMetadata } from "../attachment/meshes.ts";
import type { TranslatedTarget } from "../pipeline/targets.ts";
import { userRefOf } from "../policy/userResources.ts";
import { acceptedForm, isSoundAsWhole } from "./acceptedForm.ts";
import { conditionsOf, type DeliveryProgress, messagesOf, publishedState } from "./approval.ts";
import { LISTED } from "./listed.ts";
import { approvals } from "./policies.ts";

/** What the status of one ServiceDependency follows from. */
export interface ServiceDependencySources {
  /** Findings about it. */
  readonly reports: readonly Report[];
  /** The keys of the Workloads that it selects. */
  readonly workloads: readonly string[];
  /** Undefined where nothing is delivered. */
  readonly progress: DeliveryProgress | undefined;
}

/** The status of a ServiceDependency. */
export function serviceDependencyStatus(dependency: ServiceDependency, { reports, workloads, progress }: ServiceDependencySources): object {
  const own = reports.filter(({ target }) => target === undefined);
  const { keys, accepted, listed } = approvals(
    new Map(workloads.map((key) => [key, undefined])),
    reports.filter(({ target }) => target?.kind === Workload.kind),
  );
  const warnings = reports.filter(({ state }) => state === "WARNING").length;
  return {
    ...observedMetadata(dependency),
    state: publishedState(reports),
    ...(keys.length === 0 ? {} : { workloads: listed }),
    ...messagesOf(own),
    targetCount: keys.length,
    acceptedCount: accepted,
    ...(warnings === 0 ? {} : { warningCount: warnings }),
    conditions: conditionsOf({ reports, targets: keys.length, accepted, progress }),
    ...acceptedForm(dependency, { isAccepted: isSoundAsWhole(own) }),
  };
}

/** To which hosts the proxies of a Workload are limited, and by whom. */
export function appliedDependencies({ inputs, outputs }: TranslatedTarget): object {
  const sidecar = outputs.find(({ resource }) => resource.kind === Sidecar.kind)?.resource as Sidecar | undefined;
  if (!("workload" in inputs) || sidecar === undefined) return {};
  const hosts = (sidecar.spec?.egress ?? []).flatMap(({ hosts: list = [] }) => list);
  const applied = inputs.dependencies.map((one) => ({
    serviceDependencyRef: userRefOf(one),
    ...(one.metadata.generation === undefined ? {} : { observedGeneration: one.metadata.generation }),
  }));
  // Those of the control plane are not what it depends on.
  const destinationHostnames = hosts.flatMap((host) => (host.startsWith("*/") ? [host.slice("*/".length)] : [])).slice(0, LISTED);
  return { serviceDependencies: { appliedServiceDependencies: applied, destinationHostnames } };
}
