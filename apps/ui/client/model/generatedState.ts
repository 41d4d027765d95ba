import { equalJson, formatRef, keyOfResource, kindKeyOf, type Resource, refOf, type Snapshot } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { AccessPolicy, CiliumNetworkPolicy, CiliumPolicyReport, Destination, POLICY_KINDS, TrafficPolicy } from "../data/kinds.ts";
import { t } from "../strings.ts";
import { registrationOf } from "./clusters/registrations.ts";
import { remembering } from "./memo.ts";
import { parentsOf } from "./parents.ts";
import { approvalStatus, conditionsOf, type Status } from "./status.ts";

/** What is known of a generated object in its cluster. */
export interface GeneratedState {
  readonly status: Status;
  /** Why, where there is more to say. */
  readonly message: string;
  /** What the cluster reports under its name: mostly somebody else's object, as agents do not send back what they wrote. */
  readonly reported: Resource | undefined;
}

const OWNER_LABEL = "owner.networking.mesh.gloo.solo.io";
const { states } = t.generated;
const APPLIED: Status = { tone: "good", word: states.applied };
const NOT_KNOWN: Status = { tone: "unknown", word: states.unknown };

/** How a generated object stands in its cluster, as far as statuses and reports say it; nothing is guessed. */
export function generatedState(fleet: Fleet, resource: Resource): GeneratedState {
  const { snapshot } = fleet;
  const reported = snapshot.collections().get(kindKeyOf(resource))?.row(keyOfResource(resource));
  const told = (status: Status, message = ""): GeneratedState => ({ status, message, reported });
  if (reported !== undefined && !isOurs(reported, resource)) return told({ tone: "bad", word: states.taken }, t.generated.takenWhy);
  const refusal = reported === undefined ? refusalOf(fleet, resource) : undefined;
  if (refusal !== undefined) return told({ tone: "bad", word: states.refused }, refusal);
  const { comparison, mode = "manage", state } = registrationOf(fleet, resource.metadata.clusterName ?? "")?.status ?? {};
  // What was reported, compared or acknowledged before is not what is there now.
  if (state === "OFFLINE" || state === "REVOKED" || state === "UNREACHABLE") return told(NOT_KNOWN, t.generated.offlineWhy);
  if (state === "LAGGING") return told({ tone: "progress", word: states.waiting }, t.generated.laggingWhy);
  const isCurrent = state === "CONNECTED";
  if (reported !== undefined && !isSameContent(reported, resource)) return told({ tone: "warning", word: states.differs });
  if (reported !== undefined) return told(isCurrent ? APPLIED : NOT_KNOWN);
  if (comparison !== undefined || mode !== "manage") {
    const { same = 0, wouldCreate = 0, wouldChange = 0, conflicts = 0 } = comparison ?? {};
    if (isCurrent && same > 0 && wouldCreate + wouldChange + conflicts === 0) return told(APPLIED);
    return told({ tone: "warning", word: states.held }, t.generated.heldWhy(comparison?.mode ?? mode));
  }
  const rejection = rejectionOf(fleet, resource);
  if (rejection !== undefined) return told(approvalStatus("INVALID"), rejection);
  return told(isCurrent && isAppliedForPolicies(fleet, resource) ? APPLIED : NOT_KNOWN);
}

/** Whether what a cluster reports under the name of a generated object is what was written for it: the label says so. */
export function isOurs(reported: Resource, resource: Resource): boolean {
  const owner = resource.metadata.labels?.[OWNER_LABEL];
  return owner !== undefined && reported.metadata.labels?.[OWNER_LABEL] === owner;
}

/** Metadata is more than was written, and a status is somebody else's. */
function isSameContent(a: Resource, b: Resource): boolean {
  return equalJson(contentOf(a), contentOf(b));
}

function contentOf(resource: Resource): object {
  const { apiVersion: _, metadata: __, status: ___, ...content } = resource as Resource & { readonly status?: unknown };
  return content;
}

/** What a policy's status says of an object that could not be written. */
function refusalOf({ snapshot }: Fleet, resource: Resource): string | undefined {
  const start = `${formatRef(refOf(resource))}${NOT_WRITTEN}`;
  return refusals(snapshot).find((error) => error.startsWith(start));
}

// As the finding WriteFailed begins: docs/reference/conditions.md.
const NOT_WRITTEN = " cannot be written";

/** Statuses of policies in workload clusters do not count: their users may write them. */
const refusals = remembering((snapshot: Snapshot): readonly string[] =>
  POLICY_KINDS.flatMap((kind) =>
    [...snapshot.of(kind)].flatMap((policy) => {
      const { state, destinations = {}, meshes = {} } = (policy as PolicyWithTargets).status ?? {};
      if (state !== "FAILED" || (policy.metadata.clusterName ?? "") !== "") return [];
      const errors = [...Object.values(destinations), ...Object.values(meshes)].flatMap((target) => target.errors ?? []);
      return errors.filter((error) => error.includes(NOT_WRITTEN));
    }),
  ),
);

interface ByTarget {
  readonly errors?: readonly string[];
}
type PolicyWithTargets = Resource & {
  readonly status?: {
    readonly state?: string;
    readonly destinations?: Readonly<Record<string, ByTarget>>;
    readonly meshes?: Readonly<Record<string, ByTarget>>;
  };
};

/** Why Cilium rejects a policy of that name. That it accepts one proves nothing of the content: it may be an older one. */
function rejectionOf({ snapshot }: Fleet, resource: Resource): string | undefined {
  if (kindKeyOf(resource) !== kindKeyOf(CiliumNetworkPolicy)) return undefined;
  const { valid, message = "" } = snapshot.of(CiliumPolicyReport).get(refOf(resource))?.status ?? {};
  return valid === false ? message : undefined;
}

/** Whether all objects of a policy that has certainly a say in it are applied. */
function isAppliedForPolicies({ snapshot }: Fleet, resource: Resource): boolean {
  const parents = parentsOf(resource);
  const policyOf = (ref: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly namespace: string }) => {
    const kind = POLICY_KINDS.find((each) => each.kind === ref.kind);
    return kind && snapshot.of(kind).get({ ...ref, clusterName: "" });
  };
  if (parents.some((parent) => isApplied(policyOf(parent)))) return true;
  return parents.some((parent) => {
    const { status } = (parent.kind === Destination.kind ? snapshot.of(Destination).get(parent) : undefined) ?? {};
    const inForce = (kind: { readonly apiVersion: string; readonly kind: string }, refs: readonly { readonly ref?: NamedRef }[]) =>
      refs.map(({ ref }) => policyOf({ ...kind, name: ref?.name ?? "", namespace: ref?.namespace ?? "" }));
    switch (resource.kind) {
      case "AuthorizationPolicy":
      case CiliumNetworkPolicy.kind:
        return inForce(AccessPolicy, status?.appliedAccessPolicies ?? []).some(isApplied);
      case "VirtualService": {
        // Some of them are written into it, and nobody here knows which.
        const all = inForce(TrafficPolicy, status?.appliedTrafficPolicies ?? []);
        return all.length > 0 && all.every(isApplied);
      }
      default:
        return false;
    }
  });
}

interface NamedRef {
  readonly name?: string;
  readonly namespace?: string;
}

function isApplied(policy: Resource | undefined): boolean {
  if (policy === undefined) return false;
  const { observedGeneration = 0 } = (policy as Resource & { readonly status?: { readonly observedGeneration?: number } }).status ?? {};
  if (observedGeneration < (policy.metadata.generation ?? 0)) return false;
  return conditionsOf(policy).some(({ type, status }) => type === "Applied" && status === "True");
}
