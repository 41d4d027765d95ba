import type { Fence, Store, StoredText, StoreNotice, StorePartition, StoreWrite } from "@isthmus/ports";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

// Finds what never comes; a busy machine may take most of it.
const LOST = { timeout: 100_000, interval: 20 };

export interface StoreUnderTest {
  readonly store: Store;
  /** The same store as another replica sees it. */
  readonly other: Store;
  stop(): Promise<void>;
}

/** What the loops may rely on of every `Store`: that in memory, in files and in Redis pass the same suite. */
export function storeContract(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the contract of a store`, () => {
    let under: StoreUnderTest;
    let partitions = 0;
    beforeAll(async () => {
      under = await makeStore();
    }, 60_000);
    afterAll(async () => under?.stop());

    const freshPartition = (): StorePartition => ({ section: "input", clusterName: `cluster-${++partitions}` });
    const fenceFor = (partition: StorePartition, by = "one"): Promise<Fence> =>
      under.store.raiseFence(`input/${partition.clusterName}`, by);

    it("gives each fence a higher number than all before", async () => {
      const first = await under.store.raiseFence("a", "one");
      const second = await under.other.raiseFence("a", "two");
      expect(second.number).toBeGreaterThan(first.number);
      expect(second.name).toBe("a");
    });

    it("keeps what is written, changes and removes it, and says how it stands", async () => {
      const partition = freshPartition();
      const fence = await fenceFor(partition);
      const first = writeOf({ partition, fence, put: [text("v1/Pod", "a"), text("v1/Pod", "b"), text("/Service", "a")] });
      expect(await under.store.write(first)).toBe("written");
      const second = writeOf({ partition, fence, put: [text("v1/Pod", "a", "new")], remove: [{ kindKey: "v1/Pod", key: "b" }] });
      expect(
        await under.store.write({ ...second, base: { fence: fence.number, sequence: 1 }, sequence: 2, meta: { phase: "synced" } }),
      ).toBe("written");
      expect(await loaded(under.other, partition, "v1/Pod")).toEqual([["a", `{"said":"new"}`]]);
      expect(await loaded(under.other, partition, "/Service")).toEqual([["a", `{"said":"a"}`]]);
      expect(await loaded(under.other, partition, "/Nothing")).toEqual([]);
      expect(await under.other.head(partition)).toEqual({
        version: { fence: fence.number, sequence: 2 },
        complete: true,
        kinds: { "v1/Pod": { count: 1, digest: "00" } },
        meta: { phase: "synced" },
      });
      const { versions } = await under.other.overview("input");
      expect(versions.get(partition.clusterName)).toEqual({ fence: fence.number, sequence: 2 });
      expect((await under.other.overview("translated")).versions.has(partition.clusterName)).toBe(false);
    });

    it("keeps objects whatever letters are in them", async () => {
      const partition = freshPartition();
      const said = `"quoted" \\ \n ü 漢 😀 \u2028 $& %s`;
      await under.store.write(writeOf({ partition, fence: await fenceFor(partition), put: [text("/ConfigMap", "ü.😀.c", said)] }));
      expect(await loaded(under.other, partition, "/ConfigMap")).toEqual([["ü.😀.c", JSON.stringify({ said })]]);
    });

    it("erases kinds before it puts, and leaves the others", async () => {
      const partition = freshPartition();
      const fence = await fenceFor(partition);
      await under.store.write(writeOf({ partition, fence, put: [text("/A", "1"), text("/A", "2"), text("/B", "1")] }));
      const base = { fence: fence.number, sequence: 1 };
      await under.store.write({ ...writeOf({ partition, fence, put: [text("/A", "3")], erase: ["/A"] }), base, sequence: 2 });
      expect(await loaded(under.store, partition, "/A")).toEqual([["3", `{"said":"3"}`]]);
      expect(await loaded(under.store, partition, "/B")).toHaveLength(1);
    });

    it("gives many objects in pages, each once", async () => {
      const partition = freshPartition();
      const names = Array.from({ length: 1_700 }, (_, i) => `object-${i}`);
      await under.store.write(writeOf({ partition, fence: await fenceFor(partition), put: names.map((key) => text("/Many", key)) }));
      const pages: string[][] = [];
      for await (const page of under.other.load(partition, "/Many")) pages.push(page.map(({ key }) => key));
      expect(pages.length).toBeGreaterThan(1);
      expect(pages.flat().sort()).toEqual([...names].sort());
    });

    it("refuses an older fence, before and after the newer one has written", async () => {
      const partition = freshPartition();
      const old = await fenceFor(partition, "one");
      expect(await under.store.write(writeOf({ partition, fence: old, put: [text("/A", "old")] }))).toBe("written");
      const young = await fenceFor(partition, "two");
      const late = { ...writeOf({ partition, fence: old, put: [text("/A", "late")] }), base: { fence: old.number, sequence: 1 } };
      expect(await under.store.write(late)).toBe("superseded");
      const take = { ...writeOf({ partition, fence: young, put: [text("/A", "young")] }), base: { fence: old.number, sequence: 1 } };
      expect(await under.other.write(take)).toBe("written");
      expect(await under.store.write({ ...late, base: { fence: young.number, sequence: 2 } })).toBe("superseded");
      expect((await loaded(under.store, partition, "/A")).map(([key]) => key).sort()).toEqual(["old", "young"]);
    });

    it("refuses a write that builds on another state, and changes nothing", async () => {
      const partition = freshPartition();
      const fence = await fenceFor(partition);
      await under.store.write(writeOf({ partition, fence, put: [text("/A", "1")] }));
      const wrong = writeOf({ partition, fence, put: [text("/A", "2")] });
      expect(await under.store.write(wrong)).toBe("changed");
      expect(await under.store.write({ ...wrong, base: { fence: fence.number, sequence: 7 } })).toBe("changed");
      expect(await loaded(under.store, partition, "/A")).toHaveLength(1);
    });

    it("clears a partition unless its fence is higher", async () => {
      const partition = freshPartition();
      const old = await fenceFor(partition);
      const young = await fenceFor(partition);
      await under.store.write(writeOf({ partition, fence: young, put: [text("/A", "1")] }));
      expect(await under.store.clear(partition, old)).toBe("superseded");
      expect(await under.store.clear(partition, young)).toBe("written");
      expect(await under.other.head(partition)).toBeUndefined();
      expect(await loaded(under.other, partition, "/A")).toEqual([]);
      expect(await under.store.write(writeOf({ partition, fence: old, put: [text("/A", "late")] }))).toBe("superseded");
    });

    it("tells everybody what was written, raised, cleared and recorded", async () => {
      const partition = freshPartition();
      const heard: StoreNotice[] = [];
      const stop = new AbortController();
      under.other.subscribe((notice) => heard.push(notice), stop.signal);
      // A subscription takes a moment where there is a network; a record says when it stands.
      await vi.waitFor(async () => {
        await under.store.putRecord("probe", "p", "1");
        expect(heard.some(({ type }) => type === "recorded")).toBe(true);
      }, LOST);
      const fence = await fenceFor(partition, "replica-1");
      const write = writeOf({ partition, fence, put: [text("/A", "ü")], remove: [{ kindKey: "/B", key: "b" }], erase: ["/C"] });
      await under.store.write(write);
      await under.store.write({ ...write, base: { fence: fence.number, sequence: 1 }, sequence: 2, complete: false });
      await under.store.clear(partition, fence);
      await vi.waitFor(() => expect(heard.at(-1)?.type).toBe("cleared"), LOST);
      const { delta } = write;
      expect(heard.filter(({ type }) => type !== "recorded" && type !== "missed")).toEqual([
        { type: "raised", fence, by: "replica-1" },
        {
          type: "written",
          partition,
          base: undefined,
          delta,
          head: expect.objectContaining({ version: { fence: fence.number, sequence: 1 } }),
        },
        {
          type: "written",
          partition,
          base: { fence: fence.number, sequence: 1 },
          head: expect.objectContaining({ complete: false, version: { fence: fence.number, sequence: 2 } }),
        },
        { type: "cleared", partition, fence },
      ]);
      stop.abort();
    });

    it("keeps records: one of several takes each, and they expire", async () => {
      expect(await under.store.putRecord("tokens", "x", "hash", { ifAbsent: true })).toBe(true);
      expect(await under.other.putRecord("tokens", "x", "another", { ifAbsent: true })).toBe(false);
      expect(await under.other.record("tokens", "x")).toBe("hash");
      expect(await under.store.record("other", "x")).toBeUndefined();
      await under.store.putRecord("tokens", "y", "short", { ttlMs: 1 });
      await vi.waitFor(async () => expect([...(await under.other.records("tokens"))]).toEqual([["x", "hash"]]), LOST);
      expect(await Promise.all([under.store.removeRecord("tokens", "x"), under.other.removeRecord("tokens", "x")])).toContain(true);
      expect(await under.store.removeRecord("tokens", "x")).toBe(false);
      expect([...(await under.store.records("tokens"))]).toEqual([]);
    });

    it("exchanges a record only for what is there, and one of several does", async () => {
      const exchange = (from: string | undefined, to: string | undefined, store = under.store) =>
        store.exchangeRecord("revocations", "east", { from, to });
      expect(await exchange("1", "2")).toBe(false);
      expect((await Promise.all([exchange(undefined, "1"), exchange(undefined, "2", under.other)])).sort()).toEqual([false, true]);
      const first = await under.other.record("revocations", "east");
      expect(await exchange(undefined, "3")).toBe(false);
      expect(await exchange(first, "", under.other)).toBe(true);
      expect([...(await under.store.records("revocations"))]).toEqual([["east", ""]]);
      expect(await exchange(undefined, "4")).toBe(false);
      expect(await exchange(first, undefined)).toBe(false);
      expect(await exchange("", undefined)).toBe(true);
      expect([...(await under.other.records("revocations"))]).toEqual([]);
    });

    it("lets what is exchanged stay, and takes what has expired for none", async () => {
      await under.store.putRecord("revocations", "west", "short", { ttlMs: 1 });
      await vi.waitFor(
        async () => expect(await under.other.exchangeRecord("revocations", "west", { from: undefined, to: "stays" })).toBe(true),
        LOST,
      );
      await under.store.putRecord("revocations", "west", "for a while", { ttlMs: 60_000 });
      expect(await under.other.exchangeRecord("revocations", "west", { from: "for a while", to: "for good" })).toBe(true);
      expect(await under.store.record("revocations", "west")).toBe("for good");
    });

    it("keeps its id", async () => {
      expect((await under.store.overview("input")).id).toBe((await under.other.overview("translated")).id);
    });
  });
}

function text(kindKey: string, key: string, said = key): StoredText & { readonly kindKey: string } {
  return { kindKey, key, text: JSON.stringify({ said }) };
}

type Parts = Pick<StoreWrite, "partition" | "fence"> & Partial<StoreWrite["delta"]>;

function writeOf({ partition, fence, put = [], remove = [], erase = [] }: Parts): StoreWrite {
  const kinds = Object.fromEntries(put.map(({ kindKey }) => [kindKey, { count: 1, digest: "00" }]));
  return { partition, fence, base: undefined, sequence: 1, delta: { erase, put, remove }, complete: true, kinds, meta: {} };
}

async function loaded(store: Store, partition: StorePartition, kindKey: string): Promise<readonly (readonly [string, string])[]> {
  const found: (readonly [string, string])[] = [];
  for await (const page of store.load(partition, kindKey)) found.push(...page.map(({ key, text: said }) => [key, said] as const));
  return found;
}
