import type { CiliumPolicyState } from "@isthmus/api";
import { fullKeyOf, type ResourceRef, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";
import {
  AccessPolicy,
  CiliumClusterwideNetworkPolicy,
  CiliumNetworkPolicy,
  CiliumPolicyReport,
  CiliumReport,
  Destination,
  Mesh,
} from "../../data/kinds.ts";
import { t } from "../../strings.ts";
import { isOurs } from "../generatedState.ts";
import { parentsOf } from "../parents.ts";
import { approvalStatus, type Status } from "../status.ts";
import { clusterOf } from "./clusterOf.ts";

type AnyPolicy = CiliumNetworkPolicy | CiliumClusterwideNetworkPolicy;

/** A policy of Cilium, as a cluster reports it or as it is to be written there. */
export interface CiliumPolicyRow {
  readonly key: string;
  readonly object: AnyPolicy;
  /** Whether translation made it. What an object says of itself does not count: anybody can write annotations. */
  readonly isGenerated: boolean;
  /** Of a generated one: its cluster has one of somebody else under its name. */
  readonly isTaken: boolean;
  /** The AccessPolicies behind it, or else the objects that it exists because of; nothing of one that was made by hand. */
  readonly because: readonly ResourceRef[];
  /** What Cilium says of it. */
  readonly status: Status;
  readonly message: string;
  /** Of a generated one: how many pods it selects, and how many of those enforce. Undefined: not known. */
  readonly counts: { readonly endpoints: number; readonly enforcing: number } | undefined;
}

/** All policies of Cilium. One that is generated and one that somebody else made under its name are two; one that is reported as it was written is the generated one. */
export function ciliumPolicyRows({ snapshot, generated }: Pick<Fleet, "snapshot" | "generated">): readonly CiliumPolicyRow[] {
  const [reported, made] = [snapshot.of(CiliumNetworkPolicy), generated.of(CiliumNetworkPolicy)];
  const reports = snapshot.of(CiliumPolicyReport);
  return [
    ...[
      ...[...reported].filter((object) => !isWritten(object, made.get(refOf(object)))),
      ...snapshot.of(CiliumClusterwideNetworkPolicy),
    ].map(byHand),
    ...[...made].map((object): CiliumPolicyRow => {
      const ref = refOf(object);
      const state = reports.get(ref)?.status ?? {};
      const other = reported.get(ref);
      const isTaken = other !== undefined && !isOurs(other, object);
      return {
        key: `generated ${fullKeyOf(object)}`,
        object,
        isGenerated: true,
        isTaken,
        because: reasonsOf(snapshot, object),
        ...(isTaken
          ? { status: { tone: "bad", word: t.generated.states.taken }, message: t.generated.takenWhy, counts: undefined }
          : { status: statusOf(state.valid), message: state.message ?? "", counts: countsOf(state) }),
      };
    }),
  ];
}

function isWritten(reported: CiliumNetworkPolicy, made: CiliumNetworkPolicy | undefined): boolean {
  return made !== undefined && isOurs(reported, made);
}

function byHand(object: AnyPolicy): CiliumPolicyRow {
  const { status, message = "" } = object.status?.conditions?.find(({ type }) => type === "Valid") ?? {};
  return {
    key: fullKeyOf(object),
    object,
    isGenerated: false,
    isTaken: false,
    because: [],
    status: statusOf(status === "True" ? true : status === "False" ? false : undefined),
    message: status === "False" ? message : "",
    counts: undefined,
  };
}

function statusOf(isValid: boolean | undefined): Status {
  return isValid === undefined ? { tone: "unknown", word: t.states.unknown } : approvalStatus(isValid ? "ACCEPTED" : "INVALID");
}

function countsOf({ endpoints, enforcing = 0 }: CiliumPolicyState): CiliumPolicyRow["counts"] {
  return endpoints === undefined ? undefined : { endpoints, enforcing };
}

function reasonsOf(snapshot: Snapshot, object: CiliumNetworkPolicy): readonly ResourceRef[] {
  const found = parentsOf(object).flatMap((parent): readonly ResourceRef[] => {
    const destination = parent.kind === Destination.kind ? snapshot.of(Destination).get(parent) : undefined;
    const policies = (destination?.status?.appliedAccessPolicies ?? []).flatMap(({ ref }) =>
      ref?.name === undefined
        ? []
        : [{ ...REF_OF_ACCESS_POLICY, name: ref.name, namespace: ref.namespace ?? "", clusterName: ref.clusterName ?? "" }],
    );
    return policies.length === 0 ? [parent] : policies;
  });
  return [...new Map(found.map((ref) => [resourceKeyOf(ref), ref])).values()];
}

const REF_OF_ACCESS_POLICY = { apiVersion: AccessPolicy.apiVersion, kind: AccessPolicy.kind };

/** Cilium in one cluster, beside a mesh. */
export interface CiliumCluster {
  readonly mesh: Mesh;
  readonly cluster: string;
  /** How many identities and nodes it has; undefined: not known. */
  readonly identities: number | undefined;
  readonly nodes: number | undefined;
  readonly byHand: number;
  readonly generated: number;
}

/** Clusters in which Cilium was found, with how many policies of each origin they have. */
export function ciliumClusters(snapshot: Snapshot, policies: readonly CiliumPolicyRow[]): readonly CiliumCluster[] {
  const counts = new Map<string, { byHand: number; generated: number }>();
  for (const { object, isGenerated } of policies) {
    const cluster = clusterOf(object);
    const before = counts.get(cluster) ?? { byHand: 0, generated: 0 };
    counts.set(cluster, isGenerated ? { ...before, generated: before.generated + 1 } : { ...before, byHand: before.byHand + 1 });
  }
  const reports = new Map([...snapshot.of(CiliumReport)].map((report) => [clusterOf(report), report.status]));
  return [...snapshot.of(Mesh)].flatMap((mesh) => {
    if (mesh.spec?.cilium === undefined) return [];
    const cluster = clusterOf(mesh);
    const { identities, nodes } = reports.get(cluster) ?? {};
    return [{ mesh, cluster, identities, nodes, ...(counts.get(cluster) ?? { byHand: 0, generated: 0 }) }];
  });
}
