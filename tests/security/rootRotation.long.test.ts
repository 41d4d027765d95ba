import { RELAY_SECRETS } from "@isthmus/plane";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Replicas, replicasOf, secretOf, until } from "./harness/replicas.ts";

let plane: Replicas;
beforeEach(async () => {
  plane = await replicasOf();
});
afterEach(() => plane.stop());

const DAY = 86_400_000;

const rootsIn = (pem: string) => pem.match(/BEGIN CERTIFICATE/g)?.length ?? 0;
const namesOf = (event: string) => event.split(":")[0];

describe("certificates that the server made", () => {
  test("change their root with overlap, from the root's Secret to the last agent, while nobody is cut off", async () => {
    // A root that is seven days old is to be replaced; agents' certificates are renewed every few seconds.
    const options = { lifetimes: { root: 10 * DAY, signing: 10 * DAY, server: 10 * DAY, agent: 12_000 }, madeAgoMs: 7 * DAY };
    const one = await plane.start(options);
    const two = await plane.start(options);
    const first = one.kept.identity.root;
    expect([rootsIn(first), two.kept.identity]).toEqual([1, one.kept.identity]);
    const east = await plane.agent({ replica: one, clusterName: "east" });
    const west = await plane.agent({ replica: two, clusterName: "west" });
    await until(() => east.isConnected() && west.isConnected(), "both are connected");
    // One replica takes the steps; the others read them.
    await plane.start({ ...options, rotationCheckMs: 100 });
    await until(() => rootsIn(one.kept.identity.root) === 2, "both roots are trusted");
    await until(async () => rootsIn((await east.credentials())?.root ?? "") === 2, "the agent has learned both");
    await until(() => one.kept.identity.root !== first && rootsIn(one.kept.identity.root) === 1, "the old root is retired");
    await until(async () => (await east.credentials())?.root === one.kept.identity.root, "the agent has forgotten it too");
    expect(await secretOf(plane.management, RELAY_SECRETS.root)).toEqual({ "ca.crt": one.kept.identity.root });
    // What the user gave the agent is the user's, also when it is out of date.
    expect((await secretOf(east.cluster, "relay-root-tls-secret"))["ca.crt"]).toBe(first);
    await until(() => one.isConnected("east") && two.isConnected("west"), "both are connected");
    for (const { states } of [east, west]) {
      expect(states.filter((state) => state.startsWith("waiting")).map((state) => state.replace(/^waiting: /, ""))).toEqual(
        states.filter((state) => state === "waiting: it has a new certificate").map(() => "it has a new certificate"),
      );
      expect(states.map(namesOf).filter((state) => state === "registering")).toHaveLength(1);
    }
  });
});
