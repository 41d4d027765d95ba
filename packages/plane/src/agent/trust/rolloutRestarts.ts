import type { AnyResource, Kind, Log } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { ROLLED_OUT } from "../../runtime/controllerKinds.ts";
import type { RestartablePod } from "./podRestarts.ts";

/** Restarts workloads as `kubectl rollout restart` does, by an annotation of their pod template: with surge, and at their own pace. */
export interface RolloutRestarts {
  /**
   * Has the workload of an outdated pod rolled out, once for `moment`, since when a pod that starts counts as restarted, in milliseconds since
   * 1970. `rolling`: it is under way. `refused`: this is not possible, for the reason that is given, and its pods may be evicted.
   */
  restart(pod: RestartablePod, moment: number): Promise<RolloutOutcome>;
}

export type RolloutOutcome =
  | {
      readonly type: "rolling";
      /** How many pods the workload has when it is over; undefined: its controller does not say. Beside them are those of a surge. */
      readonly pods: number | undefined;
    }
  | { readonly type: "refused"; readonly reason: string | undefined };

/** What has to be known of a Deployment, StatefulSet or DaemonSet. */
interface Controller extends AnyResource {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
    readonly template?: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } };
  };
  readonly status?: { readonly desiredNumberScheduled?: number };
}

/** Keeps in memory what it has ordered: so another program that restores the template is left to it. */
export function rolloutRestarts({ cluster, log }: { readonly cluster: Cluster; readonly log: Log }, signal: AbortSignal): RolloutRestarts {
  /** By workload, the moment for which it was ordered last. */
  const ordered = new Map<string, string>();

  async function order(pod: RestartablePod, moment: string): Promise<RolloutOutcome> {
    const { kind: kindName = "", name = "" } = pod.owner ?? {};
    const kind = KINDS.get(kindName);
    if (kind === undefined) return refused(undefined);
    const { namespace } = pod;
    const found = await cluster.get(kind, { name, namespace }, signal);
    // Only its name says that it is the workload of the pod.
    if (found === undefined) return refused(undefined);
    const reason = whyNotRolledOut(found);
    if (reason !== undefined) return refused(reason);
    if (found.spec?.template?.metadata?.annotations?.[RESTARTED] === moment) return rolling(found);
    const workload = `${kindName} ${namespace}/${name}`;
    if (ordered.get(workload) === moment) return refused(`another program has restored the pod template of ${workload}`);
    const template = { metadata: { annotations: { [RESTARTED]: moment } } };
    const { uid } = found.metadata;
    const metadata = { name, namespace, ...(uid === undefined ? {} : { uid }) };
    const wanted = { apiVersion: kind.apiVersion, kind: kindName, metadata, spec: { template } } as AnyResource;
    await cluster.apply(wanted, { fieldManager: RESTART_MANAGER, force: true }, signal);
    if (ordered.size >= MOST_REMEMBERED) ordered.clear();
    ordered.set(workload, moment);
    log.info({ workload: `${namespace}/${name}` }, "had a workload rolled out whose pods use an earlier certificate");
    return rolling(found);
  }

  return {
    async restart(pod, moment) {
      try {
        return await order(pod, new Date(moment).toISOString());
      } catch (error) {
        if (!(error instanceof ClusterError) || error.code === "Unavailable") throw error;
        return refused(error.message);
      }
    },
  };
}

function refused(reason: string | undefined): RolloutOutcome {
  return { type: "refused", reason };
}

/** Of a DaemonSet, the nodes decide. */
function rolling({ spec, status }: Controller): RolloutOutcome {
  return { type: "rolling", pods: spec?.replicas ?? status?.desiredNumberScheduled };
}

/** Why another template would replace no pod, or not all of them. */
function whyNotRolledOut({ spec }: Controller): string | undefined {
  if (spec?.paused === true) return "its rollouts are paused";
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  if (type === "OnDelete") return "its update strategy is OnDelete";
  return (rollingUpdate?.partition ?? 0) > 0 ? "its rolling updates leave out a partition" : undefined;
}

function controllerKind(kind: string, plural: string): Kind<Controller> {
  return { apiVersion: "apps/v1", kind, plural, namespaced: true, versions: ["apps/v1"], parse: (input) => input as Controller };
}

const KINDS: ReadonlyMap<string, Kind<Controller>> = new Map([...ROLLED_OUT].map(([kind, plural]) => [kind, controllerKind(kind, plural)]));

/** On a pod template. */
const RESTARTED = "isthmus.mesh/certificates-since";
// Not that of what the server has applied: none of it is deleted or restored with that.
const RESTART_MANAGER = "gloo-mesh-restarts";
const MOST_REMEMBERED = 10_000;
