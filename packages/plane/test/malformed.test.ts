import { Deployment } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { simulatedCluster } from "@isthmus/simulator";
import { afterEach, expect, it } from "vitest";
import { startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually } from "./virtualTime.ts";

const stop = new AbortController();
afterEach(() => stop.abort(new Error("the test is over")));

it("a malformed object is named while it is there, and not any more once it is deleted", async () => {
  const cluster = simulatedCluster({ name: "a", clock, kinds: [Deployment] });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }]);
  cluster.load([
    { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "cart", namespace: "shop" }, spec: { template: "none" } } as AnyResource,
  ]);
  const options = { cluster, kinds: [Deployment], clock, random: () => 0, log: recordingLog(), changed: () => undefined };
  const view = startInformer(options, stop.signal);
  const named = () => [...view.malformed.values()].map(({ ref }) => ref.name);
  await eventually(() => expect(named()).toEqual(["cart"]));
  await cluster.delete({ apiVersion: "apps/v1", kind: "Deployment", name: "cart", namespace: "shop", clusterName: "a" });
  await eventually(() => expect(named()).toEqual([]));
});
