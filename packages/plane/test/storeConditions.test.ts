import { Settings } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import type { StoreCapacity } from "@isthmus/ports";
import { memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, expect, it } from "vitest";
import { demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
});
afterEach(() => fleet.stop());

const settings: Resource = { apiVersion: Settings.apiVersion, kind: Settings.kind, metadata: { name: "settings", namespace: "gloo-mesh" } };

/** What the Settings say of a store with these weaknesses. */
async function said(weaknesses: readonly string[] | undefined): Promise<readonly (readonly (string | undefined)[])[]> {
  const store = memoryStore({ clock, id: () => "one" });
  fleet.startServer("server", { store: { ...store, ...(weaknesses === undefined ? {} : { weaknesses }) } });
  await fleet.management.create(settings);
  return eventually(async () => {
    const { conditions = [] } = await statusOf(fleet, settings);
    expect(conditions.map(({ type }) => type)).toContain("Accepted");
    return conditions.filter(({ type }) => type === "StoreProtected").map(({ status, message }) => [status, message]);
  });
}

it("the Settings say that Redis is open to others, and by what", async () => {
  const [[status, message] = []] = await said(["no TLS", "no password"]);
  expect(status).toBe("False");
  expect(message).toMatch(/^no TLS; no password\. Others can read/);
});

it("the Settings say that Redis is closed", async () => {
  expect((await said([]))[0]?.[0]).toBe("True");
});

it("the Settings say nothing of a store of the server's own", async () => {
  expect(await said(undefined)).toEqual([]);
});

/** What the Settings say of whether Redis answers. */
async function connected(): Promise<string> {
  const { conditions = [] } = await statusOf(fleet, settings);
  const found = conditions.find(({ type }) => type === "StoreConnected");
  return `${found?.status}: ${found?.message}`;
}

it("the Settings say that Redis does not answer, and why, and that it answers again", async () => {
  const store = memoryStore({ clock, id: () => "one" });
  store.faults.stop();
  fleet.startServer("server", { store: { ...store, weaknesses: [] } });
  await fleet.management.create(settings);
  await eventually(async () => expect(await connected()).toMatch(/^False: .+; the server continues from memory/));
  store.faults.start();
  await eventually(async () => expect(await connected()).toMatch(/^True: /));
  // Nothing else changes any more.
  await quiet(60_000);
  store.faults.stop();
  await eventually(async () => expect(await connected()).toMatch(/^False: /));
});

/** What the Settings say of whether the store has room. */
async function room(): Promise<string | undefined> {
  const { conditions = [] } = await statusOf(fleet, settings);
  const found = conditions.find(({ type }) => type === "StoreHasRoom");
  return found && `${found.status} ${found.reason}: ${found.message}`;
}

const MEBIBYTE = 2 ** 20;
it.each<[string, StoreCapacity, RegExp]>([
  ["has room", { usedBytes: 79 * MEBIBYTE, limitBytes: 100 * MEBIBYTE }, /^True HasRoom: Redis uses less than 80 % of 100 MiB/],
  [
    "is almost full",
    { usedBytes: 80 * MEBIBYTE, limitBytes: 100 * MEBIBYTE },
    /^False AlmostFull: Redis uses 80 % or more of 100 MiB.*redis\.deployment\.resources/,
  ],
  ["drops entries", { usedBytes: 1, limitBytes: MEBIBYTE, evictionPolicy: "allkeys-lru" }, /^False Evicts: .*allkeys-lru.*noeviction/],
  ["has no limit", { usedBytes: 1 }, /^Unknown NoLimit: .*maxmemory is 0/],
  ["does not say", { unknown: "its user may not ask" }, /^Unknown NotSaid: .*its user may not ask/],
])("the Settings say that Redis %s", async (_, capacity, message) => {
  const store = { ...memoryStore({ clock, id: () => "one" }), weaknesses: [], capacity: async () => capacity };
  fleet.startServer("server", { store });
  await fleet.management.create(settings);
  await eventually(async () => expect(await room()).toMatch(message));
});

it("the Settings say what a full Redis does not take, until it takes it, and that it answers", async () => {
  const store = memoryStore({ clock, id: () => "one" });
  fleet.startServer("server", { store: { ...store, weaknesses: [], capacity: async () => ({ usedBytes: 9, limitBytes: 90 }) } });
  await fleet.management.create(settings);
  await eventually(async () => expect(await room()).toMatch(/^True /));
  store.faults.full(true);
  fleet.startAgent("cluster-1");
  await eventually(async () =>
    expect(await room()).toMatch(/^False Full: Redis is full and refuses to write: .*what is reported of cluster-1/),
  );
  expect(await connected()).toMatch(/^True: /);
  await eventually(async () => expect(await room()).toMatch(/what users declare/));
  store.faults.full(false);
  await eventually(async () => expect(await room()).toMatch(/^True HasRoom/));
});
