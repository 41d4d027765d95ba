import { randomBytes, randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import { systemClock } from "@isthmus/plane";
import type { Store, StoreVersion } from "@isthmus/ports";
import { fileStore } from "../src/index.ts";

const OBJECTS = 20;

/** Writes rounds of the same twenty objects, each with another content, until one fails; gives the last that was acknowledged. */
export async function writtenInto(
  store: Store,
  first: number,
  rounds: number,
  failed: (error: unknown) => void = rethrow,
): Promise<number> {
  const partition = { section: "input", clusterName: "a" } as const;
  const fence = await store.raiseFence("input/a", `writer-${first}`);
  let base: StoreVersion | undefined = (await store.head(partition))?.version;
  let last = first - 1;
  try {
    for (let sequence = 1; sequence <= rounds; sequence++) {
      const round = first + sequence - 1;
      const put = Array.from({ length: OBJECTS }, (_, i) => ({
        ...{ kindKey: "/Service", key: `web-${i}.shop.a` },
        text: JSON.stringify({ kind: "Service", round, noise: randomBytes(1_024).toString("hex") }),
      }));
      const kinds = { "/Service": { count: OBJECTS, digest: String(round) } };
      const delta = { erase: [], put, remove: [] };
      const outcome = await store.write({ partition, fence, base, sequence, delta, complete: true, kinds, meta: { round } });
      if (outcome !== "written") throw new Error(outcome);
      base = { fence: fence.number, sequence };
      last = round;
    }
  } catch (error) {
    failed(error);
  }
  return last;
}

function rethrow(error: unknown): never {
  throw error;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const store = await fileStore({ path: process.argv[2] ?? "", clock: systemClock, id: randomUUID });
  let problem: Error | undefined;
  const written = await writtenInto(store, 1, 1_000, (error) => {
    problem = error as Error;
  });
  console.log(JSON.stringify({ written, name: problem?.constructor.name, message: problem?.message }));
  process.exit(0);
}
