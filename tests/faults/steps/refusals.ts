import { Lease, VirtualService } from "@isthmus/api";
import { kindKeyOf } from "@isthmus/core";
import type { Verb } from "@isthmus/simulator";
import type { Refusal } from "../callFaults.ts";
import type { Fleet } from "../fleet.ts";
import { DEFINED_KINDS } from "../objects.ts";
import type { StepKinds } from "../step.ts";

const WRITES: ReadonlySet<Verb> = new Set<Verb>(["create", "update", "apply"]);
const PUBLISHED_KINDS = ["discovery.mesh.gloo.solo.io/Destination", "discovery.mesh.gloo.solo.io/Mesh"];
/** So long an API server waits for a webhook. Source: kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers */
const WEBHOOK_MS = 10_000;
/** Small, as all limits in these schedules are: some of our objects are larger. */
const SIZES = [500, 1_000, 2_000];
const WAITS_MS = [1_000, 5_000, 20_000];

/** What API servers refuse for a while, until it is mended: each time, as it is no accident. */
export const refusalSteps: StepKinds = {
  /** A webhook for writes of one kind does not answer. */
  webhookTimeouts: {
    weight: 1,
    n: DEFINED_KINDS.length,
    v: 2,
    isAboutCluster: true,
    act({ fleet }, { cluster, n, v }) {
      const kindKey = kindKeyOf(DEFINED_KINDS[n % DEFINED_KINDS.length] ?? VirtualService);
      refuse(fleet, cluster, "webhook", webhookOf(kindKey, v === 1));
    },
  },
  webhookTimeoutsOfManagement: {
    weight: 1,
    n: PUBLISHED_KINDS.length,
    act: ({ fleet }, { n }) => refuse(fleet, "", "webhook", webhookOf(PUBLISHED_KINDS[n] ?? "", false)),
  },
  /** No room for new objects: `v` says whether in the cluster or in the management cluster. */
  exceedQuota: {
    weight: 2,
    v: 3,
    isAboutCluster: true,
    act: ({ fleet }, { cluster, v }) =>
      refuse(fleet, v === 0 ? "" : cluster, "quota", { code: "Forbidden", ...ours(({ isNew }) => isNew === true) }),
  },
  /** What is larger than etcd takes. */
  refuseLarge: {
    weight: 2,
    n: SIZES.length,
    v: 3,
    isAboutCluster: true,
    act({ fleet }, { cluster, n, v }) {
      const most = SIZES[n] ?? 0;
      const isLarge: Refusal["refuses"] = ({ resource }) => resource !== undefined && JSON.stringify(resource).length > most;
      refuse(fleet, v === 0 ? "" : cluster, "size", { code: "Invalid", ...ours(isLarge) });
    },
  },
  /** Priority and fairness: the next calls, of whatever kind, are to come later. */
  throttle: {
    weight: 2,
    n: WAITS_MS.length,
    v: 3,
    isAboutCluster: true,
    act({ fleet }, { cluster, n, v }) {
      const fault = { code: "Unavailable", afterWrite: false, retryAfterMs: WAITS_MS[n] ?? 0, verbs: ALL } as const;
      for (let i = 0; i < THROTTLED; i++) fleet.calls.failNext(v === 0 ? "" : cluster, fault);
    },
  },
  /** Lists take longer than the API server keeps what they began with: their continue tokens expire. */
  expireLists: {
    weight: 2,
    n: 6,
    v: 3,
    isAboutCluster: true,
    act({ fleet }, { cluster, n, v }) {
      const name = v === 0 ? "" : cluster;
      for (let i = 0; i <= n; i++) fleet.calls.failNext(name, { code: "Expired", afterWrite: false, verbs: ["list"] });
      relist(fleet, name);
    },
  },
  /** No watch can begin where the list before it ended: changes are forgotten faster than that. */
  expireWatches: {
    weight: 2,
    v: 3,
    isAboutCluster: true,
    act({ fleet }, { cluster, v }) {
      const name = v === 0 ? "" : cluster;
      fleet.calls.refuse(name, "watches", { code: "Expired", afterWrite: false, refuses: ({ verb }) => verb === "watch" });
      relist(fleet, name);
    },
  },
  endRefusals: {
    weight: 3,
    v: 3,
    isAboutCluster: true,
    act({ fleet }, { cluster, v }) {
      for (const name of ["webhook", "quota", "size", "watches"]) fleet.calls.refuse(v === 0 ? "" : cluster, name, undefined);
    },
  },
};

const ALL: readonly Verb[] = ["servedKinds", "get", "list", "watch", "apply", "applyStatus", "create", "update", "updateStatus", "delete"];
const THROTTLED = 12;

function refuse(fleet: Fleet, clusterName: string, name: string, refusal: Omit<Refusal, "afterWrite">): void {
  fleet.calls.refuse(clusterName, name, { afterWrite: false, ...refusal });
}

/** Writes of objects; not of Leases, without which nobody leads and nothing else is tried. */
function ours(refuses: Refusal["refuses"]): Pick<Refusal, "refuses"> {
  return { refuses: (call) => WRITES.has(call.verb) && call.kindKey !== kindKeyOf(Lease) && refuses(call) };
}

function webhookOf(kindKey: string, isSlow: boolean): Omit<Refusal, "afterWrite"> {
  return { code: "Unavailable", afterMs: isSlow ? WEBHOOK_MS : 1, ...ours((call) => call.kindKey === kindKey) };
}

function relist(fleet: Fleet, clusterName: string): void {
  const cluster = clusterName === "" ? fleet.management : fleet.clusters.get(clusterName);
  cluster?.faults.cutWatches();
  cluster?.faults.compact();
}
