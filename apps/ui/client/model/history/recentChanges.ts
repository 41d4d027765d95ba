import type { Resource, Snapshot } from "@isthmus/core";
import { KubernetesCluster, POLICY_KINDS } from "../../data/kinds.ts";
import { conditionsOf, type PolicyCondition } from "../status.ts";

/** A condition of an object that changed. */
export interface RecentChange {
  readonly object: Resource;
  readonly condition: PolicyCondition;
}

const MOST_CHANGES = 8;

/** The conditions of clusters and policies that changed last, the latest first. Of an object that changed as a whole only the first that is not as it should be, or else the last. */
export function recentChanges(snapshot: Snapshot, isShown: (object: Resource) => boolean = () => true): readonly RecentChange[] {
  const changes = [KubernetesCluster, ...POLICY_KINDS].flatMap((kind) => [...snapshot.of(kind)].filter(isShown).flatMap(latestOf));
  return changes.sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1)).slice(0, MOST_CHANGES);
}

function latestOf(object: Resource): readonly RecentChange[] {
  const conditions = conditionsOf(object);
  const latest = conditions.reduce((last, { lastTransitionTime = "" }) => (lastTransitionTime > last ? lastTransitionTime : last), "");
  const together = conditions.filter(({ lastTransitionTime }) => lastTransitionTime === latest && latest !== "");
  const isCluster = object.kind === KubernetesCluster.kind;
  const condition = isCluster ? together[0] : (together.find(({ status }) => status === "False") ?? together.at(-1));
  return condition === undefined ? [] : [{ object, condition }];
}

function timeOf({ condition }: RecentChange): string {
  return condition.lastTransitionTime ?? "";
}
