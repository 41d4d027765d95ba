import { AccessPolicy, CiliumNetworkPolicy, CiliumPolicyReport, shortenedMessage } from "@isthmus/api";
import { type Condition, formatRef, kindKeyOf, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import { type Finding, warningFinding } from "../findings.ts";
import { changesOf, versionsOf } from "../incremental/changes.ts";
import type { Translation } from "../pipeline/translate.ts";

/** What agents read back of the CiliumNetworkPolicies that exist because of one user's object. */
export interface NetworkLayer {
  readonly policies: number;
  /** Of those, how many nothing is reported of. */
  readonly unread: number;
  /** How many Cilium refuses. */
  readonly refused: number;
  /** How many Cilium says that it accepts. */
  readonly valid: number;
  /** Of how many it is known what they select. */
  readonly counted: number;
  /** Sums of those. */
  readonly endpoints: number;
  readonly enforcing: number;
}

const NO_NETWORK_LAYER: NetworkLayer = { policies: 0, unread: 0, refused: 0, valid: 0, counted: 0, endpoints: 0, enforcing: 0 };

const MEMBERS = Object.keys(NO_NETWORK_LAYER) as readonly (keyof NetworkLayer)[];

/** The sum of two, or their difference; undefined where there is no policy. */
export function networkLayerSum(left: NetworkLayer | undefined, right: NetworkLayer | undefined, sign: 1 | -1): NetworkLayer | undefined {
  if (right === undefined) return left;
  const sums = MEMBERS.map((member) => [member, (left?.[member] ?? 0) + sign * right[member]] as const);
  const sum = { ...NO_NETWORK_LAYER, ...Object.fromEntries(sums) };
  return sum.policies === 0 ? undefined : sum;
}

/** What is reported of one output; undefined for one that is no CiliumNetworkPolicy, and for a subject that is no AccessPolicy. */
export function networkLayerOf(ref: ResourceRef, subject: ResourceRef, { inputs }: Translation): NetworkLayer | undefined {
  if (kindKeyOf(ref) !== POLICIES || kindKeyOf(subject) !== kindKeyOf(AccessPolicy)) return undefined;
  const { status } = inputs.of(CiliumPolicyReport).get(ref) ?? {};
  if (status === undefined) return { ...NO_NETWORK_LAYER, policies: 1, unread: 1 };
  const { valid, endpoints, enforcing = 0 } = status;
  return {
    policies: 1,
    unread: 0,
    refused: valid === false ? 1 : 0,
    valid: valid === true ? 1 : 0,
    counted: endpoints === undefined ? 0 : 1,
    endpoints: endpoints ?? 0,
    // An agent might say anything.
    enforcing: Math.min(enforcing, endpoints ?? 0),
  };
}

/** What is to be reported of a policy that Cilium refuses; `mayName`: whether its subject may learn of objects in its cluster. */
export function refusalByCilium(ref: ResourceRef, mayName: boolean, { inputs }: Translation): Finding {
  const { message = "" } = inputs.of(CiliumPolicyReport).get(ref)?.status ?? {};
  const what = mayName ? formatRef(ref) : `a ${ref.kind} in another cluster`;
  const reason = mayName && message !== "" ? ` (${shortenedMessage(message)})` : "";
  const remedy = mayName
    ? "compare spec.allowedPorts, and spec.cilium.allowFrom of the Settings, with the reason and with the version of Cilium"
    : "contact the operators of the management plane";
  return warningFinding("RefusedByCilium", `${what} is refused by Cilium${reason}, so that only the mesh enforces this policy: ${remedy}`);
}

/** The outputs (`resourceKeyOf`) of which something else is reported than before. */
export function readBackAnew(now: Translation, before: Translation): readonly string[] {
  const { apiVersion, kind } = CiliumNetworkPolicy;
  return [...versionsOf(changesOf(CiliumPolicyReport, now.inputs, before.inputs))].map(
    ({ metadata: { name, namespace = "", clusterName = "" } }) => resourceKeyOf({ apiVersion, kind, name, namespace, clusterName }),
  );
}

/** The condition of an AccessPolicy that is enforced by Cilium as well. What is not known is not said. */
export function networkCondition(layer: NetworkLayer): Condition {
  const { policies, unread, refused, valid, counted, endpoints, enforcing } = layer;
  const type = "NetworkEnforced";
  const all = `${policies} CiliumNetworkPolic${policies === 1 ? "y" : "ies"}`;
  const unknown = policies - counted;
  const counts = counted === 0 ? "" : `; ${enforcing} of ${endpoints} endpoint${endpoints === 1 ? "" : "s"} enforce`;
  const uncounted = unknown === 0 || counted === 0 ? "" : `, not counting those of ${unknown} of ${all}`;
  if (refused > 0)
    return { type, status: "False", reason: "RefusedByCilium", message: `${refused} of ${all} refused${counts}${uncounted}` };
  if (unread > 0)
    return { type, status: "Unknown", reason: "NotReadBack", message: `${unread} of ${all} not read back${counts}${uncounted}` };
  const accepted = valid === 0 ? all : `${valid} of ${all} accepted`;
  const message = `${accepted}${counts}${uncounted}`;
  if (enforcing < endpoints) return { type, status: "False", reason: "NotEnforcing", message };
  if (counted > 0 && endpoints === 0) return { type, status: "Unknown", reason: "NoEndpoints", message };
  if (unknown === 0) return { type, status: "True", reason: "Enforced", message };
  return valid === policies
    ? { type, status: "True", reason: "Accepted", message }
    : { type, status: "Unknown", reason: "NotCounted", message: `${message}; what they select is not known` };
}

const POLICIES = kindKeyOf(CiliumNetworkPolicy);
