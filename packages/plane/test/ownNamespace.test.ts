import { Namespace, Secret, TrafficPolicy } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { simulatedCluster, virtualClock } from "@isthmus/simulator";
import { expect, test } from "vitest";
import { serverRoles } from "../src/index.ts";
import { startInformer } from "../src/informer/informer.ts";
import { demoFleet, register } from "./fleet.ts";
import { recordingLog } from "./recordingLog.ts";
import { eventually } from "./virtualTime.ts";

type Type = Pick<AnyResource, "apiVersion" | "kind">;

function object({ apiVersion, kind }: Type, name: string, namespace: string): AnyResource {
  return { apiVersion, kind, metadata: { name, namespace } };
}

test("a server reads Secrets in its own namespace, and asks for no others", async () => {
  const fleet = demoFleet();
  await register(fleet);
  const { management } = fleet;
  await management.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "payments" } });
  for (const namespace of ["gloo-mesh", "payments"]) {
    await management.create(object(Secret, "keys", namespace));
    await management.create(object(TrafficPolicy, "policy", namespace));
  }
  fleet.startServer("server");
  await eventually(async () => {
    const namesOf = (kind: typeof Secret | typeof TrafficPolicy) =>
      [...fleet.server("server").view.snapshot.of(kind)].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(namesOf(Secret)).toContain("gloo-mesh/keys");
    expect(namesOf(Secret)).not.toContain("payments/keys");
    expect(namesOf(TrafficPolicy)).toEqual(expect.arrayContaining(["gloo-mesh/policy", "payments/policy"]));
  });
  await fleet.stop();
});

test("an informer lists and watches a kind in the namespace that it is limited to", async () => {
  const clock = virtualClock();
  const { kinds } = serverRoles("gloo-mesh");
  const cluster = simulatedCluster({ name: "", clock, kinds: [Namespace, ...kinds.management] });
  for (const name of ["gloo-mesh", "payments"]) await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const life = new AbortController();
  const log = recordingLog();
  const namespaceOf = () => "gloo-mesh";
  const view = startInformer({ cluster, kinds: [Secret], namespaceOf, clock, random: () => 0, log, changed: () => undefined }, life.signal);
  await clock.advance(1_000);
  await cluster.create(object(Secret, "elsewhere", "payments"));
  await cluster.create(object(Secret, "here", "gloo-mesh"));
  await clock.advance(1_000);
  expect([...view.snapshot.of(Secret)].map(({ metadata }) => metadata.name)).toEqual(["here"]);
  life.abort(new Error("the test is over"));
});
