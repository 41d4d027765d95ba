import { randomUUID } from "node:crypto";
import { allKinds } from "@isthmus/api";
import { simulatedCluster } from "@isthmus/simulator";
import { memoryStore, readMembers } from "@isthmus/store";
import { expect, it } from "vitest";
import { createJoinToken, keepJoinTokens, type Leadership, mirrorJoinTokens } from "../src/index.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

const namespace = "gloo-mesh";

it("join tokens are mirrored by their hash while they can be used, by the replica that leads", async () => {
  const management = simulatedCluster({ name: "", clock, kinds: allKinds() });
  management.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
  const store = memoryStore({ clock, id: randomUUID });
  const life = new AbortController();
  let isLeader = false;
  const leadership: Leadership = {
    get isLeader() {
      return isLeader;
    },
    fence: 1,
    onChange: () => () => undefined,
  };
  const ended = mirrorJoinTokens(
    { cluster: management, namespace, store, leadership, clock, random: () => 0, log: recordingLog() },
    life.signal,
  );
  // What somebody else left behind goes, too.
  await store.putRecord("join-tokens", "gone", "{}");
  const east = await createJoinToken(management, { namespace, clock, clusterName: "east", lifetimeMs: 60_000 });
  const west = await createJoinToken(management, { namespace, clock, clusterName: "west", lifetimeMs: 1 });
  await quiet();
  expect(clock.now()).toBeGreaterThan(west.expiresAt);
  expect((await readMembers(store)).joinTokens.map(({ id }) => id)).toEqual(["gone"]);
  isLeader = true;
  await eventually(async () => expect((await readMembers(store)).joinTokens.map(({ cluster }) => cluster)).toEqual(["east"]));
  const [mirrored] = (await readMembers(store)).joinTokens;
  expect(mirrored?.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(Date.parse(mirrored?.expires ?? "")).toBe(east.expiresAt);
  expect(store.texts().join()).not.toContain(east.token.split(".").at(-1));

  const found = await keepJoinTokens(management, { namespace, clock }).find(east.token, "east");
  if (found === undefined || "problem" in found) throw new Error("the token is not found");
  expect(await found.use()).toBe(true);
  await eventually(async () => expect((await readMembers(store)).joinTokens).toEqual([]));
  life.abort();
  await ended;
});
