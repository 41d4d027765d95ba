import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { allKinds } from "@isthmus/api";
import { alwaysLeader, type Leadership, type Server, type Store, serverRoles, startServer, systemClock } from "@isthmus/plane";
import { simulatedCluster } from "@isthmus/simulator";
import { NAMESPACE } from "../drawing/fleetObjects.ts";
import { operatorsObjects, SILENT } from "./goodInputs.ts";

/** A management server without agents, which learns of clusters from what its store holds. */
export interface FollowingServer {
  readonly server: Server;
  stop(): Promise<void>;
}

/** `leadership`: whether it leads; default: it always does. */
export async function startFollowingServer(store: Store, leadership: Leadership = alwaysLeader): Promise<FollowingServer> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const management = simulatedCluster({ name: "", clock: systemClock, kinds: allKinds() });
  management.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }, ...operatorsObjects()]);
  const server = startServer(
    {
      cluster: management,
      link: () => ({ setDesired: () => undefined, sendNotices: () => undefined, disconnect: () => undefined }),
      ...serverRoles(NAMESPACE),
      resumeDeletes: () => Promise.resolve(),
      namespace: NAMESPACE,
      translation: { namespace: NAMESPACE, stage: "all" },
      sharing: { store, replica: "follower" },
      leadership,
      clock: systemClock,
      random: Math.random,
      log: SILENT,
    },
    stop.signal,
  );
  while (!server.sharing.isLoaded) await sleep(20);
  return {
    server,
    async stop() {
      stop.abort(new Error("the fuzzing is over"));
      await server.ended;
    },
  };
}
