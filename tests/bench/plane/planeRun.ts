import { type FleetBeside, startFleetBeside } from "./fleetBeside.ts";
import type { HostedFleetOptions } from "./hostedFleet.ts";
import { remoteCluster } from "./remoteCluster.ts";
import { type ServerUnderTest, startServerUnderTest } from "./serverUnderTest.ts";

/** A server in this process, and beside it everything that it works with. */
export interface PlaneRun {
  readonly beside: FleetBeside;
  readonly plane: ServerUnderTest;
  /** How long it took from the start of the agents until all had been registered and were in sync, in milliseconds. */
  readonly syncMs: number;
}

export interface PlaneRunOptions extends HostedFleetOptions {
  readonly heapMiB?: number;
  readonly quietMs?: number;
  /** Default: yes. */
  readonly findsInsights?: boolean;
  /** Waits until all that was discovered is published, too. Default: no. */
  readonly isAtRest?: boolean;
}

/** Starts a plane, waits until every agent is in sync, runs `work`, and ends it all. */
export async function withPlane<T>(options: PlaneRunOptions, work: (run: PlaneRun) => Promise<T>): Promise<T> {
  const { heapMiB, quietMs = QUIET_MS, isAtRest = false, findsInsights = true, ...fleet } = options;
  const beside = startFleetBeside(heapMiB === undefined ? {} : { heapMiB });
  await beside.call("open", fleet);
  const plane = await startServerUnderTest({ cluster: remoteCluster("", beside), findsInsights });
  await beside.call("startAgents", plane.address);
  const syncMs = await beside.call<number>("settled", quietMs);
  if (isAtRest) await beside.call("atRest", REST_MS);
  try {
    return await work({ beside, plane, syncMs });
  } finally {
    await plane.stop();
    await beside.close();
  }
}

// Statuses and published objects follow for a while after the last agent has answered.
const QUIET_MS = 2_000;
// Bulk is written at a pace of 200 a second.
const REST_MS = 1_000;
