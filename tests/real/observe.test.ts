import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { KubernetesCluster, Secret, TrafficPolicy, VirtualService } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startAgent, startManagementServer } from "./harness/apps.ts";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace as namespaceOf } from "./harness/istioInstallation.ts";
import { applyAll } from "./harness/manifests.ts";
import { fillMeshCluster } from "./harness/meshCluster.ts";
import { tokenFor } from "./harness/serviceAccount.ts";
import { waitFor } from "./harness/waitFor.ts";

const MESHCTL = fileURLToPath(new URL("../../apps/meshctl/bin/meshctl.js", import.meta.url));
const RBAC = "rbac.authorization.k8s.io";
const namespace = "gloo-mesh";
const account = { name: "gloo-mesh-agent", namespace };

/** Reads everything in the cluster, and writes in its own namespace alone. */
function readOnlyRights(): readonly AnyResource[] {
  const subjects = [{ kind: "ServiceAccount", ...account }];
  const all = { apiGroups: ["*"], resources: ["*"] };
  const rights = [
    { kind: "ClusterRole", metadata: { name: account.name }, rules: [{ ...all, verbs: ["get", "list", "watch"] }] },
    { kind: "Role", metadata: account, rules: [{ ...all, verbs: ["*"] }] },
  ];
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: account },
    ...rights.flatMap(({ kind, metadata, rules }) => [
      { apiVersion: `${RBAC}/v1`, kind, metadata, rules },
      { apiVersion: `${RBAC}/v1`, kind: `${kind}Binding`, metadata, roleRef: { apiGroup: RBAC, kind, name: account.name }, subjects },
    ]),
  ];
}

// One story: each test continues where the one before it ended.
describeReal("an agent with read permissions only", (components) => {
  let fleet: Fleet<"management" | "east">;
  let management: Cluster;
  let east: Cluster;
  const apps: App[] = [];
  const controllers = new AbortController();
  const ends: Promise<void>[] = [];

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east"], { crds: "all" });
    const { servers, directory } = fleet;
    management = clusterOf(servers.management, "");
    east = clusterOf(servers.east, "east");
    await applyAll(management, [namespaceOf(namespace), registration("observe")]);
    ends.push((await fillMeshCluster(east, components, controllers.signal)).ended);
    await applyAll(east, readOnlyRights());
    const token = await tokenFor(servers.east, account.name, ["https://kubernetes.default.svc"], namespace);
    const kubeconfig = JSON.parse(readFileSync(servers.east.kubeconfig, "utf8")) as { users: unknown };
    kubeconfig.users = [{ name: "test", user: { token } }];
    const planeKubeconfig = join(directory, "agent-kubeconfig");
    writeFileSync(planeKubeconfig, JSON.stringify(kubeconfig), { mode: 0o600 });

    const server = await startManagementServer({ server: servers.management, directory });
    apps.push(server.app);
    await server.app.ready();
    const name = "relay-root-tls-secret";
    const secret = await waitFor(name, async () => management.get(Secret, { name, namespace }));
    const data = { "ca.crt": secret.data?.["ca.crt"] ?? "" };
    await applyAll(east, [{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data } as AnyResource]);
    // Its name is not new, as its KubernetesCluster says the mode already.
    const create = ["cluster", "token", "create", "--cluster", "east", "--kubeconfig", servers.management.kubeconfig];
    const more = [`--relay-token=${(await promisify(execFile)(process.execPath, [MESHCTL, ...create])).stdout.trim()}`];
    const { relayAddress } = server;
    apps.push(await startAgent({ server: { ...servers.east, planeKubeconfig }, cluster: "east", relayAddress, directory, more }));
  });
  afterAll(async () => {
    await Promise.all(apps.map(({ program }) => program.stop()));
    controllers.abort();
    await Promise.allSettled(ends);
    await fleet?.stop();
  });

  function registration(mode: string): AnyResource {
    return { apiVersion: KubernetesCluster.apiVersion, kind: "KubernetesCluster", metadata: { name: "east", namespace }, spec: { mode } };
  }

  const { apiVersion, kind } = TrafficPolicy;
  const metadata = { name: "timeout", namespace };
  const reviews = { kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" } } };
  const policy = { apiVersion, kind, metadata, spec: { destinationSelector: [reviews], policy: { requestTimeout: "2s" } } };
  const comparison = async () => (await management.get(KubernetesCluster, { name: "east", namespace }))?.status?.comparison;
  const appliedReason = async () =>
    (await management.get(TrafficPolicy, metadata))?.status?.conditions?.find(({ type }) => type === "Applied")?.reason;

  it("completes its sync in mode observe, says what would be created, and asks for no write", async () => {
    await applyAll(management, [policy]);
    await waitFor("the comparison", async () => ((await comparison())?.wouldCreate ?? 0) > 0);
    expect((await comparison())?.mode).toBe("observe");
    expect((await comparison())?.examples?.join()).toContain("VirtualService bookinfo/reviews");
    await waitFor("the policy's status", async () => (await appliedReason()) === "Observed");
    expect(fleet.servers.east.planeRefusals()).toEqual([]);
    expect(await east.get(VirtualService, { name: "reviews", namespace: "bookinfo" })).toBeUndefined();
  });

  it("says by whom an object of the same name was written, and in which fields it differs", async () => {
    const theirs = { apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata: { name: "reviews", namespace: "bookinfo" } };
    const spec = { hosts: ["reviews"], http: [{ route: [{ destination: { host: "reviews" } }] }] };
    await east.apply({ ...theirs, spec } as AnyResource, { fieldManager: "argocd" });
    await waitFor("the conflict", async () => (await comparison())?.conflicts === 1);
    const example = (await comparison())?.examples?.[0] ?? "";
    expect(example).toContain("exists, managed by argocd, and differs: spec.");
    expect(fleet.servers.east.planeRefusals()).toEqual([]);
  });

  it("is refused its writes in mode manage, which shows that nothing but the mode held them back", async () => {
    await east.delete({
      apiVersion: "networking.istio.io/v1",
      kind: "VirtualService",
      name: "reviews",
      namespace: "bookinfo",
      clusterName: "",
    });
    await applyAll(management, [registration("manage")]);
    await waitFor("a refused write", async () => fleet.servers.east.planeRefusals().length > 0);
    await waitFor("the policy's status", async () => (await appliedReason()) === "WriteFailed");
  });
});
