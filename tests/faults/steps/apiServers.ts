import { VirtualService } from "@isthmus/api";
import type { Kind } from "@isthmus/core";
import type { ClusterErrorCode } from "@isthmus/ports";
import type { Verb } from "@isthmus/simulator";
import type { Fleet } from "../fleet.ts";
import { DEFINED_KINDS } from "../objects.ts";
import type { Step, StepKinds } from "../step.ts";

const CODES: readonly ClusterErrorCode[] = ["Conflict", "Invalid", "Unavailable", "Forbidden"];
const WRITES: readonly Verb[] = ["create", "update", "apply", "delete"];
const READS: readonly Verb[] = ["get", "list", "servedKinds"];
/** So long our client waits for an answer. */
const TIMEOUT_MS = 30_000;
const DELAYS_MS = [0, 2, 40, 600];

/** What goes wrong with the clusters' API servers. */
export const apiServerSteps: StepKinds = {
  failWrites: { weight: 4, n: 4, v: CODES.length, isAboutCluster: true, act: ({ fleet }, step) => fail(fleet, step.cluster, step, WRITES) },
  failPublishing: { weight: 3, n: 4, v: CODES.length, act: ({ fleet }, step) => fail(fleet, "", step, WRITES) },
  failStatuses: { weight: 2, n: 4, v: CODES.length, act: ({ fleet }, step) => fail(fleet, "", step, ["applyStatus"]) },
  failReads: { weight: 2, n: 4, isAboutCluster: true, act: ({ fleet }, step) => fail(fleet, step.cluster, { ...step, v: 2 }, READS) },
  /** The answer to a write is lost. */
  loseAnswers: {
    weight: 3,
    n: 4,
    isAboutCluster: true,
    act({ fleet }, { cluster, n }) {
      for (let i = 0; i <= n; i++) fleet.calls.failNext(cluster, { code: "Unavailable", afterWrite: true, verbs: WRITES });
    },
  },
  /** Writes hang until they are given up; they may have been made. */
  hangWrites: {
    weight: 2,
    n: 3,
    v: 2,
    isAboutCluster: true,
    act({ fleet }, { cluster, n, v }) {
      const fault = { code: "Unavailable", afterMs: TIMEOUT_MS, afterWrite: v === 1, verbs: WRITES } as const;
      for (let i = 0; i <= n; i++) fleet.calls.failNext(cluster, fault);
    },
  },
  slowApiServer: {
    weight: 3,
    n: DELAYS_MS.length,
    act({ fleet }, { n }) {
      fleet.delays.apiServer = DELAYS_MS[n] ?? 0;
    },
  },
  cutWatches: { weight: 2, isAboutCluster: true, act: ({ fleet }, { cluster }) => fleet.clusters.get(cluster)?.faults.cutWatches() },
  cutManagementWatches: { weight: 1, act: ({ fleet }) => fleet.management.faults.cutWatches() },
  /** The past is forgotten and every watch ends: all is to be listed again. */
  compact: {
    weight: 2,
    isAboutCluster: true,
    act({ fleet }, { cluster }) {
      const faults = fleet.clusters.get(cluster)?.faults;
      faults?.cutWatches();
      faults?.compact();
    },
  },
  compactManagement: {
    weight: 1,
    act({ fleet }) {
      fleet.management.faults.cutWatches();
      fleet.management.faults.compact();
    },
  },
  loseApiServer: { weight: 2, isAboutCluster: true, act: ({ fleet }, { cluster }) => fleet.clusters.get(cluster)?.faults.reachable(false) },
  loseManagement: { weight: 1, act: ({ fleet }) => fleet.management.faults.reachable(false) },
  reachApiServers: {
    weight: 3,
    act({ fleet }) {
      for (const cluster of [fleet.management, ...fleet.clusters.values()]) cluster.faults.reachable(true);
    },
  },
  unserve: {
    weight: 2,
    n: DEFINED_KINDS.length,
    isAboutCluster: true,
    act: (stage, { cluster, n }) => stage.setServed(cluster, kindAt(n), false),
  },
  serve: {
    weight: 3,
    n: DEFINED_KINDS.length,
    isAboutCluster: true,
    act: (stage, { cluster, n }) => stage.setServed(cluster, kindAt(n), true),
  },
  deleteDefinition: {
    weight: 1,
    n: DEFINED_KINDS.length,
    isAboutCluster: true,
    act: (stage, { cluster, n }) => stage.setDefined(cluster, kindAt(n), false),
  },
  putDefinition: {
    weight: 2,
    n: DEFINED_KINDS.length,
    isAboutCluster: true,
    act: (stage, { cluster, n }) => stage.setDefined(cluster, kindAt(n), true),
  },
};

function kindAt(n: number): Kind {
  return DEFINED_KINDS[n % DEFINED_KINDS.length] ?? VirtualService;
}

function fail(fleet: Fleet, clusterName: string, { n, v }: Pick<Step, "n" | "v">, verbs: readonly Verb[]): void {
  for (let i = 0; i <= n; i++) fleet.calls.failNext(clusterName, { code: CODES[v] ?? "Unavailable", afterWrite: false, verbs });
}
