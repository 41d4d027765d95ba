import { existsSync } from "node:fs";
import { join } from "node:path";
import { KubernetesCluster, TrafficPolicy } from "@isthmus/api";
import { MAX_DEPTH } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ManagementServer, startManagementServer } from "./harness/apps.ts";
import { anyKind, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace } from "./harness/istioInstallation.ts";
import { applyAll } from "./harness/manifests.ts";
import { requestTo } from "./harness/requestTo.ts";
import { waitFor } from "./harness/waitFor.ts";

const POLICIES = `/apis/${TrafficPolicy.apiVersion}/namespaces/gloo-mesh/trafficpolicies`;
/** 54 KB as JSON: the CRD keeps fields that it does not know, and Kubernetes takes up to 10,000 levels. */
const LEVELS = 9_000;

// One story: a policy that once put every management server into a crash loop, found by a watch and by a list.
describeReal("what a user may write, on a real API server", (components) => {
  let fleet: Fleet<"management">;
  let management: Cluster;
  let server: ManagementServer;

  beforeAll(async () => {
    fleet = await startFleet(components, ["management"], { crds: "all" });
    management = clusterOf(fleet.servers.management, "");
    await applyAll(management, [namespace("gloo-mesh")]);
    server = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory });
    await server.app.ready();
  });
  afterAll(async () => {
    await server?.app.program.stop();
    await fleet?.stop();
  });

  /** As text: our own test would not survive to make it of a value. */
  function nested(name: string, levels: number): string {
    const { apiVersion, kind } = TrafficPolicy;
    const policy = `{"requestTimeout":"2s","extra":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}`;
    return `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"${name}"},"spec":{"policy":${policy}}}`;
  }

  /** Waits until a policy has a status, and gives its state and its errors. */
  function judged(name: string): Promise<{ readonly state: string; readonly errors: string }> {
    return waitFor(`a status of ${name}`, async () => {
      expect(server.app.program.isRunning, server.app.program.output().slice(-2_000)).toBe(true);
      const Policy = anyKind(TrafficPolicy.apiVersion, TrafficPolicy.kind, TrafficPolicy.plural);
      const { items, malformed } = await management.list(Policy, { namespace: "gloo-mesh" });
      const found =
        items.find(({ metadata }) => metadata.name === name)?.["status"] ?? malformed.find(({ ref }) => ref.name === name)?.status;
      const status = found as { readonly state?: string; readonly errors?: readonly string[] } | undefined;
      return status?.state === undefined ? undefined : { state: status.state, errors: (status.errors ?? []).join() };
    });
  }

  it("a policy that is nested too deeply is malformed when it comes by a watch, and others are judged as ever", async () => {
    await requestTo(fleet.servers.management, "POST", POLICIES, nested("deep", LEVELS));
    await requestTo(fleet.servers.management, "POST", POLICIES, nested("shallow", 1));
    expect((await judged("shallow")).state).toBe("ACCEPTED");
    const { state, errors } = await judged("deep");
    expect(state).toBe("INVALID");
    expect(errors).toContain(`TrafficPolicy gloo-mesh/deep: is nested deeper than ${MAX_DEPTH} levels`);
  });

  it("it is malformed when it comes by a list: a server that starts does not crash", async () => {
    await server.app.program.stop();
    server = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory, name: "restarted" });
    await server.app.ready();
    await requestTo(fleet.servers.management, "POST", POLICIES, nested("shallow-2", 1));
    expect((await judged("shallow-2")).state).toBe("ACCEPTED");
    expect((await judged("deep")).state).toBe("INVALID");
  });

  it("a kubeconfig in a Secret starts no program, and its cluster says why", async () => {
    const marker = join(fleet.directory, "a-program-ran");
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "touch", args: [marker], interactiveMode: "Never" };
    const kubeconfig = JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "evil",
      clusters: [{ name: "evil", cluster: { server: fleet.servers.management.url } }],
      users: [{ name: "evil", user: { exec } }],
      contexts: [{ name: "evil", context: { cluster: "evil", user: "evil" } }],
    });
    const metadata = { name: "evil", namespace: "gloo-mesh" };
    const registration = { apiVersion: KubernetesCluster.apiVersion, kind: KubernetesCluster.kind, metadata, spec: {} };
    const data = { kubeconfig: Buffer.from(kubeconfig).toString("base64") };
    await applyAll(management, [registration, { apiVersion: "v1", kind: "Secret", metadata, type: "solo.io/kubeconfig", data }]);
    const message = await waitFor("the condition of the cluster", async () => {
      expect(existsSync(marker)).toBe(false);
      const found = await management.get(KubernetesCluster, metadata);
      return found?.status?.conditions?.find(({ type, status }) => type === "Connected" && status === "False")?.message;
    });
    expect(message).toContain("Secret gloo-mesh/evil: user.exec is refused: it would run a program in the management server");
    expect(existsSync(marker)).toBe(false);
  });
});
