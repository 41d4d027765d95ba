import {
  AccessPolicy,
  AuthorizationPolicy,
  CiliumNetworkPolicy,
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
 * Whether a write takes an AuthorizationPolicy away that ought to have been there when all was last at rest, or lets somebody in by one, or
 * by a CiliumNetworkPolicy, who was not let in then, though nobody has since asked for that: no AccessPolicy was deleted or changed to
 * something right, nor anything that it guards or that names it. `states`: all since then.
 */
export function opensByMistake({ verb, cluster, ref, after }: Write, states: readonly Truth[]): boolean {
  const [rest] = states;
  if (rest === undefined || !GUARDS.has(kindKeyOf(ref))) return false;
  const guard = rest.wanted(cluster).get(resourceKeyOf({ ...ref, clusterName: cluster }));
  if (guard === undefined) return false;
  const known = new Set(rulesOf(guard));
  // Without a valid AccessPolicy the mesh denies all callers, and the network layer leaves that to it.
  const isTaken = verb === "delete" && kindKeyOf(ref) === kindKeyOf(AuthorizationPolicy);
  const isOpened = isTaken || rulesOf(after).some((rule) => !known.has(rule));
  return isOpened && !hasReason(states);
}

function rulesOf(policy: Resource | undefined): readonly string[] {
  const { spec } = (policy ?? {}) as AuthorizationPolicy & CiliumNetworkPolicy;
  // A rule of Cilium without members denies all callers.
  return [...(spec?.rules ?? []), ...ingressOf(spec)].map((rule) => JSON.stringify(rule));
}

function ingressOf(spec: CiliumNetworkPolicy["spec"]): readonly unknown[] {
  const { ingress = [] } = (spec ?? {}) as { readonly ingress?: readonly object[] };
  return Array.isArray(ingress) ? ingress.filter((rule: object) => Object.keys(rule).length > 0) : [];
}

const GUARDS: ReadonlySet<string> = new Set([AuthorizationPolicy, CiliumNetworkPolicy].map(kindKeyOf));

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
  return was !== undefined && is !== undefined && ANSWERED.has(is.kind) && was.metadata.generation === is.metadata.generation;
}

const ANSWERED: ReadonlySet<string> = new Set([AccessPolicy, VirtualMesh].map(({ kind }) => kind));

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
