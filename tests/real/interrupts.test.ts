import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { KubernetesCluster, Secret } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { anyKind, CustomResourceDefinition, clusterOf, Namespace } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { applyAll, installCrds } from "./harness/manifests.ts";
import { ourCrds } from "./harness/meshCluster.ts";
import { waitFor } from "./harness/waitFor.ts";

const MESHCTL = fileURLToPath(new URL("../../apps/meshctl/bin/meshctl.js", import.meta.url));
const namespace = "gloo-mesh";
const RBAC = "rbac.authorization.k8s.io/v1";
const Deployment = anyKind("apps/v1", "Deployment", "deployments");
const MADE: readonly Kind[] = [
  Namespace,
  CustomResourceDefinition,
  KubernetesCluster,
  Secret,
  Deployment,
  anyKind("v1", "Service", "services"),
  anyKind("v1", "ServiceAccount", "serviceaccounts"),
  anyKind("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
  anyKind(RBAC, "ClusterRole", "clusterroles", { namespaced: false }),
  anyKind(RBAC, "ClusterRoleBinding", "clusterrolebindings", { namespaced: false }),
  anyKind(RBAC, "Role", "roles"),
  anyKind(RBAC, "RoleBinding", "rolebindings"),
];

// No controller runs here: no pod ever starts, so a command waits at the gate "pods" until it is interrupted.
describeReal("a command that is interrupted takes back what it has made (--rollback)", (components) => {
  let fleet: Fleet<"management" | "east">;
  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east"]);
  });
  afterAll(() => fleet?.stop());

  const clusterNamed = (name: "management" | "east"): Cluster => clusterOf(fleet.servers[name], "");

  async function standing(cluster: Cluster): Promise<readonly string[]> {
    const lists = await Promise.all(MADE.map((kind) => cluster.list(kind).catch(() => ({ items: [] as readonly AnyResource[] }))));
    // Where something is left to do for a controller, an object that was deleted stays until then.
    const kept = lists.flatMap(({ items }) => items).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return kept.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`).sort();
  }

  /** Runs a command until `cluster` has the Deployment; then sends the signal. */
  async function interrupted(
    args: readonly string[],
    signal: NodeJS.Signals,
    { cluster, deployment }: { cluster: Cluster; deployment: string },
  ) {
    const child = spawn(process.execPath, [MESHCTL, ...args], {
      env: { PATH: process.env["PATH"] ?? "", COLUMNS: "1000" },
      timeout: 120_000,
    });
    let err = "";
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    const ended = new Promise<number | null>((resolve) => {
      child.once("close", resolve);
    });
    await waitFor(
      `Deployment ${deployment}: ${err}`,
      async () => (await cluster.get(Deployment, { name: deployment, namespace })) !== undefined,
    );
    child.kill(signal);
    return { code: await ended, err };
  }

  it("install, by SIGINT", async () => {
    const cluster = clusterNamed("management");
    const before = await standing(cluster);
    const args = ["install", "--rollback", `--kubeconfig=${fleet.servers.management.kubeconfig}`];
    const { code, err } = await interrupted(args, "SIGINT", { cluster, deployment: "gloo-mesh-mgmt-server" });
    expect({ code, err }).toEqual({ code: 130, err: expect.stringContaining("interrupted: ending in order; once more ends at once\n") });
    expect(err).toMatch(/error: the management plane is not installed: it was interrupted at the gate "(objects|pods)"\nRolled back: /);
    expect(await standing(cluster)).toEqual(before);
  });

  it("cluster register, by SIGTERM", async () => {
    const [management, east] = [clusterNamed("management"), clusterNamed("east")];
    await installCrds(management, ourCrds());
    const root = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "relay-root-tls-secret", namespace: "default" },
      data: { "ca.crt": btoa("PEM") },
    };
    await applyAll(management, [root as AnyResource]);
    const before = await Promise.all([management, east].map(standing));
    const places = [
      `--kubeconfig=${fleet.servers.east.kubeconfig}`,
      `--mgmt-kubeconfig=${fleet.servers.management.kubeconfig}`,
      "--mgmt-namespace=default",
    ];
    const args = ["cluster", "register", "east", "--rollback", "--no-probe", "--relay-server-address=127.0.0.1:1", ...places];
    const { code, err } = await interrupted(args, "SIGTERM", { cluster: east, deployment: "gloo-mesh-agent" });
    expect({ code, err }).toEqual({
      code: 130,
      err: expect.stringContaining("error: east is not registered: it was interrupted at the gate"),
    });
    expect(err).toContain("Rolled back: all that was created has been deleted.");
    expect(await Promise.all([management, east].map(standing))).toEqual(before);
  });
});
