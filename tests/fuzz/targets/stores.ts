import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { Service } from "@isthmus/api";
import { type Store, StoreError, type StorePartition, systemClock } from "@isthmus/plane";
import { fileStore, memoryStore } from "@isthmus/store";
import { EVIL } from "../drawing/fleetObjects.ts";
import { framed, unframed } from "../drawing/frames.ts";
import { META, storedPartition } from "../drawing/storeCommands.ts";
import type { EntryPoint, Target } from "../target.ts";
import { startFollowingServer } from "./followingServer.ts";
import { digestsOf, metaFrom, putsOf } from "./storeWrites.ts";

// So often others get their turn before the next input: a server that follows has heard of it then.
const TURNS = 8;
const PATIENCE_MS = 100_000;

/** Writes inputs into the store as another replica does, for a server that follows, and reads them as readers do. */
async function doorTo(store: Store, ended: () => Promise<void>): Promise<EntryPoint> {
  const { server, stop } = await startFollowingServer(store);
  let sequence = 0;

  async function write(input: Buffer): Promise<void> {
    const [section, meta, ...parts] = unframed(input).map(String);
    const partition: StorePartition = { section: section === "translated" ? section : "input", clusterName: EVIL };
    const put = putsOf(parts);
    // Another replica's; the follower raises none as long as it has no agent.
    const fence = { name: partition.section === "input" ? `input/${EVIL}` : "translated", number: 1 };
    const kinds = digestsOf(put);
    const base = (await store.head(partition))?.version;
    const delta = { erase: Object.keys(kinds), put, remove: [] };
    await store.write({ partition, fence, base, sequence: ++sequence, delta, complete: true, kinds, meta: metaFrom(meta ?? "") });
    for (let turn = 0; turn < TURNS; turn++) await nextTurn();
    for (const kindKey of Object.keys(kinds)) for await (const page of store.load(partition, kindKey)) void page;
    await store.overview(partition.section);
  }

  await write(framed(["input", JSON.stringify(META), "/Service", GOOD_KEY, GOOD_TEXT].map((text) => Buffer.from(text))));
  for (const until = performance.now() + PATIENCE_MS; server.store.snapshotIn(EVIL).of(Service).size !== 1; await sleep(10)) {
    if (performance.now() > until) throw new Error("the server does not follow what a store holds");
  }
  return {
    async take(input) {
      try {
        await write(input);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
      }
    },
    async stop() {
      await stop();
      await ended();
    },
  };
}

const GOOD_KEY = `a.b.${EVIL}`;
const GOOD_TEXT = JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name: "a", namespace: "b", clusterName: EVIL } });

/** Files, and a server that reads them. */
export const storeFiles: Target = {
  name: "store-files",
  about: "objects and heads in a store of files, and the server that follows it",
  draw: storedPartition,
  async start() {
    const path = mkdtempSync(join(tmpdir(), "isthmus-fuzz-store-"));
    let ids = 0;
    const store = await fileStore({ path: join(path, "store"), clock: systemClock, id: () => `id-${++ids}` });
    return doorTo(store, async () => {
      await store.close();
      rmSync(path, { recursive: true });
    });
  },
};

/** The same in memory, where there is nothing but the server to wait for. */
export const storeMemory: Target = {
  name: "store-memory",
  about: "objects and heads in a store in memory, and the server that follows it",
  draw: storedPartition,
  start: async () => doorTo(memoryStore({ clock: systemClock, id: () => "memory" }), async () => undefined),
};
