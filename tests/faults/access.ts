import {
  AccessPolicy,
  AuthorizationPolicy,
  ConfigMap,
  DaemonSet,
  Deployment,
  KubernetesCluster,
  Namespace,
  Pod,
  ReplicaSet,
  Service,
  Settings,
  StatefulSet,
  VirtualMesh,
} from "@isthmus/api";
import { type Kind, kindKeyOf, type Resource, resourceKeyOf } from "@isthmus/core";
import type { Write } from "./actorPort.ts";
import { MISTAKE_LABEL } from "./objects.ts";
import type { Truth } from "./truth.ts";

/**
 * Whether a write takes an AuthorizationPolicy away that ought to have been there when all was last at rest, or lets somebody in who was
 * not let in then, though nobody has since asked for that: no AccessPolicy was deleted or changed to something right, nor anything that
 * it guards or that names it. `states`: all since then.
 */
export function opensByMistake({ verb, cluster, ref, after }: Write, states: readonly Truth[]): boolean {
  const [rest] = states;
  if (rest === undefined || kindKeyOf(ref) !== kindKeyOf(AuthorizationPolicy)) return false;
  const guard = rest.wanted(cluster).get(resourceKeyOf({ ...ref, clusterName: cluster }));
  if (guard === undefined) return false;
  const known = new Set(rulesOf(guard));
  const isOpened = verb === "delete" || rulesOf(after).some((rule) => !known.has(rule));
  return isOpened && !hasReason(states);
}

function rulesOf(policy: Resource | undefined): readonly string[] {
  const { spec } = (policy ?? {}) as AuthorizationPolicy;
  return (spec?.rules ?? []).map((rule) => JSON.stringify(rule));
}

/** Whether anything happened that may open something on purpose. What is a mistake says so itself. */
function hasReason(states: readonly Truth[]): boolean {
  return states.some((state, i) => {
    const before = states[i - 1];
    if (before === undefined || before.everything === state.everything) return false;
    return REASONS.some((kind) =>
      state.everything
        .of(kind)
        .changesSince(before.everything.of(kind))
        .some(({ before: was, after }) => after?.metadata.labels?.[MISTAKE_LABEL] === undefined && !isSameSpec(was, after)),
    );
  });
}

/** Statuses are answers: what one says opens nothing. */
function isSameSpec(was: Resource | undefined, is: Resource | undefined): boolean {
  return was !== undefined && is !== undefined && is.kind === AccessPolicy.kind && was.metadata.generation === is.metadata.generation;
}

const REASONS: readonly Kind[] = [
  AccessPolicy,
  ConfigMap,
  DaemonSet,
  Deployment,
  KubernetesCluster,
  Namespace,
  Pod,
  ReplicaSet,
  Service,
  Settings,
  StatefulSet,
  VirtualMesh,
];
