import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Secret, TrafficPolicy, VirtualService } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { type App, startAgent, startManagementServer } from "./harness/apps.ts";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace as namespaceOf } from "./harness/istioInstallation.ts";
import { applyAll } from "./harness/manifests.ts";
import { fillMeshCluster } from "./harness/meshCluster.ts";
import { tokenFor } from "./harness/serviceAccount.ts";
import { waitFor } from "./harness/waitFor.ts";

const DOCUMENT = fileURLToPath(new URL("../../docs/reference/rbac.md", import.meta.url));
const RBAC = "rbac.authorization.k8s.io/v1";
const namespace = "gloo-mesh";
const account = { name: "gloo-mesh-agent", namespace };

/** What the document says, bound to the agent's account. */
function documentedRights(): readonly AnyResource[] {
  const documented = [...readFileSync(DOCUMENT, "utf8").matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => parse(text) as AnyResource);
  const roles = documented.filter(({ metadata }) => metadata.name.startsWith(account.name));
  const bindings = roles.map(({ kind, metadata }) => ({
    apiVersion: RBAC,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: metadata.name },
    subjects: [{ kind: "ServiceAccount", ...account }],
  }));
  return [{ apiVersion: "v1", kind: "ServiceAccount", metadata: account }, ...roles, ...bindings];
}

describeReal("an agent with the documented rights and no others", (components) => {
  let fleet: Fleet<"management" | "east">;
  let management: Cluster;
  let east: Cluster;
  const apps: App[] = [];
  let start: (...more: readonly string[]) => Promise<App>;
  const controllers = new AbortController();
  const ends: Promise<void>[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east"], { crds: "all" });
    const { servers, directory } = fleet;
    management = clusterOf(servers.management, "");
    east = clusterOf(servers.east, "east");
    await applyAll(management, [namespaceOf(namespace)]);
    ends.push((await fillMeshCluster(east, components, controllers.signal)).ended);
    await applyAll(east, documentedRights());
    const token = await tokenFor(servers.east, account.name, ["https://kubernetes.default.svc"], namespace);
    const kubeconfig = JSON.parse(readFileSync(servers.east.kubeconfig, "utf8")) as { users: unknown };
    kubeconfig.users = [{ name: "test", user: { token } }];
    const planeKubeconfig = join(directory, "agent-kubeconfig");
    writeFileSync(planeKubeconfig, JSON.stringify(kubeconfig), { mode: 0o600 });

    const server = await startManagementServer({ server: servers.management, directory });
    apps.push(server.app);
    await server.app.ready();
    for (const name of ["relay-root-tls-secret", "relay-identity-token-secret"]) {
      const secret = await waitFor(name, async () => management.get(Secret, { name, namespace }));
      const data = name === "relay-root-tls-secret" ? { "ca.crt": secret.data?.["ca.crt"] ?? "" } : secret.data;
      await applyAll(east, [{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data } as AnyResource]);
    }
    const { relayAddress } = server;
    const where = { server: { ...servers.east, planeKubeconfig }, cluster: "east", relayAddress, directory };
    start = async (...more) => {
      const agent = await startAgent({ ...where, more });
      apps.push(agent);
      return agent;
    };
  });
  afterAll(async () => {
    await Promise.all(apps.map(({ program }) => program.stop()));
    controllers.abort();
    await Promise.allSettled(ends);
    await fleet?.stop();
  });

  const { apiVersion, kind } = TrafficPolicy;
  const metadata = { name: "timeout", namespace };
  const reviews = { kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" } } };
  const policy = { apiVersion, kind, metadata, spec: { destinationSelector: [reviews], policy: { requestTimeout: "2s" } } };
  const route = () => east.get(VirtualService, { name: "reviews", namespace: "bookinfo" });

  it("reports, applies, removes and answers users, and is refused nothing", async () => {
    const agent = await start("--leader-election");
    await applyAll(east, [policy]);
    await waitFor("the route", async () => (await route()) !== undefined);
    await waitFor("the status where users look", async () => (await east.get(TrafficPolicy, metadata))?.status?.state === "ACCEPTED");
    await applyAll(east, [{ ...policy, spec: { ...policy.spec, policy: { requestTimeout: "3s" } } }]);
    await waitFor("the new timeout", async () => (await route())?.spec?.http?.[0]?.timeout === "3s");
    await east.delete({ apiVersion, kind, ...metadata, clusterName: "east" });
    await waitFor("the route to go", async () => (await route()) === undefined);
    // The pages of the admin port need system:auth-delegator.
    expect(fleet.servers.east.planeRefusals()).toEqual([]);
    expect(fleet.servers.east.planeWrites().length).toBeGreaterThan(3);
    await agent.program.stop();
  });

  it("writes to the namespaces of its flag alone, and the policy's status says so", async () => {
    const agent = await start("--write-namespaces", "default,istio-system");
    await applyAll(east, [policy]);
    await waitFor("the status to say so", async () =>
      JSON.stringify((await east.get(TrafficPolicy, metadata))?.status ?? {}).includes("this agent does not write to namespace bookinfo"),
    );
    expect(await route()).toBeUndefined();
    expect(agent.program.output()).toContain("--write-namespaces");
    const metrics = await (await fetch(`${agent.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/gloo_mesh_orders_refused_total\{reason="Namespace"\} [1-9]/);
  });
});
