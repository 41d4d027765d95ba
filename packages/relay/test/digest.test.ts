import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashOf, hexOf, murmur3 } from "../src/session/digest.ts";
import {
  digestOfAll,
  digestOfKind,
  emptyInventory,
  type InventoryChange,
  keysOfKind,
  withChanges,
  withoutKind,
} from "../src/session/inventory.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  ["", 0, 0],
  ["", 1, 0x514e28b7],
  ["", 0xffffffff, 0x81f16f39],
  ["a", 0x9747b28c, 0x7fa09ea6],
  ["aaa", 0x9747b28c, 0x283e0130],
  ["aaaa", 0x9747b28c, 0x5a97808a],
  ["Hello, world!", 0x9747b28c, 0x24884cba],
  ["The quick brown fox jumps over the lazy dog", 0x9747b28c, 0x2fa826cd],
])("murmur3 of %j with seed %i is what others compute", (text, seed, expected) => {
  const { a, b } = murmur3({ a: seed, b: 1 }, bytes(text));
  expect(a >>> 0).toBe(expected);
  expect(b).toBe(murmur3({ a: 1, b: seed }, bytes(text)).a);
});

test.each([
  ["web.shop.cluster-1", '{"a":1}', "46e7bdcf33c3318d"],
  ["", "", "000000002fef5c8f"],
  ["café.shop.c", "é", "8cf8efb81bab0059"],
])("the hash of %j with %j is what agents and servers of other versions compute", (key, body, expected) => {
  expect(hexOf(hashOf(key, body))).toBe(expected);
  expect(hexOf(hashOf(key, bytes(body)))).toBe(expected);
});

describe("an inventory", () => {
  const change = fc.record({
    kind: fc.constantFrom("/Service", "apps/Deployment"),
    name: fc.constantFrom("a", "b", "c"),
    body: fc.option(fc.constantFrom("1", "2", "3"), { nil: undefined }),
  });

  test("has the digest of what it holds, however it came to hold it", () => {
    fc.assert(
      fc.property(fc.array(fc.array(change)), (batches) => {
        let inventory = emptyInventory;
        const held = new Map<string, InventoryChange>();
        for (const batch of batches) {
          const changes = batch.map(({ kind, name, body }) => ({
            kind,
            key: name,
            hash: body === undefined ? undefined : hashOf(name, bytes(body)),
          }));
          inventory = withChanges(inventory, changes);
          for (const it of changes) it.hash === undefined ? held.delete(`${it.kind}|${it.key}`) : held.set(`${it.kind}|${it.key}`, it);
        }
        const direct = withChanges(emptyInventory, [...held.values()].reverse());
        expect(digestOfAll(inventory)).toEqual(digestOfAll(direct));
        expect(digestOfKind(inventory, "/Service")).toEqual(digestOfKind(direct, "/Service"));
        expect(keysOfKind(inventory, "/Service")).toEqual(keysOfKind(direct, "/Service"));
        const without = withoutKind(inventory, "/Service");
        expect(digestOfKind(without, "/Service")).toEqual({ count: 0, digest: "0000000000000000" });
        expect(digestOfAll(without)).toEqual(digestOfKind(inventory, "apps/Deployment"));
      }),
    );
  });
});
