import { KubernetesCluster, ServiceEntry } from "@isthmus/api";
import { onAbort, UsageError } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KUBECONFIG_SECRET_TYPE, startConnections } from "../src/index.ts";
import { bookinfoMesh, demoFleet, type Fleet, ours, register, statusOf, written } from "./fleet.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

const names = ["cluster-1", "cluster-2"];

let fleet: Fleet;
let stop: AbortController;
/** How each cluster was connected to, in order. */
let opened: string[];
beforeEach(() => {
  fleet = demoFleet();
  stop = new AbortController();
  opened = [];
});
afterEach(async () => {
  stop.abort(new Error("the test is over"));
  await fleet.stop();
});

const of = (name: string) => fleet.clusters[name] as SimulatedCluster;
const secret = (name: string, kubeconfig?: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "gloo-mesh" },
  type: KUBECONFIG_SECRET_TYPE,
  data: kubeconfig === undefined ? {} : { kubeconfig: btoa(kubeconfig) },
});
const ref = (name: string) => ({ apiVersion: "v1", kind: "Secret", name, namespace: "gloo-mesh", clusterName: "" });

/** The server connects to the clusters by the Secrets: the agent's loops run in its own process. */
function connect(): { readonly ended: Promise<void> } {
  return startConnections(
    {
      cluster: fleet.management,
      namespace: "gloo-mesh",
      async open({ name, kubeconfig, connected }, until) {
        if (kubeconfig === "nonsense") throw new UsageError("the given kubeconfig: is not a kubeconfig");
        opened.push(`${name} ${kubeconfig}`);
        connected();
        fleet.startAgent(name);
        await new Promise<void>((resolve) => onAbort(until, resolve));
        await fleet.stopAgent(name);
      },
      problem: (name, problem) => fleet.server().cannotConnect(name, problem),
      clock,
      random: () => 0,
      log: recordingLog(),
    },
    stop.signal,
  );
}

async function connected(name: string): Promise<{ readonly status?: string; readonly message?: string } | undefined> {
  const { apiVersion, kind } = KubernetesCluster;
  const { conditions = [] } = await statusOf(fleet, { apiVersion, kind, metadata: { name, namespace: "gloo-mesh" } });
  return conditions.find(({ type }) => type === "Connected");
}

async function federated(): Promise<void> {
  await register(fleet);
  fleet.startServer();
  await fleet.management.create(bookinfoMesh);
  for (const name of names) await fleet.management.create(secret(name, "first"));
  connect();
  await eventually(async () => expect(await ours(of("cluster-1"), ServiceEntry)).not.toEqual([]));
  await eventually(async () => expect(await ours(of("cluster-2"), ServiceEntry)).not.toEqual([]));
}

describe("standard mode", () => {
  it("federates the clusters whose kubeconfigs are in Secrets, without any agent there", async () => {
    await federated();
    expect(opened.sort()).toEqual(["cluster-1 first", "cluster-2 first"]);
    await eventually(async () => expect((await connected("cluster-1"))?.status).toBe("True"));
  });

  it("connects again with a kubeconfig that has changed, and not for a label", async () => {
    await federated();
    const before = written(of("cluster-1"));
    await fleet.management.update({ ...secret("cluster-1", "first"), metadata: { ...secret("cluster-1").metadata, labels: { a: "b" } } });
    await fleet.management.update(secret("cluster-2", "second"));
    await eventually(() => expect(opened).toContain("cluster-2 second"));
    await quiet();
    expect(opened).toHaveLength(3);
    expect(written(of("cluster-1"))).toEqual(before);
  });

  it("ends with the Secret, and removes nothing because of it", async () => {
    await federated();
    const before = names.flatMap((name) => written(of(name)));
    await fleet.management.delete(ref("cluster-1"));
    await eventually(async () => expect((await connected("cluster-1"))?.status).toBe("False"));
    await quiet();
    expect(names.flatMap((name) => written(of(name)))).toEqual(before);
  });

  it("ends with a Secret that was deleted while nobody watched, and keeps the other connections", async () => {
    await federated();
    fleet.management.faults.cutWatches();
    await fleet.management.delete(ref("cluster-1"));
    fleet.management.faults.compact();
    await eventually(async () => expect((await connected("cluster-1"))?.status).toBe("False"));
    await quiet();
    expect((await connected("cluster-2"))?.status).toBe("True");
    expect(opened).toHaveLength(2);
  });

  it("says on the KubernetesCluster what is wrong with a kubeconfig, and continues with the others", async () => {
    await register(fleet);
    fleet.startServer();
    await fleet.management.create(secret("cluster-1", "nonsense"));
    await fleet.management.create(secret("cluster-2", "good"));
    connect();
    await eventually(async () =>
      expect(await connected("cluster-1")).toMatchObject({
        status: "False",
        reason: "CannotConnect",
        message: "Secret gloo-mesh/cluster-1: the given kubeconfig: is not a kubeconfig",
      }),
    );
    await eventually(async () => expect((await connected("cluster-2"))?.status).toBe("True"));
    await fleet.management.update(secret("cluster-1"));
    await eventually(async () => expect((await connected("cluster-1"))?.message).toMatch(/no value for the key kubeconfig/));
    await fleet.management.update(secret("cluster-1", "good"));
    await eventually(async () => expect((await connected("cluster-1"))?.status).toBe("True"));
  });
});
