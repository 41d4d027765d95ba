import { ConfigMap } from "@isthmus/api";
import { emptySnapshot, keyOfResource } from "@isthmus/core";
import { memoryStore } from "@isthmus/store";
import { expect, test } from "vitest";
import { StoreError, type StoreWrite } from "../src/index.ts";
import { partitionWriter } from "../src/replication/partitionWriter.ts";
import { recordingLog } from "./recordingLog.ts";
import { KIND, objectOf, partition } from "./shareContent.ts";

const clock = { now: () => 0, sleep: async () => undefined };

/** A writer of so many objects, to a store that says of the first writes that another one was faster. */
async function writerOf(objects: number, { changed = 0 } = {}) {
  let count = 0;
  const store = memoryStore({ clock, id: () => `id-${count++}` });
  const fence = await store.raiseFence("input/east", "one");
  const snapshot = emptySnapshot().apply({ put: Array.from({ length: objects }, (_, i) => objectOf(`c${i}`, "v")), remove: [] });
  const held = [...snapshot.of(ConfigMap)];
  const writes: StoreWrite[] = [];
  const writer = partitionWriter({
    ...{ partition, fence, clock, log: recordingLog(), meta: () => ({}) },
    store: {
      ...store,
      async write(write) {
        writes.push(write);
        return writes.length > changed ? store.write(write) : "changed";
      },
    },
    content: () => ({ kinds: [KIND], objects: () => held, at: (_, key) => held.find((object) => keyOfResource(object) === key) }),
  });
  return { writer, writes };
}

test("everything is written in parts of at most 500 objects", async () => {
  const { writer, writes } = await writerOf(1_001);
  expect(await writer.flush()).toBe("written");
  expect(writes.map(({ delta, complete }) => [delta.put.length, complete])).toEqual([
    [500, false],
    [500, false],
    [1, true],
  ]);
});

test("a partition that another writer changes is compared three times, and given up the fourth", async () => {
  expect(await (await writerOf(1, { changed: 3 })).writer.flush()).toBe("written");
  const { writer, writes } = await writerOf(1, { changed: 4 });
  await expect(writer.flush()).rejects.toThrow(StoreError);
  expect(writes).toHaveLength(4);
});
