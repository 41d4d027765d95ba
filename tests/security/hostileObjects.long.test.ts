import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { kindOf, Pod, parseOffline, ReplicaSet, TrafficPolicy } from "@isthmus/api";
import { type AnyResource, InvalidResource, type Resource, snapshotOf } from "@isthmus/core";
import { readDocuments, soundTranslation } from "@isthmus/testing";
import { statusesOf } from "@isthmus/translators";
import { describe, expect, test } from "vitest";

const TESTDATA = fileURLToPath(new URL("../../packages/translators/testdata/", import.meta.url));
const ROUNDS = 400;

/** Worlds as translators are tested with, as data. */
const worlds = readdirSync(TESTDATA, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".in.yaml"))
  .sort()
  .map((name) => readDocuments(readFileSync(TESTDATA + name, "utf8")).filter(isObject));

function isObject(value: unknown): value is AnyResource {
  return typeof value === "object" && value !== null && "apiVersion" in value && "kind" in value;
}

// What breaks code that takes a value for what it should be.
const VALUES: readonly unknown[] = [
  ...[
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 53,
    1e308,
    "",
    "constructor",
    "__proto__",
    "toString",
    "\u0000",
    "a.b.c",
    "*",
    "%",
    "((((",
    "-1s",
    "a/b",
  ],
  ...["x".repeat(300), [], {}, [null], [[]], [{}], ["x", "x"], { a: null }, { length: 3 }, { constructor: 1, toString: 2, valueOf: 3 }],
  JSON.parse('{"__proto__":{"toString":1}}'),
];
const KEYS = ["constructor", "__proto__", "toString", "valueOf", "hasOwnProperty", "0", "", "length", "prototype"];

/** The same numbers each time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

type Members = Record<string, unknown>;

/** The places of an object where another value can be put. */
function placesIn(value: unknown, found: { readonly parent: Members; readonly key: string }[] = []) {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, member] of Object.entries(value)) {
    found.push({ parent: value as Members, key });
    placesIn(member, found);
  }
  return found;
}

function spoilt(objects: readonly AnyResource[], random: () => number): readonly AnyResource[] {
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const copies = structuredClone(objects) as AnyResource[];
  for (let times = 1 + Math.floor(random() * 3); times > 0; times--) {
    const place = pick(placesIn(pick(copies)).filter(({ key }) => key !== "kind" && key !== "apiVersion"));
    if (place === undefined) continue;
    const { parent, key } = place;
    const isKey = random() < 0.25 && !Array.isArray(parent);
    const value = isKey ? parent[key] : pick(VALUES);
    Object.defineProperty(parent, isKey ? (pick(KEYS) ?? key) : key, { value, enumerable: true, configurable: true, writable: true });
    if (isKey) delete parent[key];
  }
  return copies;
}

/** What of some objects is of its kind. Anything but InvalidResource would end more than the object. */
function readable(objects: readonly AnyResource[]): readonly Resource[] {
  return objects.flatMap((object) => {
    const kind = kindOf(object.apiVersion, object.kind);
    if (kind === undefined) return [];
    try {
      return [parseOffline(kind, object)];
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidResource);
      return [];
    }
  });
}

function translated(resources: readonly Resource[]): void {
  const world = soundTranslation(snapshotOf(resources), { namespace: "gloo-mesh", stage: "all" });
  const text = JSON.stringify([world.reports, statusesOf(world), [...world.networking].map(({ resource }) => resource)]);
  expect(text).not.toContain("InternalError");
}

describe("an object of anybody", () => {
  test.each([1, 2, 3, 4])(
    "is of its kind or is not, and never ends a translation: %i",
    (seed) => {
      const random = numbers(seed);
      for (let round = 0; round < ROUNDS / 4; round++) {
        const world = worlds[Math.floor(random() * worlds.length)] ?? [];
        translated(readable(spoilt(world, random)));
      }
    },
    120_000,
  );

  test.each(["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__"])(
    "is not of its kind with %s for a word of an enum",
    (word) => {
      const metadata = { name: "x", namespace: "shop" };
      const spec = { policy: { mtls: { istio: { tlsMode: word } } } };
      const { apiVersion, kind } = TrafficPolicy;
      expect(() => parseOffline(TrafficPolicy, { apiVersion, kind, metadata, spec } as unknown as AnyResource)).toThrow(
        `"${word}" is not one of DISABLE, SIMPLE, ISTIO_MUTUAL`,
      );
    },
  );

  // Each of them ended the server's translation of all clusters.
  test.each([
    {},
    "x",
    [null],
    [{ kind: { toString: 1 }, name: "x", controller: true }],
    [{ kind: "ReplicaSet", name: { toString: 1 }, controller: true }],
  ])("is not of its kind with owners that are none: %j", (ownerReferences) => {
    for (const { apiVersion, kind } of [Pod, ReplicaSet]) {
      const metadata = { name: "x", namespace: "shop", clusterName: "a", ownerReferences };
      expect(readable([{ apiVersion, kind, metadata } as unknown as AnyResource])).toEqual([]);
    }
  });
});
