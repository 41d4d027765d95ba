import type { ServerResponse } from "node:http";
import type { ChangedPlace } from "../events/history.ts";
import type { ConsoleHub } from "../events/hub.ts";
import type { ViewerHub } from "../viewers/viewerHubs.ts";
import type { AgentSessions, MomentChanges } from "../wire.ts";
import { NOT_ASKED, sendBusy, sendJson } from "./answers.ts";

/** Who asks: undefined sees everything. */
interface Asked {
  readonly hub: Pick<ConsoleHub, "history" | "record">;
  readonly viewer: ViewerHub | undefined;
  readonly signal: AbortSignal;
}

/** How much changed from one moment to the next in each cluster, of what the user may see. */
export async function sendChanges(response: ServerResponse, { hub, viewer, signal }: Asked): Promise<void> {
  const { changes } = hub.history;
  const seen = await orNothing(
    async () =>
      new Set(
        await viewer?.seenOf(
          changes.flatMap(({ places }) => places),
          signal,
        ),
      ),
  );
  if (seen === undefined) return sendBusy(response, NOT_ASKED);
  const isSeen = (place: ChangedPlace) => viewer === undefined || seen.has(place);
  sendJson(response, {
    moments: changes.map(({ at, places }) => ({ at, clusters: byCluster(places.filter(isSeen)) })),
  } satisfies MomentChanges);
}

function byCluster(places: readonly ChangedPlace[]): MomentChanges["moments"][number]["clusters"] {
  const counts = new Map<string, number>();
  for (const { clusterName, count } of places) counts.set(clusterName, (counts.get(clusterName) ?? 0) + count);
  return [...counts].map(([name, count]) => ({ name, count }));
}

/** What became of agents, of the clusters that the user may see. */
export async function sendSessions(response: ServerResponse, { hub, viewer, signal }: Asked): Promise<void> {
  const { sessions } = hub.record;
  const names = [...new Set(sessions.events.map(({ cluster }) => cluster))];
  const seen = await orNothing(async () => (viewer === undefined ? new Set(names) : viewer.seenClusters(names, signal)));
  if (seen === undefined) return sendBusy(response, NOT_ASKED);
  sendJson(response, { ...sessions, events: sessions.events.filter(({ cluster }) => seen.has(cluster)) } satisfies AgentSessions);
}

/** Undefined where it is not known what the user may see. */
async function orNothing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
