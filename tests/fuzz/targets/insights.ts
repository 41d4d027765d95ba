import { setTimeout as sleep } from "node:timers/promises";
import type { FleetInsights, Leadership, StorePartition } from "@isthmus/plane";
import { StoreError, systemClock } from "@isthmus/plane";
import { memoryStore } from "@isthmus/store";
import { GOOD } from "../drawing/fleetObjects.ts";
import { unframed } from "../drawing/frames.ts";
import { storedInsights } from "../drawing/storedInsights.ts";
import { OthersHarmed, type Target } from "../target.ts";
import { bundledApp, bundledMeshctl, checkEnd, type Meshctl, recordedStreams } from "./bundledApp.ts";
import { startFollowingServer } from "./followingServer.ts";
import { digestsOf, metaFrom, type Put, putsOf } from "./storeWrites.ts";

const PARTITION: StorePartition = { section: "insights", clusterName: "" };
// So often the server leads for a moment: it takes up what it finds, which takes seconds.
const LEADS_EACH = 128;
const PATIENCE_MS = 100_000;

/** Of apps/mgmt-server. */
interface Pages {
  insightsPage(server: { insights(): Promise<FleetInsights | undefined> }): (query: URLSearchParams) => Promise<Iterable<string>>;
}

/** What another leader has written of insights, read by a replica, by its page and meshctl, and taken up by the next leader. */
export const insights: Target = {
  name: "insights",
  about: "insights in a store, of another version or none: the replica that reads them, its page, meshctl, and the next leader",
  draw: storedInsights,
  async start() {
    const store = memoryStore({ clock: systemClock, id: () => "memory" });
    const { leadership, lead } = switchedLeadership();
    const follower = await startFollowingServer(store, leadership);
    const { insightsPage } = await bundledApp<Pages>("apps/mgmt-server/src/insightsPage.ts");
    const page = insightsPage({ insights: () => follower.server.insights() });
    const meshctl = await bundledMeshctl();
    let [sequence, inputs] = [0, 0];

    async function write(meta: string, put: readonly Put[]): Promise<void> {
      const head = await store.head(PARTITION);
      const fence = await store.raiseFence("insights", "another");
      const kinds = digestsOf(put);
      const delta = { erase: [...Object.keys(head?.kinds ?? {}), ...Object.keys(kinds)], put, remove: [] };
      await store.write({
        partition: PARTITION,
        fence,
        base: head?.version,
        sequence: ++sequence,
        delta,
        complete: true,
        kinds,
        meta: metaFrom(meta),
      });
    }

    async function takenUp(): Promise<void> {
      const before = JSON.stringify((await store.head(PARTITION))?.version);
      lead(true);
      for (
        const until = performance.now() + PATIENCE_MS;
        JSON.stringify((await store.head(PARTITION))?.version) === before;
        await sleep(20)
      )
        if (performance.now() > until) throw new Error("the next leader writes nothing");
      lead(false);
    }

    return {
      async take(input) {
        const [meta, ...parts] = unframed(input).map(String);
        try {
          await write(meta ?? "", [...putsOf(parts).filter(({ key }) => key !== GOOD_PUT.key), GOOD_PUT]);
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          return;
        }
        await checkPage([...(await page(new URLSearchParams()))].join(""), meshctl);
        if (inputs++ % LEADS_EACH !== 0) return;
        await takenUp();
        await checkPage([...(await page(new URLSearchParams()))].join(""), meshctl);
      },
      stop: follower.stop,
    };
  },
};

/** One of a good cluster, as a server writes it. */
const GOOD_REF = { apiVersion: "v1", kind: "Service", name: "good", namespace: "shop", clusterName: GOOD[0] ?? "" };
const GOOD_MESSAGE = "is as it was";
const GOOD_PUT: Put = {
  kindKey: "/Service",
  key: `good.shop.${GOOD[0]}`,
  text: JSON.stringify({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "good", namespace: "shop", clusterName: GOOD[0] },
    insights: [
      {
        since: 1_764_000_000_000,
        insight: {
          code: "CFG1002",
          category: "CFG",
          severity: "info",
          object: GOOD_REF,
          cluster: GOOD[0],
          field: "spec.ports[0].name",
          message: GOOD_MESSAGE,
          remedy: { text: "set appProtocol" },
        },
      },
    ],
    problems: [],
  }),
};

/** What a reader of the page gets: all of it, with what is said of the good cluster. */
async function checkPage(text: string, meshctl: Meshctl): Promise<void> {
  for (const output of ["text", "json", "sarif"]) {
    const { io, out, err } = recordedStreams(Buffer.from(""));
    const args = ["insights", "--admin-address", "http://127.0.0.1:1", "--suppressed", "--history", "-o", output];
    const code = await meshctl(args, io, { readAdminPage: async () => text });
    checkEnd(code, err, [0, 1, 3]);
    if (!out.join("").includes(GOOD_MESSAGE)) throw new OthersHarmed(`what is said of ${GOOD[0]} is not among ${output}`);
  }
}

/** A replica that leads when it is asked to. */
function switchedLeadership(): { readonly leadership: Leadership; readonly lead: (isLeader: boolean) => void } {
  let isLeader = false;
  const listeners = new Set<(isLeader: boolean) => void>();
  const leadership: Leadership = {
    get isLeader() {
      return isLeader;
    },
    fence: 1,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    leadership,
    lead(now) {
      isLeader = now;
      for (const listener of [...listeners]) listener(now);
    },
  };
}
