import { Settings } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import { memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, expect, it } from "vitest";
import { demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { clock, eventually } from "./virtualTime.ts";

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
});
