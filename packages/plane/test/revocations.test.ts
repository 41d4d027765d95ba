import { randomUUID } from "node:crypto";
import { type MemoryStore, memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Revocations, startRevocations } from "../src/identity/revocations.ts";
import { ClusterError, REVOCATIONS } from "../src/index.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually } from "./virtualTime.ts";

const EARLIER = 1_000_000;
const LATER = 2_000_000;

let store: MemoryStore;
let life: AbortController;
/** What the management cluster says. */
let truth: Map<string, number>;

beforeEach(() => {
  store = memoryStore({ clock, id: randomUUID });
  life = new AbortController();
  truth = new Map();
});
afterEach(() => life.abort());

interface TestReplica {
  readonly revocations: Revocations;
  readonly watched: Map<string, number>;
  readonly revoked: [string, number][];
  /** Whether the management cluster answers: at once, not at all, or with an error. */
  reach: "answers" | "refuses" | "hangs";
}

function replica(reach: TestReplica["reach"] = "answers"): TestReplica {
  const watched = new Map<string, number>();
  const revoked: [string, number][] = [];
  const self = { watched, revoked, reach };
  const revocations = startRevocations(
    {
      store,
      watched: () => watched,
      async ask(clusterName, signal) {
        if (self.reach === "refuses") throw new ClusterError("Unavailable", "not reached");
        if (self.reach === "hangs") await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        return truth.get(clusterName);
      },
      revoked: (clusterName, before) => void revoked.push([clusterName, before]),
      clock,
      random: () => 0,
      log: recordingLog(),
    },
    life.signal,
  );
  return Object.assign(self, { revocations });
}

/** What an operator says, and some replicas hear. */
function revoke(clusterName: string, before: number, ...hearing: readonly TestReplica[]): void {
  truth.set(clusterName, before);
  for (const { watched, revocations } of hearing) {
    watched.set(clusterName, before);
    revocations.learned(clusterName);
  }
}

const mirrored = async () => Object.fromEntries(await store.records(REVOCATIONS));

describe("revocations", () => {
  it.each(["refuses", "hangs"] as const)("reach a replica whose API server %s", async (reach) => {
    const [near, cutOff] = [replica(), replica(reach)];
    revoke("east", LATER, near);
    await eventually(() => expect(cutOff.revocations.before("east")).toBe(LATER));
    expect(cutOff.revoked).toContainEqual(["east", LATER]);
    expect(cutOff.revocations.before("west")).toBeUndefined();
  });

  it("reach it though the notice was lost, and count as the latest moment that was heard", async () => {
    const cutOff = replica("refuses");
    cutOff.watched.set("east", EARLIER);
    const near = replica();
    store.faults.loseNotices(10);
    revoke("east", LATER, near);
    await eventually(() => expect(cutOff.revocations.before("east")).toBe(LATER));
  });

  it("are filled in again after the store was emptied, and forgotten by nobody meanwhile", async () => {
    const [near, cutOff] = [replica(), replica("refuses")];
    revoke("east", LATER, near);
    await eventually(() => expect(cutOff.revocations.before("east")).toBe(LATER));
    store.faults.wipe();
    expect(await mirrored()).toEqual({});
    await eventually(async () => expect(await mirrored()).toEqual({ east: String(LATER) }));
    expect([near, cutOff].map(({ revocations }) => revocations.before("east"))).toEqual([LATER, LATER]);
  });

  it("are undone by the management cluster's word, from the mirror and from a replica that was cut off", async () => {
    const [near, cutOff] = [replica(), replica("refuses")];
    revoke("east", LATER, near);
    await eventually(() => expect(cutOff.revocations.before("east")).toBe(LATER));
    truth.delete("east");
    near.watched.delete("east");
    near.revocations.learned("east");
    await eventually(async () => expect(await mirrored()).toEqual({}));
    // Who cannot ask does not forget: that the mirror lacks it may be the store's loss.
    expect(cutOff.revocations.before("east")).toBe(LATER);
    cutOff.reach = "answers";
    await eventually(() => expect(cutOff.revocations.before("east")).toBeUndefined());
  });

  it("that nobody watched being undone are found stale", async () => {
    await store.putRecord(REVOCATIONS, "east", String(LATER));
    await store.putRecord(REVOCATIONS, "west", "whatever");
    truth.set("west", EARLIER);
    const late = replica();
    await eventually(async () => expect(await mirrored()).toEqual({ west: String(EARLIER) }));
    expect(late.revocations.before("east")).toBeUndefined();
    expect(late.revocations.before("west")).toBe(EARLIER);
  });

  it("that were watched long ago do not come back into the mirror", async () => {
    const cutOff = replica("refuses");
    cutOff.watched.set("east", EARLIER);
    await eventually(() => expect(cutOff.revocations.before("east")).toBe(EARLIER));
    expect(await mirrored()).toEqual({});
  });

  it("that a replica heard before it was cut off are passed on", async () => {
    const [cutOff, other] = [replica("refuses"), replica("refuses")];
    revoke("east", LATER, cutOff);
    await eventually(() => expect(other.revocations.before("east")).toBe(LATER));
  });

  it("end up the same whatever the store does meanwhile", async () => {
    const [one, two] = [replica(), replica()];
    store.faults.stop();
    revoke("east", EARLIER, one);
    revoke("east", LATER, one, two);
    store.faults.start();
    store.faults.loseNotices(3);
    await eventually(async () => expect(await mirrored()).toEqual({ east: String(LATER) }));
    await eventually(() => expect([one, two].map(({ revocations }) => revocations.before("east"))).toEqual([LATER, LATER]));
  });

  it("that cannot be read revoke everything, until somebody can ask", async () => {
    await store.putRecord(REVOCATIONS, "east", "soon");
    const cutOff = replica("refuses");
    await eventually(() => expect(cutOff.revocations.before("east")).toBe(8_640_000_000_000_000));
  });
});
