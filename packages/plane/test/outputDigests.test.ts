import { outputSet, type Resource } from "@isthmus/core";
import { expect, test } from "vitest";
import { outputDigests } from "../src/replication/outputDigests.ts";

const OWNER = { label: "owner.test", value: "a" } as const;

function wantedIn(clusterName: string, count: number) {
  return outputSet(
    OWNER,
    Array.from({ length: count }, (_, i) => {
      const resource: Resource = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `config-${i}`, namespace: "a", clusterName } };
      return { resource, parents: [] };
    }),
  );
}

/** Digests whose pauses are counted, and end when the test says so. */
function paused() {
  const pauses: (() => void)[] = [];
  let made = 0;
  const digests = outputDigests({
    now: () => 0,
    sleep: () => {
      made++;
      return new Promise((resolve) => pauses.push(resolve));
    },
  });
  return {
    digests,
    made: () => made,
    async goOn(): Promise<void> {
      await settled();
      for (let end = pauses.shift(); end !== undefined; end = pauses.shift()) {
        end();
        await settled();
      }
    },
  };
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("many small clusters in a row make pauses as one large one does", async () => {
  const { digests, made, goOn } = paused();
  const names = Array.from({ length: 50 }, (_, i) => `cluster-${i}`);
  const all = Promise.all(names.map((name) => digests.digestOf(name, wantedIn(name, 20))));
  await goOn();
  expect((await all).map(({ count }) => count)).toEqual(names.map(() => 20));
  expect(made()).toBe(5);
});

test("a cluster that is forgotten while its digest waits does not come back", async () => {
  const { digests, goOn } = paused();
  const large = digests.digestOf("cluster-1", wantedIn("cluster-1", 500));
  const waits = digests.digestOf("cluster-2", wantedIn("cluster-2", 3));
  digests.forget("cluster-2");
  await goOn();
  expect([(await large).count, (await waits).count, digests.total().count]).toEqual([500, 3, 500]);
  const again = digests.digestOf("cluster-2", wantedIn("cluster-2", 4));
  await goOn();
  expect([(await again).count, digests.total().count]).toEqual([4, 504]);
});
