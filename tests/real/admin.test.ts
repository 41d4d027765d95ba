import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startAgent, startManagementServer } from "./harness/apps.ts";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace } from "./harness/istioInstallation.ts";
import { applyAll } from "./harness/manifests.ts";
import { allowPaths, serviceAccountToken, tokenFor } from "./harness/serviceAccount.ts";
import { waitFor } from "./harness/waitFor.ts";

const CANARY = "canary-5d1c77";
const PAGES = ["/snapshots/input", "/snapshots/output", "/evidence", "/diagnostics"];
const REFERENCE = fileURLToPath(new URL("../../docs/reference/metrics.md", import.meta.url));

// A management cluster that is a workload cluster too, with both programs as processes.
describeReal("the admin ports of real processes", (components) => {
  let fleet: Fleet<"one">;
  let cluster: Cluster;
  const apps: App[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["one"], { crds: "all" });
    const server = fleet.servers.one;
    cluster = clusterOf(server, "");
    await applyAll(cluster, [namespace("gloo-mesh"), ...withCanaries()]);
    const management = await startManagementServer({ server, directory: fleet.directory });
    apps.push(management.app);
    await management.app.ready();
    const agent = await startAgent({ server, cluster: "one", relayAddress: management.relayAddress, directory: fleet.directory });
    apps.push(agent);
    await agent.ready();
    await waitFor("the server to know the cluster", async () =>
      (await textOf(`${management.app.adminUrl}/snapshots/input?cluster=one`)).includes("Deployment"),
    );
  });
  afterAll(async () => {
    await Promise.all(apps.map(({ program }) => program.stop()));
    await fleet?.stop();
  });

  it("show what the clusters hold, and no secret of theirs, nor do the logs", async () => {
    for (const { adminUrl, program } of apps) {
      const pages = await Promise.all(PAGES.map((page) => textOf(`${adminUrl}${page}`)));
      for (const page of pages) expect(() => JSON.parse(page)).not.toThrow();
      expect(pages[0]).toContain('"kind":"Deployment"');
      expect(`${pages.join("\n")}${program.output()}`).not.toContain(CANARY);
      expect(`${pages.join("\n")}${program.output()}`).not.toContain(Buffer.from(CANARY).toString("base64"));
    }
  });

  it("expose the metrics that are documented, and no others", async () => {
    const documented = new Set([...readFileSync(REFERENCE, "utf8").matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name));
    for (const { adminUrl } of apps) {
      const exposed = [...(await textOf(`${adminUrl}/metrics`)).matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
      expect(exposed.filter((name) => !documented.has(name))).toEqual([]);
    }
    const text = await textOf(`${apps[0]?.adminUrl}/metrics`);
    expect(text).toContain('relay_push_clients_connected{cluster="one"} 1');
    expect(text).toContain('relay_push_clients_warmed{cluster="one"} 1');
    expect(text).toMatch(/gloo_mesh_translation_time_sec_count [1-9]/);
  });

  it("have the traffic of the meshes once the Settings ask for it, from the agent to the server", async () => {
    const adminUrl = apps[0]?.adminUrl ?? "";
    await waitFor("the agent to say that it scrapes nothing", async () =>
      (await textOf(`${adminUrl}/traffic`)).includes("scrapes no proxies"),
    );
    const settings = {
      apiVersion: "settings.mesh.gloo.solo.io/v1",
      kind: "Settings",
      metadata: { name: "settings", namespace: "gloo-mesh" },
    };
    await applyAll(cluster, [{ ...settings, spec: { agentServices: { metrics: "ENABLED" } } }]);
    await waitFor("the server to know the cluster's traffic", async () =>
      (await textOf(`${adminUrl}/metrics/mesh`)).includes('gloo_mesh_traffic_known{cluster="one"} 1'),
    );
    expect(JSON.parse(await textOf(`${adminUrl}/traffic?cluster=one`))).toMatchObject({ items: [{ cluster: "one", edges: [] }] });
  });

  it("that are taken end the program at once, with a line that names the flag", async () => {
    const taken = new URL(apps[0]?.adminUrl ?? "").port;
    const { app } = await startManagementServer({
      server: fleet.servers.one,
      directory: fleet.directory,
      name: "second",
      more: [`--admin-port=${taken}`],
    });
    expect(await app.program.ended).toBe(2);
    expect(app.program.output()).toContain(`error: port ${taken} on 127.0.0.1 is already in use: set another with --admin-port`);
  });

  it("let others read only with a token that the Kubernetes API allows to", async () => {
    const ordinary = await serviceAccountToken(fleet.servers.one, cluster, "reader");
    const token = await tokenFor(fleet.servers.one, "reader", ["gloo-mesh-admin"]);
    // As through a proxy: that counts as from elsewhere.
    const statusOf = async (page: string, headers: Readonly<Record<string, string>> = {}) =>
      (await fetch(`${apps[0]?.adminUrl}${page}`, { headers: { "x-forwarded-for": "10.1.2.3", ...headers } })).status;
    const bearer = { authorization: `Bearer ${token}` };
    expect(await statusOf("/metrics")).toBe(200);
    for (const page of PAGES) expect([await statusOf(page), await statusOf(page, bearer)]).toEqual([401, 403]);
    await allowPaths(cluster, "reader", ["/evidence"]);
    await waitFor("the role to count", async () => (await statusOf("/evidence", bearer)) === 200);
    expect(await statusOf("/snapshots/input", bearer)).toBe(403);
    // Plain HTTP: a token that is good for the API server must not be shown here.
    expect(await statusOf("/evidence", { authorization: `Bearer ${ordinary}` })).toBe(401);
  });
});

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}

function withCanaries(): readonly AnyResource[] {
  const metadata = { name: "canary", namespace: "gloo-mesh" };
  const labels = { app: "canary" };
  const env = [{ name: "PASSWORD", value: CANARY }];
  const container = { name: "canary", image: "canary:1", env, args: [`--token=${CANARY}`] };
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": `{"data":"${CANARY}"}` };
  return [
    { apiVersion: "v1", kind: "Secret", metadata, stringData: { password: CANARY } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { ...metadata, annotations },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } },
    },
    {
      apiVersion: "networking.mesh.gloo.solo.io/v1",
      kind: "TrafficPolicy",
      metadata: { ...metadata, annotations },
      spec: { policy: { requestTimeout: "2s" } },
    },
  ];
}
