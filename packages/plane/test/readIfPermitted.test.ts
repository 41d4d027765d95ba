import { allKinds, MutatingWebhookConfiguration, Service } from "@isthmus/api";
import { kindKeyOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { simulatedCluster, virtualClock } from "@isthmus/simulator";
import { expect, test } from "vitest";
import { agentRoles } from "../src/index.ts";
import { startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";

/** An agent with the permissions of before, which are extended later. */
function agentWithout(forbidden: readonly string[]) {
  const clock = virtualClock();
  const log = recordingLog();
  const real = simulatedCluster({ name: "east", clock, kinds: allKinds() });
  const refused = new Set(forbidden);
  const cluster: Cluster = {
    ...real,
    async list(kind, options, signal) {
      if (refused.has(kind.kind)) throw new ClusterError("Forbidden", `${kind.plural} is forbidden`);
      return real.list(kind, options, signal);
    },
  };
  const life = new AbortController();
  const { isReadIfPermitted } = agentRoles("gloo-mesh");
  const kinds = [Service, MutatingWebhookConfiguration];
  const options = { cluster, kinds, clock, random: () => 0.5, log, changed: () => undefined };
  const view = startInformer({ ...options, ...(isReadIfPermitted === undefined ? {} : { isReadIfPermitted }) }, life.signal);
  return { clock, log, real, view, permit: () => refused.clear(), stop: () => life.abort(new Error("the test is over")) };
}

const webhooks = {
  apiVersion: MutatingWebhookConfiguration.apiVersion,
  kind: MutatingWebhookConfiguration.kind,
  metadata: { name: "istio" },
  webhooks: [],
};

test("an agent that may not read webhook configurations continues without them, says so once, and reads them when it may", async () => {
  const { clock, log, real, view, permit, stop } = agentWithout([MutatingWebhookConfiguration.kind]);
  await real.create(webhooks);
  await clock.advance(120_000);
  expect(view.isComplete).toBe(true);
  expect(view.kinds.get(kindKeyOf(MutatingWebhookConfiguration))).toBe("unserved");
  expect(log.warnings).toEqual(["continues without mutatingwebhookconfigurations: mutatingwebhookconfigurations is forbidden"]);
  permit();
  await clock.advance(60_000);
  expect(view.kinds.get(kindKeyOf(MutatingWebhookConfiguration))).toBe("known");
  expect([...view.snapshot.of(MutatingWebhookConfiguration)].map(({ metadata }) => metadata.name)).toEqual(["istio"]);
  stop();
});

test("what it needs it waits for", async () => {
  const { clock, view, stop } = agentWithout([Service.kind]);
  await clock.advance(120_000);
  expect(view.isComplete).toBe(false);
  stop();
});
