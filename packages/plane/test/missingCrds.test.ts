import { allKinds, KubernetesCluster, TrafficPolicy } from "@isthmus/api";
import { type Kind, kindKeyOf } from "@isthmus/core";
import { simulatedCluster, virtualClock } from "@isthmus/simulator";
import { expect, test } from "vitest";
import { serverRoles } from "../src/index.ts";
import { startInformer } from "../src/informer/informer.ts";
import { missingCrds } from "../src/server/statuses/missingCrds.ts";
import { recordingLog } from "./recordingLog.ts";

/** A management cluster without the CRDs of some kinds, as a server sees it. */
async function lacking(...absent: readonly Kind[]) {
  const clock = virtualClock();
  const log = recordingLog();
  const { kinds } = serverRoles("gloo-mesh");
  const cluster = simulatedCluster({ name: "", clock, kinds: allKinds().filter((kind) => !absent.some((one) => one.kind === kind.kind)) });
  const life = new AbortController();
  const view = startInformer({ cluster, kinds: kinds.management, clock, random: () => 0, log, changed: () => undefined }, life.signal);
  await clock.advance(1_000);
  expect(view.isComplete).toBe(true);
  const states = new Map(view.kinds);
  life.abort(new Error("the test is over"));
  return { kinds, states, log };
}

test("CRDs that are missing are named once, with the remedy", async () => {
  const { kinds, states, log } = await lacking(TrafficPolicy, KubernetesCluster);
  const definitions = missingCrds({ view: () => ({ isComplete: true, kinds: states }), kinds, log });
  for (let i = 0; i < 3; i++) definitions.check();
  expect(log.warnings).toEqual([
    expect.stringMatching(
      /does not have the CRDs kubernetesclusters\.multicluster\.solo\.io, trafficpolicies\.networking\.mesh\.gloo\.solo\.io, .*kubectl apply --filename deploy\/crds/,
    ),
  ]);
  expect(definitions.isUseless).toBe(true);
  for (const kind of [TrafficPolicy, KubernetesCluster]) states.set(kindKeyOf(kind), "known");
  definitions.check();
  expect(definitions.isUseless).toBe(false);
  expect(log.warnings).toHaveLength(1);
});

test("without one that is not vital there is still something to serve", async () => {
  const { kinds, states, log } = await lacking(TrafficPolicy);
  const definitions = missingCrds({ view: () => ({ isComplete: true, kinds: states }), kinds, log });
  definitions.check();
  expect(log.warnings).toHaveLength(1);
  expect(definitions.isUseless).toBe(false);
});
