import { randomUUID } from "node:crypto";
import { CertificateRequest, IssuedCertificate } from "@isthmus/api";
import { kindKeyOf, type Resource, type ResourceRef } from "@isthmus/core";
import { type MemoryStore, memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoreError } from "../src/index.ts";
import { type RequestSender, startRequestSender } from "../src/server/requestSender.ts";
import { lead } from "./lead.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

interface Replica {
  readonly sender: RequestSender;
  /** What was sent to the agents that it serves, and not undone. */
  readonly told: Map<string, Resource>;
  readonly serves: Set<string>;
}

let store: MemoryStore;
let leads: ReturnType<typeof lead>;
let stop: AbortController;
/** Whether the store answers. */
let isAway: boolean;

beforeEach(() => {
  store = memoryStore({ clock, id: randomUUID });
  leads = lead();
  stop = new AbortController();
  isAway = false;
});
afterEach(() => stop.abort());

function replica(name: string, ...clusters: readonly string[]): Replica {
  const told = new Map<string, Resource>();
  const serves = new Set(clusters);
  const keyOf = ({ clusterName = "", kind, name: of }: Pick<ResourceRef, "kind" | "name"> & { readonly clusterName?: string }) =>
    `${clusterName}/${kind}/${of}`;
  const through: MemoryStore = {
    ...store,
    record: (group, of) => (isAway ? Promise.reject(new StoreError("away")) : store.record(group, of)),
  };
  const sender = startRequestSender(
    {
      link: {
        sendNotices(_, { put, remove }) {
          for (const ref of remove) told.delete(keyOf(ref));
          for (const resource of put) told.set(keyOf({ kind: resource.kind, ...resource.metadata }), resource);
        },
      },
      store: through,
      leadership: leads.of(name),
      served: () => serves,
      kinds: new Set([IssuedCertificate, CertificateRequest].map(kindKeyOf)),
      clock,
      random: () => 0,
    },
    stop.signal,
  );
  return { sender, told, serves };
}

function order(clusterName: string, step: string): Resource {
  const { apiVersion, kind } = IssuedCertificate;
  return { apiVersion, kind, metadata: { name: "mesh", namespace: "gloo-mesh", clusterName }, spec: { step } } as Resource;
}

const stepsOf = ({ told }: Replica) => [...told.values()].map((one) => (one as { readonly spec?: { readonly step?: string } }).spec?.step);

describe("what the leader orders", () => {
  it("is sent by the replica that serves the cluster, and by no other", async () => {
    const [a, b, c] = [replica("a"), replica("b", "one"), replica("c", "two")];
    a.sender.set("one", [order("one", "first")]);
    await eventually(() => expect(stepsOf(b)).toEqual(["first"]));
    a.sender.set("one", [order("one", "second")]);
    await eventually(() => expect(stepsOf(b)).toEqual(["second"]));
    expect(stepsOf(c)).toEqual([]);
    a.sender.set("one", []);
    await eventually(() => expect(stepsOf(b)).toEqual([]));
  });

  it("is sent no more by one that has lost the lead: what it ordered may be outdated", async () => {
    const [a, b] = [replica("a", "one"), replica("b")];
    a.sender.set("one", [order("one", "first")]);
    await quiet();
    isAway = true;
    leads.pass("b");
    expect(stepsOf(a)).toEqual([]);
    a.sender.set("one", [order("one", "late")]);
    expect(stepsOf(a)).toEqual([]);
    isAway = false;
    b.sender.set("one", [order("one", "second")]);
    await eventually(() => expect(stepsOf(a)).toEqual(["second"]));
  });

  it("is not sent by one that can't read it any more, until it can", async () => {
    const [a, b] = [replica("a"), replica("b", "one")];
    a.sender.set("one", [order("one", "first")]);
    await eventually(() => expect(stepsOf(b)).toEqual(["first"]));
    isAway = true;
    await quiet(60_000);
    expect(stepsOf(b)).toEqual([]);
    isAway = false;
    await eventually(() => expect(stepsOf(b)).toEqual(["first"]));
  });

  it("is not sent to an agent that comes back before it was read again", async () => {
    const [a, b] = [replica("a"), replica("b", "one")];
    a.sender.set("one", [order("one", "first")]);
    await eventually(() => expect(stepsOf(b)).toEqual(["first"]));
    b.serves.clear();
    b.sender.touch("one");
    expect(stepsOf(b)).toEqual([]);
    b.serves.add("one");
    b.sender.touch("one");
    await eventually(() => expect(stepsOf(b)).toEqual(["first"]));
  });

  it("is only what is ordered of this cluster: nothing else is sent on the word of a store", async () => {
    const b = replica("b", "one");
    const secret = { ...order("one", "first"), apiVersion: "v1", kind: "Secret" };
    await store.putRecord("orders", "one", JSON.stringify([secret, order("two", "first"), null, 7, order("one", "mine")]));
    b.sender.touch("one");
    await eventually(() => expect(stepsOf(b)).toEqual(["mine"]));
    await store.putRecord("orders", "one", "{");
    await eventually(() => expect(stepsOf(b)).toEqual([]));
  });
});
