import { agentName } from "../processes.ts";
import type { StepKinds } from "../step.ts";

const WAITS_MS = [0, 1, 5, 30, 200, 1_000, 5_000, 20_000, 45_000];

/** Longer than a lease lasts. */
export const PAUSE_MS = 12_000;

/** What becomes of our processes, and time. */
export const processSteps: StepKinds = {
  wait: { weight: 22, n: WAITS_MS.length, act: ({ fleet }, { n }) => fleet.clock.advance(WAITS_MS[n] ?? 0) },
  stopServer: { weight: 3, act: ({ fleet }) => fleet.stopServer() },
  startServer: { weight: 4, act: ({ fleet }) => fleet.startServer() },
  restartServer: {
    weight: 4,
    async act({ fleet }) {
      await fleet.stopServer();
      fleet.startServer();
    },
  },
  stopAgent: { weight: 3, isAboutCluster: true, act: ({ fleet }, { cluster }) => fleet.stopAgent(cluster, "1") },
  startAgent: { weight: 4, isAboutCluster: true, act: ({ fleet }, { cluster }) => fleet.startAgent(cluster, "1") },
  restartAgent: {
    weight: 3,
    isAboutCluster: true,
    async act({ fleet }, { cluster }) {
      await fleet.stopAgent(cluster, "1");
      fleet.startAgent(cluster, "1");
    },
  },
  /** A second agent of the same name, which takes turns with the first. */
  startTwin: { weight: 1, isAboutCluster: true, act: ({ fleet }, { cluster }) => fleet.startAgent(cluster, "2") },
  stopTwin: { weight: 2, isAboutCluster: true, act: ({ fleet }, { cluster }) => fleet.stopAgent(cluster, "2") },
  /** What the leading replica of an agent asks of its API server comes so late that the other one may lead by then; or no longer does. */
  pauseAgent: {
    weight: 2,
    n: 2,
    isAboutCluster: true,
    act({ fleet }, { cluster, n }) {
      if (!fleet.hasAgentReplicas) return;
      for (const id of ["1", "2"]) fleet.slowDown(agentName(cluster, id), 0);
      for (const { name } of n === 0 ? [] : fleet.leadingAgents(cluster)) fleet.slowDown(name, PAUSE_MS);
    },
  },
  rest: { weight: 1, act: (stage) => stage.rest() },
};
