import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EntryLimits, entryStore, type StoredEntry } from "../src/accessLogs/entryStore.ts";

function entry(podName: string, bytes: number, verified = true): StoredEntry {
  const proxy = { podName, namespace: "bookinfo", workloadName: podName, address: "" };
  return { proxy, logName: "all", protocol: "http", bytes: new Uint8Array(bytes), status: 200, verified, cut: false };
}

const ROOMY: EntryLimits = { entriesPerProxy: 50, proxies: 5_000, bytes: 64 * 1024 * 1024 };

/** What is left, the newest first, and why the others went. */
function after(limits: Partial<EntryLimits>, added: readonly StoredEntry[]) {
  const reasons: string[] = [];
  const store = entryStore({ ...ROOMY, ...limits }, (reason) => reasons.push(reason));
  for (const one of added) store.add(one);
  return { store, left: [...store.newest()], reasons };
}

describe("the store of access log entries", () => {
  it("keeps the newest entries of each proxy", () => {
    const added = [entry("a", 1), entry("a", 2), entry("b", 3), entry("a", 4)];
    const { left, reasons } = after({ entriesPerProxy: 2 }, added);
    expect(left.map(({ bytes }) => bytes.length)).toEqual([4, 3, 2]);
    expect(reasons).toEqual(["Ring"]);
  });

  it("forgets the proxy that wrote longest ago, above the number of proxies", () => {
    const { left, reasons } = after({ proxies: 2 }, [entry("a", 1), entry("b", 2), entry("a", 3), entry("c", 4)]);
    expect(left.map(({ proxy }) => proxy.podName)).toEqual(["c", "a", "a"]);
    expect(reasons).toEqual(["Proxies"]);
  });

  it("drops the oldest of all above its memory, what is not verified before all else", () => {
    const bytes = 3 * (100 + 512);
    expect(
      after(
        { bytes },
        ["a", "b", "c", "d"].map((pod) => entry(pod, 100)),
      ).left.map(({ proxy }) => proxy.podName),
    ).toEqual(["d", "c", "b"]);
    const flood = Array.from({ length: 1_000 }, (_, i) => entry(`stranger-${i}`, 100, false));
    const { left } = after({ bytes }, [entry("a", 100), ...flood]);
    expect(left.at(-1)?.proxy.podName).toBe("a");
  });

  it("lets nobody displace what is verified by claiming its name", () => {
    const { left } = after({ entriesPerProxy: 2 }, [entry("a", 1), ...Array.from({ length: 9 }, () => entry("a", 7, false))]);
    expect(left.map(({ bytes, verified }) => [bytes.length, verified])).toEqual([
      [7, false],
      [7, false],
      [1, true],
    ]);
  });

  it("never exceeds a limit, and accounts for each entry, whatever is added", () => {
    const some = fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.integer({ min: 0, max: 900 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(some, { maxLength: 60 }), (added) => {
        const limits = { entriesPerProxy: 3, proxies: 4, bytes: 6_000 };
        const { store, left, reasons } = after(
          limits,
          added.map(([pod, size, verified]) => entry(pod, size, verified)),
        );
        expect(store.bytes).toBeLessThanOrEqual(limits.bytes);
        expect(store.bytes).toBe(left.reduce((sum, { bytes }) => sum + bytes.length + 512, 0));
        expect(store.proxies).toBe(new Set(left.map(({ proxy, verified }) => `${proxy.podName}${verified}`)).size);
        expect(store.proxies).toBeLessThanOrEqual(limits.proxies);
        expect(store.size).toBe(left.length);
        expect(left.length + reasons.length).toBe(added.length);
      }),
    );
  });
});
