import { Pod } from "@isthmus/api";
import { snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { otherReplicas } from "../src/accessLogs.ts";

const pod = (name: string, app: string, namespace = "gloo-mesh") =>
  Pod.parse({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace, clusterName: "east", labels: { app } } });
const pods = [pod("agent-1", "agent"), pod("agent-2", "agent"), pod("server-1", "server"), pod("agent-3", "agent", "elsewhere")];

it("are pods of the same app in the same namespace, and none where the own pod is not known", () => {
  const of = (name: string) => otherReplicas(snapshotOf(pods), { name, namespace: "gloo-mesh", clusterName: "east" });
  expect(of("agent-1")).toEqual(["agent-2"]);
  expect(of("gloo-mesh-agent")).toEqual([]);
});
