import { equalJson, refOf, timedConditions } from "@isthmus/core";
import { timestamp } from "../object.ts";
import { byController, type Context, changedControllers, controlledBy, namespaceOf, type SimulatedController } from "./controller.ts";
import { templateHash, withPodStatus } from "./podTemplates.ts";
import { type PodTemplate, type SimulatedCondition, SimulatedDeployment, SimulatedReplicaSet } from "./workloads.ts";

/** The label that tells the pods of one ReplicaSet from those of another of the same Deployment. */
const POD_TEMPLATE_HASH = "pod-template-hash";
const REVISION = "deployment.kubernetes.io/revision";

/** Deployment → ReplicaSets: a new one for each new template; the old ones shrink when the new one is ready. */
export const deploymentController: SimulatedController = {
  name: "deployments",
  reads: [SimulatedDeployment, SimulatedReplicaSet],
  *affected(change) {
    const resource = change.after ?? change.before;
    if (resource?.kind === "Deployment") yield refOf(resource);
    else yield* changedControllers(change, "Deployment");
  },
  async reconcile(ref, context, signal) {
    const deployment = context.snapshot.of(SimulatedDeployment).get(ref);
    if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return;
    const owned = context.snapshot.of(SimulatedReplicaSet).where(byController, deployment.metadata.uid ?? "");
    const current =
      owned.find(({ spec }) => equalJson(unhashed(spec.template), deployment.spec.template)) ??
      SimulatedReplicaSet.parse(await context.cluster.create(newReplicaSet(deployment, owned), signal));
    const wanted = deployment.spec.replicas ?? 1;
    await scale(current, wanted, context, signal);
    const old = owned.filter(({ metadata }) => metadata.uid !== current.metadata.uid);
    if (count(current, "readyReplicas") >= wanted && deployment.spec.paused !== true) {
      for (const replicaSet of old) await scale(replicaSet, 0, context, signal);
      await forgetOldest(deployment, old, context, signal);
    }
    const status = withPodStatus(deployment, statusOf(deployment, { current, all: [current, ...old] }, context));
    if (status !== undefined) await context.cluster.updateStatus(status, signal);
  },
};

function newReplicaSet(deployment: SimulatedDeployment, owned: readonly SimulatedReplicaSet[]): SimulatedReplicaSet {
  const { selector, template, replicas = 1 } = deployment.spec;
  const hash = templateHash(template);
  const labels = { ...template.metadata?.labels, [POD_TEMPLATE_HASH]: hash };
  const revision = Math.max(0, ...owned.map(revisionOf)) + 1;
  return {
    apiVersion: SimulatedReplicaSet.apiVersion,
    kind: SimulatedReplicaSet.kind,
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      ...namespaceOf(deployment),
      labels,
      annotations: { [REVISION]: String(revision) },
      ownerReferences: [controlledBy(deployment)],
    },
    spec: {
      replicas,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [POD_TEMPLATE_HASH]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** The template as the Deployment has it. */
function unhashed(template: PodTemplate): PodTemplate {
  const { [POD_TEMPLATE_HASH]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

async function scale(replicaSet: SimulatedReplicaSet, replicas: number, { cluster }: Context, signal: AbortSignal): Promise<void> {
  if (replicaSet.spec.replicas !== replicas)
    await cluster.update({ ...replicaSet, spec: { ...replicaSet.spec, replicas } } as SimulatedReplicaSet, signal);
}

/** Keeps as many old ReplicaSets as a rollback may need. */
async function forgetOldest(
  deployment: SimulatedDeployment,
  old: readonly SimulatedReplicaSet[],
  { cluster }: Context,
  signal: AbortSignal,
): Promise<void> {
  const idle = old.filter((replicaSet) => replicaSet.spec.replicas === 0 && count(replicaSet, "replicas") === 0);
  const limit = deployment.spec.revisionHistoryLimit ?? 10;
  const oldest = [...idle].sort((a, b) => revisionOf(b) - revisionOf(a)).slice(limit);
  for (const replicaSet of oldest) await cluster.delete(refOf(replicaSet), {}, signal);
}

interface ReplicaSets {
  readonly current: SimulatedReplicaSet;
  readonly all: readonly SimulatedReplicaSet[];
}

function statusOf(
  { metadata, spec, status }: SimulatedDeployment,
  { current, all }: ReplicaSets,
  { clock }: Context,
): Record<string, unknown> {
  const total = (field: string) => all.reduce((sum, replicaSet) => sum + count(replicaSet, field), 0);
  const wanted = spec.replicas ?? 1;
  const available = total("availableReplicas");
  const conditions = [
    available >= wanted
      ? { type: "Available", status: "True" as const, reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." }
      : {
          type: "Available",
          status: "False" as const,
          reason: "MinimumReplicasUnavailable",
          message: "Deployment does not have minimum availability.",
        },
    {
      type: "Progressing",
      status: "True" as const,
      reason: "NewReplicaSetAvailable",
      message: `ReplicaSet "${current.metadata.name}" is there.`,
    },
  ];
  const previous = (status?.["conditions"] ?? []) as readonly SimulatedCondition[];
  return {
    observedGeneration: metadata.generation ?? 1,
    replicas: total("replicas"),
    updatedReplicas: count(current, "replicas"),
    readyReplicas: total("readyReplicas"),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wanted - available),
    conditions: timedConditions(conditions, previous.map(timed), timestamp(clock.now())),
  };
}

function timed({ type, status, reason, message, lastTransitionTime }: SimulatedCondition): SimulatedCondition {
  return { type, status, reason, message, lastTransitionTime };
}

function count({ status }: SimulatedReplicaSet, field: string): number {
  const value = status?.[field];
  return typeof value === "number" ? value : 0;
}

function revisionOf({ metadata }: SimulatedReplicaSet): number {
  return Number(metadata.annotations?.[REVISION] ?? 0);
}
