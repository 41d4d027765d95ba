import { setTimeout as sleep } from "node:timers/promises";
import { ServiceEntry } from "@isthmus/api";
import { type AnyResource, type Resource, refOf } from "@isthmus/core";
import { kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import { type Agent, agentRoles, startAgent } from "@isthmus/plane";
import type { Acknowledgement, AgentLinkHandler, Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clock, clusterOf, silent } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { applyAll } from "./harness/manifests.ts";
import { waitFor } from "./harness/waitFor.ts";

const OWNER = { "owner.networking.mesh.gloo.solo.io": "gloo-mesh" };
/** An edit or a delete is undone within so long. */
const PUT_BACK = { timeoutMs: 5_000 };

// The agent's own loops, against a real API server; what the server wants is given by hand.
describeReal("drift on a real API server", (components) => {
  let fleet: Fleet<"one">;
  let person: Cluster;
  let agent: Agent;
  let handler: AgentLinkHandler;
  const answers: Acknowledgement[] = [];
  const stop = new AbortController();

  beforeAll(async () => {
    fleet = await startFleet(components, ["one"], { crds: "all" });
    const server = fleet.servers.one;
    person = clusterOf(server, "one");
    await applyAll(person, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } } as AnyResource]);
    const kubeconfig = loadKubeconfig({ path: server.planeKubeconfig });
    agent = startAgent(
      {
        cluster: kubernetesCluster({ name: "one", kubeconfig, clock, random: Math.random }),
        link(given) {
          handler = given;
          return { observe: () => undefined, synced: () => undefined, acknowledge: (answer) => void answers.push(answer) };
        },
        ...agentRoles("gloo-mesh"),
        clock,
        random: Math.random,
        log: silent,
      },
      stop.signal,
    );
    await waitFor("the agent's view to be complete", async () => agent.view.isComplete);
    handler.state("connected", "by hand");
    // A server that knows no modes: every cluster is managed.
    handler.welcomed?.([]);
    handler.desired({ revision: 1, complete: true, put: [entry("ours", "ours.global"), entry("fought", "fought.global")], remove: [] });
    await waitFor("the objects to be applied", async () =>
      answers.some(({ revision, rejected }) => revision === 1 && rejected.length === 0),
    );
  });
  afterAll(async () => {
    stop.abort(new Error("the test is over"));
    await agent?.ended;
    await fleet?.stop();
  });

  const hostOf = async (name: string) => (await person.get(ServiceEntry, { name, namespace: "istio-system" }))?.spec?.hosts?.[0];
  const says = (name: string, host: string) => waitFor(`${name} to say ${host}`, async () => (await hostOf(name)) === host, PUT_BACK);

  it("restores what somebody edits", async () => {
    await person.apply(entry("ours", "edited.example"), { fieldManager: "kubectl-edit", force: true });
    await says("ours", "ours.global");
  });

  it("makes again what somebody deletes", async () => {
    const before = await person.get(ServiceEntry, { name: "ours", namespace: "istio-system" });
    await person.delete(refOf(entry("ours", "")));
    await says("ours", "ours.global");
    const after = await person.get(ServiceEntry, { name: "ours", namespace: "istio-system" });
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
  });

  it("touches nothing that is not ours, not even under a name that we want", async () => {
    await person.apply(entry("theirs", "theirs.example", {}), { fieldManager: "kubectl" });
    handler.desired({ revision: 2, complete: false, put: [entry("theirs", "wanted.global")], remove: [] });
    await waitFor("the conflict to be told", async () =>
      answers.at(-1)?.rejected.some(({ code, ref }) => code === "Conflict" && ref.name === "theirs"),
    );
    await person.apply(entry("theirs", "changed.example", {}), { fieldManager: "kubectl" });
    await sleep(1_000);
    expect(await hostOf("theirs")).toBe("changed.example");
    expect(fleet.servers.one.planeWrites().filter(({ what }) => what.includes("theirs"))).toEqual([]);
  });

  it("names the other writer and the field, and backs off", async () => {
    const isTold = () => answers.at(-1)?.rejected.find(({ ref }) => ref.name === "fought");
    let blows = 0;
    const strike = async () => {
      if ((await hostOf("fought")) !== "fought.global") return;
      await person.apply(entry("fought", `blow-${blows++}.example`), { fieldManager: "other-controller", force: true });
    };
    while (isTold() === undefined && blows < 30) await strike();
    expect(isTold()?.message).toContain("ServiceEntry istio-system/fought in one, spec.hosts, is repeatedly changed by other-controller");
    const before = blows;
    for (const end = clock.now() + 3_000; clock.now() < end; await sleep(20)) await strike();
    // Answered at once, there would be dozens.
    expect(blows - before).toBeLessThan(10);
  });

  it("wrote only what was its to write", () => {
    const written = fleet.servers.one.planeWrites().map(({ what }) => what);
    // What was created is turned into what is applied (update), once, before it is changed for the first time.
    const ofOurs = ["patch", "update"].flatMap((verb) => ["fought", "ours"].map((name) => `${verb} serviceentries istio-system/${name}`));
    const others = [...new Set(written)].filter((what) => !/^create serviceentries istio-system\/(ours|fought)?$/.test(what));
    expect(others.sort()).toEqual(ofOurs);
  });
});

function entry(name: string, host: string, labels: Readonly<Record<string, string>> = OWNER): Resource {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace: "istio-system", clusterName: "one", labels },
    spec: { hosts: [host], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "NONE" },
  } as Resource;
}
