import { ARCHIVED, type Direction, type WireFault } from "../disturbedNetwork.ts";
import type { StepKinds } from "../step.ts";

const DIRECTIONS: readonly Direction[] = ["up", "down"];
const FAULTS: readonly WireFault[] = ["drop", "duplicate", "swap", "late"];
const DELAYS_MS = [0, 3, 50, 400];
const LIVES_MS = [0, 2_000, 6_000];

/** What happens between the agents and the server. */
export const networkSteps: StepKinds = {
  cut: { weight: 4, isAboutCluster: true, act: ({ fleet }, { cluster }) => fleet.network.cut(cluster) },
  silence: { weight: 3, isAboutCluster: true, act: ({ fleet }, { cluster }) => fleet.network.silence(cluster) },
  mend: { weight: 4, isAboutCluster: true, act: ({ fleet }, { cluster }) => fleet.network.mend(cluster) },
  /** The connection ends, and a new one can be made at once. */
  flap: {
    weight: 3,
    isAboutCluster: true,
    act({ fleet }, { cluster }) {
      fleet.network.cut(cluster);
      fleet.network.mend(cluster);
    },
  },
  /** The agent's certificate expires soon, or has: the connection ends, and there is none before there is another certificate. */
  expireCertificate: {
    weight: 2,
    n: LIVES_MS.length,
    isAboutCluster: true,
    act({ fleet }, { cluster, n }) {
      fleet.certificates.issue(cluster, LIVES_MS[n] ?? 0);
      fleet.network.cut(cluster);
      fleet.network.mend(cluster);
    },
  },
  rotateCertificate: { weight: 3, isAboutCluster: true, act: ({ fleet }, { cluster }) => fleet.certificates.rotate(cluster) },
  slowNetwork: {
    weight: 2,
    n: DELAYS_MS.length,
    act({ fleet }, { n }) {
      fleet.delays.network = DELAYS_MS[n] ?? 0;
    },
  },
  disturb: {
    weight: 6,
    n: DIRECTIONS.length,
    v: FAULTS.length,
    isAboutCluster: true,
    act: ({ fleet }, { cluster, n, v }) => fleet.network.disturb(cluster, DIRECTIONS[n] ?? "up", FAULTS[v] ?? "drop"),
  },
  replay: {
    weight: 3,
    n: DIRECTIONS.length,
    v: 12,
    isAboutCluster: true,
    act: ({ fleet }, { cluster, n, v }) => fleet.network.replay(cluster, DIRECTIONS[n] ?? "up", v),
  },
  /** The connection ends, and into the next one comes what was said at the beginning of an earlier one. */
  reopen: {
    weight: 2,
    n: DIRECTIONS.length,
    v: 6,
    isAboutCluster: true,
    act({ fleet }, { cluster, n, v }) {
      fleet.network.replayAtOpening(cluster, DIRECTIONS[n] ?? "up", { back: v >> 1, messages: v % 2 === 0 ? 1 : ARCHIVED });
      fleet.network.cut(cluster);
      fleet.network.mend(cluster);
      return fleet.clock.advance(5_000);
    },
  },
  forgeRemoval: {
    weight: 2,
    n: 24,
    isAboutCluster: true,
    act(stage, { cluster, n }) {
      const object = stage.ours(cluster, n);
      if (object === undefined) return;
      const { apiVersion, kind, metadata } = object;
      const { name, namespace = "" } = metadata;
      stage.fleet.network.forgeRemoval(cluster, { apiVersion, kind, name, namespace, clusterName: cluster });
    },
  },
};
