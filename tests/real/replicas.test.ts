import { Lease, VirtualService } from "@isthmus/api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startAgent } from "./harness/apps.ts";
import { describeReal } from "./harness/describeReal.ts";
import { applyAll } from "./harness/manifests.ts";
import { timeoutPolicy, virtualMesh } from "./harness/policies.ts";
import { type Slice, startSlice, written } from "./harness/slice.ts";
import { waitFor } from "./harness/waitFor.ts";

// One story on real API servers: two replicas of the agent of cluster-1.
describeReal("replicas on real Kubernetes", (components) => {
  let slice: Slice;
  const agents: App[] = [];

  beforeAll(async () => {
    slice = await startSlice(components, { replicas: [["--leader-election"]] });
    const { fleet, server, agents: single } = slice;
    await single[0]?.program.stop();
    for (const name of ["replica-a", "replica-b"]) {
      const { directory } = fleet;
      const more = ["--leader-election", `--instance=${name}`];
      const where = { server: fleet.servers["cluster-1"], relayAddress: server.relayAddress, directory };
      agents.push(await startAgent({ ...where, cluster: "cluster-1", name, more }));
    }
    for (const agent of agents) await agent.ready();
    await applyAll(slice.management, [virtualMesh()]);
  });
  afterAll(async () => {
    for (const { program } of agents) program.send("SIGCONT");
    await Promise.all(agents.map(({ program }) => program.stop()));
    await slice?.stop();
  });

  const leader = async () =>
    (await slice.first.get(Lease, { name: "gloo-mesh-agent", namespace: "gloo-mesh" }))?.spec?.holderIdentity ?? "";
  const agentOf = (holder: string) => agents[holder.startsWith("replica-a") ? 0 : 1] as App;
  const timeout = async () => (await slice.first.get(VirtualService, { name: "reviews", namespace: "bookinfo" }))?.spec?.http?.[0]?.timeout;

  it("elect a server and an agent", async () => {
    expect(await leader()).toMatch(/^replica-[ab]-/);
    const lease = await slice.management.get(Lease, { name: "gloo-mesh-mgmt-server", namespace: "gloo-mesh" });
    expect(lease?.spec?.renewTime).toMatch(/\.\d{6}Z$/);
  });

  it("go on when the leader is paused, and what it does when it wakes up changes nothing", async () => {
    await waitFor("the federation", async () => (Object.keys(await written(slice.first)).length > 0 ? true : undefined));
    const before = await leader();
    agentOf(before).program.send("SIGSTOP");
    await applyAll(slice.management, [timeoutPolicy("reviews")]);
    await waitFor("another leader", async () => ((await leader()) !== before ? true : undefined));
    await waitFor("the policy in force", async () => ((await timeout()) !== undefined ? true : undefined));
    const settled = await written(slice.first);
    agentOf(before).program.send("SIGCONT");
    await waitFor("the former leader to notice", async () =>
      agentOf(before).program.output().includes("is no longer the leader") ? true : undefined,
    );
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(await leader()).not.toBe(before);
    expect(await written(slice.first)).toEqual(settled);
  });

  it("take over at once from a leader that ends in order", async () => {
    const before = await leader();
    await agentOf(before).program.stop();
    const holder = await waitFor("another leader", async () => {
      const now = await leader();
      return now !== "" && now !== before ? now : undefined;
    });
    expect(agentOf(holder)).not.toBe(agentOf(before));
  });
});
