import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KubernetesCluster } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ManagementServer, startManagementServer } from "./harness/apps.ts";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace as namespaceOf } from "./harness/istioInstallation.ts";
import { type KubeletPorts, startKubeletPorts } from "./harness/kubeletPorts.ts";
import { applyAll } from "./harness/manifests.ts";

const MESHCTL = fileURLToPath(new URL("../../apps/meshctl/bin/meshctl.js", import.meta.url));
const namespace = "gloo-mesh";
const SERVER = "gloo-mesh-mgmt-server";
const RBAC = "rbac.authorization.k8s.io/v1";
const labels = { app: SERVER };

interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

// The API server, its authorization and its proxying are real; there is no kubelet, so a double of its endpoint connects to the server's process.
describeReal("meshctl reads the admin port of a pod through a real API server", (components) => {
  let fleet: Fleet<"management">;
  let management: Cluster;
  let server: ManagementServer;
  let kubelet: KubeletPorts;
  const programs = new Map<string, number>();

  beforeAll(async () => {
    fleet = await startFleet(components, ["management"], { crds: "all" });
    management = clusterOf(fleet.servers.management, "");
    await applyAll(management, [namespaceOf(namespace)]);
    server = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory });
    await server.app.ready();
    programs.set(`${namespace}/server-a:9091`, Number(new URL(server.adminUrl).port));
    kubelet = await startKubeletPorts(programs);
    const containers = [{ name: "mgmt-server", image: "image", ports: [{ name: "stats", containerPort: 9091 }] }];
    await applyAll(management, [
      { apiVersion: "v1", kind: "Node", metadata: { name: "node" } },
      { apiVersion: "v1", kind: "Pod", metadata: { name: "server-a", namespace, labels }, spec: { nodeName: "node", containers } },
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: SERVER, namespace },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      },
    ] as unknown as readonly AnyResource[]);
    const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
    const options = { fieldManager: "kubelet", force: true };
    const daemonEndpoints = { kubeletEndpoint: { Port: kubelet.port } };
    await management.applyStatus(
      { apiVersion: "v1", kind: "Node", metadata: { name: "node" }, status: { addresses, daemonEndpoints } } as AnyResource,
      options,
    );
    await management.applyStatus(
      { apiVersion: "v1", kind: "Pod", metadata: { name: "server-a", namespace }, status: { phase: "Running" } } as AnyResource,
      options,
    );
  });
  afterAll(async () => {
    await server?.app.program.stop();
    await kubelet?.close();
    await fleet?.stop();
  });

  function meshctl(args: readonly string[], kubeconfig = fleet.servers.management.kubeconfig): Promise<Answer> {
    const env = { PATH: process.env["PATH"] ?? "" };
    return new Promise((resolve) => {
      execFile(process.execPath, [MESHCTL, ...args, "--kubeconfig", kubeconfig], { env }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  }

  /** What the user without rights may do from now on, and no more. */
  async function allow(...rules: readonly object[]): Promise<void> {
    const metadata = { name: "reader", namespace };
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" };
    const subjects = [{ kind: "User", name: "stranger", apiGroup: "rbac.authorization.k8s.io" }];
    await applyAll(management, [
      { apiVersion: RBAC, kind: "Role", metadata, rules },
      { apiVersion: RBAC, kind: "RoleBinding", metadata, roleRef, subjects },
    ] as unknown as readonly AnyResource[]);
  }

  it("explain delete and sync status --metrics answer without an address", async () => {
    const evidence = await meshctl(["explain", "delete", "VirtualService", "bookinfo/reviews", "--cluster", "east"]);
    expect(evidence).toEqual({ code: 0, out: "", err: "No such delete among the last 0 that this server knows since it started.\n" });
    const { apiVersion, kind } = KubernetesCluster;
    await applyAll(management, [{ apiVersion, kind, metadata: { name: "east", namespace } }]);
    const status = await meshctl(["sync", "status", "--metrics"]);
    expect(status.code, status.err).toBe(1);
    expect(status.out).toMatch(/^CLUSTER +STATE +SYNCED +REPORTED +QUEUED/);
    expect(new Set(kubelet.asked)).toEqual(new Set([`${namespace}/server-a:9091`]));
  });

  it("needs the permission for pods/portforward, and says so", async () => {
    const reader = join(fleet.directory, "reader");
    writeFileSync(reader, fleet.servers.management.strangerKubeconfig);
    const lists = [
      { apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
    ];
    await allow(...lists);
    const before = kubelet.asked.length;
    const refused = await meshctl(["explain", "delete"], reader);
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toMatch(
      /^error: management cluster: .*pods "server-a" is forbidden: User "stranger" cannot .* resource "pods\/portforward" .*Use a kubeconfig whose user has these permissions/s,
    );
    expect(kubelet.asked).toHaveLength(before);
    await allow(...lists, { apiGroups: [""], resources: ["pods/portforward"], verbs: ["get", "create"] });
    expect((await meshctl(["explain", "delete"], reader)).code).toBe(0);
  });

  it("says what the node says of a port that is closed, and that a node does not answer", async () => {
    const port = programs.get(`${namespace}/server-a:9091`) ?? 0;
    programs.clear();
    const closed = await meshctl(["explain", "delete"]);
    expect(closed).toMatchObject({ code: 2, err: expect.stringMatching(/port 9091 of Pod gloo-mesh\/server-a: .*connection refused/) });
    programs.set(`${namespace}/server-a:9091`, port);
    await kubelet.close();
    const away = await meshctl(["explain", "delete"]);
    expect(away).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error: management cluster: .*dial tcp 127\.0\.0\.1:\d+: connect: connection refused/s),
    });
  });
});
