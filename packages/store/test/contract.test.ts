import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@isthmus/plane";
import { storeContract } from "@isthmus/testing";
import { fileStore, memoryStore } from "../src/index.ts";

storeContract("the store in memory", async () => {
  const store = memoryStore({ clock: systemClock, id: randomUUID });
  return { store, other: store, stop: () => store.close() };
});

storeContract("the store in files", async () => {
  const path = await mkdtemp(join(tmpdir(), "isthmus-store-"));
  const store = await fileStore({ path, clock: systemClock, id: randomUUID });
  return {
    store,
    other: store,
    async stop() {
      await store.close();
      await rm(path, { recursive: true });
    },
  };
});
