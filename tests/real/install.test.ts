import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KubernetesCluster, Secret, TrafficPolicy } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Asked, denying, startAlteredApiServer } from "./harness/alteredApiServer.ts";
import { type ManagementServer, startManagementServer } from "./harness/apps.ts";
import { anyKind, CustomResourceDefinition, clusterOf, Namespace } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { chartForAnyVersion, helm, renderedObjects } from "./harness/helm.ts";
import { applyAll } from "./harness/manifests.ts";
import { pathWithHelm } from "./harness/meshctl.ts";
import { requestTo } from "./harness/requestTo.ts";
import { waitFor } from "./harness/waitFor.ts";

const MESHCTL = fileURLToPath(new URL("../../apps/meshctl/bin/meshctl.js", import.meta.url));
const namespace = "gloo-mesh";
const SERVER = "gloo-mesh-mgmt-server";
const Deployment = anyKind("apps/v1", "Deployment", "deployments");
const RBAC = "rbac.authorization.k8s.io/v1";
const INSTALLED: readonly Kind[] = [
  Deployment,
  anyKind("v1", "Service", "services"),
  anyKind("v1", "ServiceAccount", "serviceaccounts"),
  anyKind("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
  anyKind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
  anyKind(RBAC, "ClusterRole", "clusterroles", { namespaced: false }),
  anyKind(RBAC, "ClusterRoleBinding", "clusterrolebindings", { namespaced: false }),
  anyKind(RBAC, "Role", "roles"),
  anyKind(RBAC, "RoleBinding", "rolebindings"),
];

interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

// One story: each test continues where the one before it ended.
describeReal("the management plane is installed by one command", (components) => {
  let fleet: Fleet<"management">;
  let management: Cluster;
  let server: ManagementServer | undefined;

  beforeAll(async () => {
    fleet = await startFleet(components, ["management"]);
    management = clusterOf(fleet.servers.management, "");
  });
  afterAll(async () => {
    await server?.app.program.stop();
    await fleet?.stop();
  });

  function meshctl(args: readonly string[], kubeconfig = fleet.servers.management.kubeconfig): Promise<Answer> {
    const env = { PATH: pathWithHelm(components, fleet.directory), COLUMNS: "400" };
    return new Promise((resolve) => {
      execFile(process.execPath, [MESHCTL, ...args, "--kubeconfig", kubeconfig], { env }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  }

  async function objects(): Promise<readonly AnyResource[]> {
    const lists = await Promise.all(INSTALLED.map((kind) => management.list(kind)));
    return lists.flatMap(({ items }) => items as readonly AnyResource[]).filter(({ metadata }) => metadata.name.startsWith("gloo-mesh-"));
  }

  /** Which objects of the chart stand there. */
  async function standing(): Promise<readonly string[]> {
    return (await objects()).map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name} ${metadata.uid}`).sort();
  }
  const definitions = async () =>
    (await management.list(CustomResourceDefinition)).items.filter(({ metadata }) => metadata.name.includes(".solo.io"));

  /** In place of kubelet, controllers and load balancer: the server as a process, and statuses that say so. */
  async function comesUp(): Promise<void> {
    const names = ["gloo-mesh-redis", SERVER];
    await waitFor("the Deployments", async () => {
      const found = await Promise.all(names.map((name) => management.get(Deployment, { name, namespace }).catch(() => undefined)));
      return found.every((deployment) => deployment !== undefined);
    });
    const options = { fieldManager: "controllers", force: true };
    server = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory });
    await server.app.ready();
    const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    for (const name of names) {
      await management.applyStatus(
        { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace }, status } as AnyResource,
        options,
      );
    }
    // The API server itself only shows a claim without a phase as Pending, and would store that with the next write of anybody.
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "gloo-mesh-redis", namespace } };
    await management.applyStatus({ ...claim, status: { phase: "Bound" } } as AnyResource, options);
    const metadata = { name: SERVER, namespace };
    const loadBalancer = { ingress: [{ ip: "203.0.113.7" }] };
    await management.applyStatus({ apiVersion: "v1", kind: "Service", metadata, status: { loadBalancer } } as AnyResource, options);
  }

  it("refuses a user without rights, and tries everything without writing (--dry-run)", async () => {
    const stranger = join(fleet.directory, "stranger");
    writeFileSync(stranger, fleet.servers.management.strangerKubeconfig);
    expect(await meshctl(["install"], stranger)).toMatchObject({ code: 2, out: "", err: expect.stringContaining("is forbidden") });
    const { code, out, err } = await meshctl(["install", "--dry-run"]);
    expect(code, err).toBe(0);
    expect(out).toContain(`Deployment ${namespace}/${SERVER}: would be created`);
    expect([await standing(), await definitions()]).toEqual([[], []]);
    expect(await management.get(Namespace, { name: namespace, namespace: "" })).toBeUndefined();
  });

  it("takes Settings by a value before their CRD is there", async () => {
    const values = ["install", "--namespace", "early", "--set", "settings.mtls.istio.tlsMode=ISTIO_MUTUAL", "--no-wait"];
    const tried = await meshctl([...values, "--dry-run"]);
    expect(tried.code, tried.err).toBe(0);
    expect(tried.out).toContain("Settings early/settings: would be created");
  });

  it("undoes all that it made, the namespace too, when the cluster refuses a part of it: --rollback", async () => {
    const isDeployment = ({ method, path }: Asked) => method === "PATCH" && path.includes("/deployments/gloo-mesh-redis");
    const webhook = 'admission webhook "policy.example" denied the request: images must be signed';
    const { kubeconfig, close } = await startAlteredApiServer(fleet.servers.management, "denying", denying(isDeployment, webhook));
    const { code, err } = await meshctl(["install", "--namespace", "fresh", "--rollback"], kubeconfig);
    await close();
    expect(code, err).toBe(2);
    expect(err).toContain(webhook);
    expect(err).toContain("Rolled back: what this run created is deleted, and what it changed is as before.");
    // In place of the controller that protects claims: one that is being deleted and that no pod uses goes.
    const Claim = anyKind("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
    const claim = (await management.get(Claim, { name: "gloo-mesh-redis", namespace: "fresh" })) as AnyResource;
    expect(claim.metadata).toHaveProperty("deletionTimestamp");
    await management.update({ ...claim, metadata: { ...claim.metadata, finalizers: [] } } as AnyResource);
    const place = await management.get(Namespace, { name: "fresh", namespace: "" });
    expect(place?.metadata).toHaveProperty("deletionTimestamp");
    // In place of a namespace controller: a namespace that is being deleted goes.
    await requestTo(fleet.servers.management, "PUT", "/api/v1/namespaces/fresh/finalize", { ...place, spec: { finalizers: [] } });
    await waitFor("the CRDs to go", async () => (await definitions()).length === 0);
    expect(await standing()).toEqual([]);
  });

  it("passes all gates, once the server has made its Secrets and has an address", async () => {
    const [{ code, err }] = await Promise.all([meshctl(["install", "--timeout", "60s"]), comesUp()]);
    expect(code, err).toBe(0);
    expect(err).toContain("203.0.113.7:9900 (load balancer of Service gloo-mesh/gloo-mesh-mgmt-server)");
    expect(err).toContain("meshctl cluster register NAME --remote-context CONTEXT");
    const rendered = await renderedObjects({ components, chart: SERVER });
    expect((await standing()).length).toBe(rendered.length);
  });

  it("changes nothing when it is repeated, and tries what it would change", async () => {
    const before = await objects();
    const { code, err } = await meshctl(["install", "--timeout", "60s"]);
    expect(code, err).toBe(0);
    expect(await objects()).toEqual(before);
    expect((await meshctl(["install", "--dry-run"])).out).toContain(`Deployment ${namespace}/${SERVER}: would be applied again`);
    expect(await objects()).toEqual(before);
  });

  it("restores what an upgrade changed, so that the next one is not refused: --rollback", async () => {
    // Of an earlier release: what this one has not, and something that it has otherwise.
    const crd = "trafficpolicies.networking.mesh.gloo.solo.io";
    const labels = { "isthmus.test/earlier": "true" };
    const rendered = (await renderedObjects({ components, chart: SERVER })).find(
      ({ kind, metadata }) => kind === "Deployment" && metadata.name === SERVER,
    ) as AnyResource;
    const spec = { ...(rendered["spec"] as object), progressDeadlineSeconds: 77 };
    await management.apply(
      { ...rendered, metadata: { ...rendered.metadata, labels: { ...rendered.metadata["labels"], ...labels } }, spec } as AnyResource,
      {
        fieldManager: "meshctl",
        force: true,
      },
    );
    const definition = (await management.get(CustomResourceDefinition, { name: crd, namespace: "" })) as AnyResource;
    const shown = async () => {
      const { metadata, ...rest } = (await management.get(Deployment, { name: SERVER, namespace })) as AnyResource;
      const managers = (metadata.managedFields ?? []).filter(({ operation }) => operation === "Apply").map(({ fieldsV1 }) => fieldsV1);
      return { labels: metadata["labels"], spec: rest["spec"], managers };
    };
    const before = await shown();
    // The last one that is applied.
    const isLast = ({ method, path }: Asked) => method === "PATCH" && path.includes("/deployments/gloo-mesh-ui");
    const { kubeconfig, close } = await startAlteredApiServer(fleet.servers.management, "refusing", denying(isLast, "refused for now"));
    const { code, err } = await meshctl(["install", "--rollback", "--timeout", "5s"], kubeconfig);
    await close();
    expect(code, err).toBe(2);
    expect(err).toContain("Rolled back");
    expect(await shown()).toEqual(before);
    expect((await management.get(CustomResourceDefinition, { name: crd, namespace: "" }))?.metadata.uid).toBe(definition.metadata.uid);
    const again = await meshctl(["install", "--timeout", "60s", "--no-wait"]);
    expect(again.code, again.err).toBe(0);
  });

  it("installs in another namespace what Helm renders for it, and uninstalls that", async () => {
    expect((await meshctl(["install", "--namespace", "plane", "--no-wait"])).code).toBe(0);
    const rendered = await renderedObjects({ components, chart: SERVER, namespace: "plane" });
    const names = rendered.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`).sort();
    const found = (await standing()).map((line) => line.slice(0, line.lastIndexOf(" ")));
    expect(found.filter((name) => name.includes(" plane/") || name.endsWith("-plane"))).toEqual(names);
    const deployment = await management.get(Deployment, { name: SERVER, namespace: "plane" });
    const wanted = rendered.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === SERVER);
    expect(deployment?.["spec"]).toMatchObject({ template: { spec: { containers: [{ args: argsOf(wanted) }] } } });
    const { code, err } = await meshctl(["uninstall", "--namespace", "plane", "--yes"]);
    expect(code, err).toBe(0);
    expect((await standing()).filter((line) => line.includes("plane")).map((line) => line.split(" ")[0])).toEqual([
      "PersistentVolumeClaim",
    ]);
  });

  it("installs with values of a user what Helm renders for them; they are not forgotten, and go when they are reset", async () => {
    const values = {
      image: { registry: "registry.example.com/mesh", pullSecrets: ["login"] },
      singleCluster: "mgmt",
      writeNamespaces: ["default"],
      replicas: 2,
      redis: { deployment: { enabled: false }, address: "redis.example:6379" },
    };
    const file = join(fleet.directory, "values.json");
    writeFileSync(file, JSON.stringify(values));
    const given = ["install", "--namespace", "valued", "--no-wait", "--values", file];
    expect((await meshctl(given)).code).toBe(0);
    const place = (line: string) => line.includes(" valued/") || line.includes("-valued ") || line.includes(" default/");
    const names = async () => (await standing()).filter(place).map((line) => line.slice(0, line.lastIndexOf(" ")));
    const rendered = await renderedObjects({ components, chart: SERVER, namespace: "valued", values });
    const wanted = rendered
      .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`)
      .filter((name) => !name.startsWith("PodDisruptionBudget"));
    expect(wanted).toContain("Role default/gloo-mesh-mgmt-server-writes");
    expect(await names()).toEqual(wanted.sort());
    const container = (await management.get(Deployment, { name: SERVER, namespace: "valued" }))?.["spec"];
    expect(JSON.stringify(container)).toContain("registry.example.com/mesh/gloo-mesh-mgmt-server:");
    const forgetful = await meshctl(["install", "--namespace", "valued", "--no-wait"]);
    expect(forgetful).toMatchObject({ code: 2, err: expect.stringContaining("pass its --values and --set again, or --reset-values") });
    const wrong = await meshctl([...given, "--set", "nothing=1"]);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("Helm refuses these values: ") });
    const reset = await meshctl(["install", "--namespace", "valued", "--no-wait", "--reset-values"]);
    expect(reset.code, reset.err).toBe(0);
    expect(reset.err).toContain("deleted Role default/gloo-mesh-mgmt-server-writes");
    const usual = (await renderedObjects({ components, chart: SERVER, namespace: "valued" })).map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`,
    );
    expect(await names()).toEqual(usual.sort());
    expect((await meshctl(given)).code).toBe(0);
    const removed = await meshctl(["uninstall", "--namespace", "valued", "--yes"]);
    expect(removed.code, removed.err).toBe(0);
    expect((await names()).map((name) => name.split(" ")[0])).toEqual(["PersistentVolumeClaim"]);
  });

  it("leaves a volume that Helm takes over with --take-ownership", async () => {
    const chart = chartForAnyVersion(SERVER, fleet.directory);
    const install = ["install", "after", chart, "--namespace=valued"];
    const at = { components, server: fleet.servers.management };
    expect(await helm(at, install)).toMatchObject({ code: 1, stderr: expect.stringContaining("PersistentVolumeClaim") });
    const taken = await helm(at, [...install, "--take-ownership"]);
    expect(taken.code, taken.stderr).toBe(0);
    expect((await helm(at, ["uninstall", "after", "--namespace=valued"])).code).toBe(0);
  });

  it("does not change an installation by Helm", async () => {
    const chart = chartForAnyVersion(SERVER, fleet.directory);
    const made = await helm({ components, server: fleet.servers.management }, [
      "install",
      "theirs",
      chart,
      "--namespace=helm",
      "--create-namespace",
    ]);
    expect(made.code, made.stderr).toBe(0);
    const before = await standing();
    const install = await meshctl(["install", "--namespace", "helm"]);
    expect(install).toMatchObject({
      code: 2,
      err: expect.stringContaining("helm upgrade theirs deploy/helm/gloo-mesh-mgmt-server --namespace helm"),
    });
    const uninstall = await meshctl(["uninstall", "--namespace", "helm", "--yes"]);
    expect(uninstall).toMatchObject({ code: 2, err: expect.stringContaining("helm uninstall theirs --namespace helm") });
    expect(await standing()).toEqual(before);
  });

  it("installs where a Helm release was, and uses the volume that it has left as it is", async () => {
    const gone = await helm({ components, server: fleet.servers.management }, ["uninstall", "theirs", "--namespace=helm"]);
    expect(gone.code, gone.stderr).toBe(0);
    const volume = async () => (await standing()).filter((line) => line.includes(" helm/"));
    const left = await volume();
    expect(left.map((line) => line.split(" ")[0])).toEqual(["PersistentVolumeClaim"]);
    const installed = await meshctl(["install", "--namespace", "helm", "--no-wait"]);
    expect(installed.code, installed.err).toBe(0);
    expect(installed.err).toContain("PersistentVolumeClaim helm/gloo-mesh-redis, which a Helm release has left, is used as it is");
    expect((await meshctl(["install", "--namespace", "helm", "--no-wait"])).code).toBe(0);
    const removed = await meshctl(["uninstall", "--namespace", "helm", "--yes"]);
    expect(removed.code, removed.err).toBe(0);
    expect(removed.err).toContain("PersistentVolumeClaim helm/gloo-mesh-redis, which meshctl has not created");
    expect(await volume()).toEqual(left);
  });

  it("uninstalls what it has made once no cluster is registered, and CRDs only when asked to", async () => {
    await server?.app.program.stop();
    server = undefined;
    const { apiVersion, kind } = KubernetesCluster;
    await applyAll(management, [{ apiVersion, kind, metadata: { name: "east", namespace } }]);
    const refused = await meshctl(["uninstall", "--yes"]);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("meshctl cluster deregister east --remote-context CONTEXT") });
    await management.delete({ apiVersion, kind, name: "east", namespace, clusterName: "" });
    const spec = { policy: { requestTimeout: "2s" } };
    await applyAll(management, [
      { apiVersion: TrafficPolicy.apiVersion, kind: TrafficPolicy.kind, metadata: { name: "mine", namespace }, spec } as AnyResource,
    ]);
    const asked = await meshctl(["uninstall"]);
    expect(asked).toMatchObject({ code: 2, err: expect.stringContaining("add --yes") });
    const { code, err } = await meshctl(["uninstall", "--yes"]);
    expect(code, err).toBe(0);
    expect((await standing()).filter((line) => line.includes(` ${namespace}/`)).map((line) => line.split(" ")[0])).toEqual([
      "PersistentVolumeClaim",
    ]);
    expect(await management.get(TrafficPolicy, { name: "mine", namespace })).toBeDefined();
    const all = await meshctl(["uninstall", "--yes", "--crds"]);
    expect(all.code, all.err).toBe(0);
    expect(all.err).toContain("1 object of trafficpolicies.networking.mesh.gloo.solo.io");
    expect(await definitions()).toEqual([]);
    expect(await management.get(Secret, { name: "relay-root-tls-secret", namespace })).toBeDefined();
  });
});

function argsOf(deployment: AnyResource | undefined): unknown {
  const { spec } = deployment as unknown as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly args: unknown }[] } } };
  };
  return spec.template.spec.containers[0]?.args;
}
