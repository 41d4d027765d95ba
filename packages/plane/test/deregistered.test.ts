import { ServiceEntry } from "@isthmus/api";
import { type Resource, refOf } from "@isthmus/core";
import type { AgentLinkHandler } from "@isthmus/ports";
import { simulatedCluster } from "@isthmus/simulator";
import { afterEach, expect, it } from "vitest";
import { agentRoles, alwaysLeader, startAgent } from "../src/index.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

function entry(name: string, host: string): Resource {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace: "istio-system", clusterName: "a", labels: { "owner.networking.mesh.gloo.solo.io": "gloo-mesh" } },
    spec: { hosts: [host], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "NONE" },
  } as Resource;
}

const stop = new AbortController();
afterEach(() => stop.abort(new Error("the test is over")));

it("what was applied in a cluster that is deregistered stays, and what its operators change or delete is not restored", async () => {
  const cluster = simulatedCluster({ name: "a", clock, kinds: [ServiceEntry] });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } }]);
  let handler: AgentLinkHandler | undefined;
  startAgent(
    {
      cluster,
      link(given) {
        handler = given;
        return { observe: () => undefined, synced: () => undefined, acknowledge: () => undefined };
      },
      ...agentRoles("gloo-mesh"),
      leadership: alwaysLeader,
      clock,
      random: () => 0,
      log: recordingLog(),
    },
    stop.signal,
  );
  const hosts = async () => (await cluster.list(ServiceEntry)).items.flatMap(({ spec }) => spec?.hosts ?? []).sort();
  await eventually(() => expect(handler).toBeDefined());
  handler?.state("connected", "by hand");
  handler?.welcomed?.([]);
  handler?.desired({ revision: 1, complete: true, put: [entry("one", "one.global"), entry("two", "two.global")], remove: [] });
  await eventually(async () => expect(await hosts()).toEqual(["one.global", "two.global"]));
  // Before it, both would be restored.
  await cluster.apply(entry("one", "edited.example"), { fieldManager: "kubectl-edit", force: true });
  await eventually(async () => expect(await hosts()).toEqual(["one.global", "two.global"]));

  handler?.state("waiting", "the cluster is no longer registered", "Deregistered");
  await cluster.apply(entry("one", "edited.example"), { fieldManager: "kubectl-edit", force: true });
  await cluster.delete(refOf(entry("two", "")));
  await quiet(60_000);
  expect(await hosts()).toEqual(["edited.example"]);
});
