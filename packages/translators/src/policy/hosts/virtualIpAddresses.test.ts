import { type ClusterObjectRef, compareKeys, keyOf } from "@isthmus/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ageOf, compareAges } from "../precedence.ts";
import {
  isReserved,
  losingVirtualIps,
  plainAddress,
  plainVirtualIp,
  type VirtualIp,
  type VirtualIpCandidate,
} from "./virtualIpAddresses.ts";

function service(name: string, namespace: string, clusterName: string): ClusterObjectRef {
  return { name, namespace, clusterName };
}

function claim(name: string, namespace: string, creationTimestamp?: string): VirtualIpCandidate {
  const metadata = { clusterName: "c", ...(creationTimestamp === undefined ? {} : { creationTimestamp }) };
  return { service: service(name, namespace, "c"), age: ageOf(metadata, "CREATED") };
}

/** The address of each of some services. */
function assignVirtualIps(claims: readonly VirtualIpCandidate[]): ReadonlyMap<string, VirtualIp> {
  const byAddress = new Map<number, VirtualIpCandidate[]>();
  for (const one of claims) {
    const plain = plainAddress(one.service);
    byAddress.set(plain, [...(byAddress.get(plain) ?? []), one]);
  }
  const shared = [...byAddress].filter(([address, list]) => list.length > 1 || isReserved(address)).map(([, list]) => list);
  const displaced = losingVirtualIps(shared, (address) => byAddress.get(address) ?? []);
  return new Map(claims.map(({ service: one }) => [keyOf(one), displaced.get(keyOf(one)) ?? { address: plainVirtualIp(one) }]));
}

const UNDATED = ageOf({ clusterName: "c" }, "CREATED");

// Name and namespace are hashed without a separator, so services that differ only in where it stands share a hash.
const older = claim("ab", "cd", "2024-01-01T00:00:00Z");
const younger = claim("abc", "d", "2024-02-01T00:00:00Z");

describe("virtual IPs", () => {
  it("are those of the published product", () => {
    expect(plainVirtualIp(service("some-svc", "some-ns", "cluster"))).toBe("243.21.204.125");
    expect(plainVirtualIp(service("reviews", "bookinfo", "cluster-1"))).toBe("244.80.133.147");
    expect(plainVirtualIp(service("reviews", "bookinfo", "cluster-2"))).toBe("255.51.210.11");
    expect(plainVirtualIp(service("ratings", "bookinfo", "cluster-2"))).toBe("248.81.13.71");
    expect(plainVirtualIp(service("frontend", "gloo-mesh", ""))).toBe("246.94.86.0");
  });

  it("leave a shared address to the older service, and say so of the younger", () => {
    for (const claims of [
      [older, younger],
      [younger, older],
    ]) {
      const virtualIps = assignVirtualIps(claims);
      expect(virtualIps.get(keyOf(older.service))).toEqual({ address: plainVirtualIp(older.service) });
      const displaced = virtualIps.get(keyOf(younger.service));
      expect(displaced?.address).not.toBe(plainVirtualIp(younger.service));
      expect(displaced?.note).toContain("cd/ab in c");
    }
  });

  it("count a service without a date as the youngest", () => {
    const undated = claim("ab", "cd");
    expect(assignVirtualIps([undated, younger]).get(keyOf(younger.service))?.note).toBeUndefined();
  });

  it("of one service do not change when younger ones come", () => {
    const before = assignVirtualIps([older, younger]);
    const after = assignVirtualIps([claim("a", "bcd", "2024-03-01T00:00:00Z"), older, younger]);
    for (const { service: one } of [older, younger]) expect(after.get(keyOf(one))).toEqual(before.get(keyOf(one)));
  });

  it("stay with one that found another address, when a younger service comes whose plain hash that is", () => {
    const [alone] = losingVirtualIps([[older, younger]], () => []).values();
    const late = claim("late", "n", "2024-04-01T00:00:00Z");
    const isFirst = { value: true };
    // Such a service exists for each address; here the first address that is asked for is said to be its hash.
    const virtualIps = losingVirtualIps([[older, younger]], () => {
      const claims = isFirst.value ? [late] : [];
      isFirst.value = false;
      return claims;
    });
    expect(virtualIps.get(keyOf(younger.service))?.address).toBe(alone?.address);
  });

  it("pass over the range that Istio hands out itself", () => {
    const reserved = serviceWithin("240.240.");
    const virtualIp = assignVirtualIps([{ service: reserved, age: UNDATED }]).get(keyOf(reserved));
    expect(virtualIp?.address.startsWith("240.240.")).toBe(false);
    expect(virtualIp?.note).toContain("is reserved");
  });

  it("are distinct, reserved to nobody, and independent of order", () => {
    const names = fc.stringMatching(/^[ab]{1,3}$/);
    const claims = fc.uniqueArray(
      fc.record({
        service: fc.record({ name: names, namespace: names, clusterName: names }),
        age: fc.constantFrom(UNDATED, older.age, younger.age),
      }),
      {
        selector: (one) => keyOf(one.service),
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(claims, fc.nat(), (all, seed) => {
        const virtualIps = assignVirtualIps(all);
        expect(virtualIps.size).toBe(all.length);
        expect(new Set([...virtualIps.values()].map(({ address }) => address)).size).toBe(all.length);
        // Nobody's address depends on a younger service.
        const inOrder = [...all].sort((a, b) => compareAges(a.age, b.age) || compareKeys(keyOf(a.service), keyOf(b.service)));
        const olderHalf = inOrder.slice(0, seed % (all.length + 1));
        for (const [key, { address }] of assignVirtualIps(olderHalf)) expect(virtualIps.get(key)?.address).toBe(address);
        const shuffled = [...all.slice(seed % (all.length + 1)), ...all.slice(0, seed % (all.length + 1))].reverse();
        expect(new Map([...assignVirtualIps(shuffled)].sort())).toEqual(new Map([...virtualIps].sort()));
      }),
    );
  });
});

function serviceWithin(prefix: string): ClusterObjectRef {
  for (let i = 0; i < 1_000_000; i++) if (plainVirtualIp(service(`s${i}`, "n", "c")).startsWith(prefix)) return service(`s${i}`, "n", "c");
  throw new Error(`no service has an address in ${prefix}`);
}
