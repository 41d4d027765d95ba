import { allKinds, KubernetesCluster, Node, Secret, Service, TrafficPolicy } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import { ClusterError, systemClock } from "@isthmus/plane";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { describe, expect, it } from "vitest";
import { serverObjects } from "../src/cluster/install/serverManifest.ts";
import { Interrupted } from "../src/cluster/interruption.ts";
import { untyped } from "../src/cluster/remoteAccess.ts";
import { meshctl, type Outside } from "../src/meshctl.ts";
import { expectGolden } from "./goldenText.ts";
import type { Run } from "./planeRun.ts";
import { recordedIo } from "./recordedIo.ts";

const namespace = "gloo-mesh";
const RBAC = "rbac.authorization.k8s.io/v1";
const Deployment = untyped("apps/v1", "Deployment", "deployments");
const Claim = untyped("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
const Definition = untyped("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", false);
const OTHERS: readonly Kind[] = [
  Claim,
  untyped("v1", "ServiceAccount", "serviceaccounts"),
  untyped("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
  untyped(RBAC, "ClusterRole", "clusterroles", false),
  untyped(RBAC, "ClusterRoleBinding", "clusterrolebindings", false),
  untyped(RBAC, "Role", "roles"),
  untyped(RBAC, "RoleBinding", "rolebindings"),
];

function management(): SimulatedCluster {
  const known = new Set<string>();
  const kinds = [...allKinds(), Definition, ...OTHERS].filter(({ kind }) => {
    const isNew = !known.has(kind);
    known.add(kind);
    return isNew;
  });
  return simulatedCluster({ name: "", clock: systemClock, kinds });
}

/** What an API server says of itself. */
function apiServer(version = "v1.31.2", denied: readonly string[] = []): Pick<Outside, "connectApiServer"> {
  return {
    connectApiServer: async () => ({
      address: "https://mgmt.example",
      version: async () => version,
      clockAheadMs: async () => undefined,
      isAllowed: async ({ resource }) => !denied.includes(resource),
      connectToPod: () => Promise.reject(new Error("no pod was meant")),
      podLog: async function* () {
        yield "";
      },
    }),
  };
}

interface Runs {
  readonly columns?: number;
  readonly outside?: Partial<Outside>;
  readonly answer?: boolean;
}

async function run(cluster: SimulatedCluster, args: readonly string[], { columns = 120, outside = {}, answer }: Runs = {}): Promise<Run> {
  const io = { ...recordedIo(), columns, ...(answer === undefined ? {} : { ask: async () => answer }) };
  const code = await meshctl(args, io, { connect: async () => cluster, ...apiServer(), ...outside });
  return { code, out: io.written.out, err: io.written.err.replace(/ +\d+\.\d s(?= {2})/g, (time) => "N.N s".padStart(time.length)) };
}

/** In place of controllers and server: pods that are ready, an address, and the Secrets that the server makes. */
async function cameUp(cluster: SimulatedCluster): Promise<void> {
  const status = { observedGeneration: 9, updatedReplicas: 1, availableReplicas: 1 };
  const made = ["gloo-mesh-redis", "gloo-mesh-mgmt-server"].map((name) => ({ name, namespace }));
  for (const ref of made) await until(async () => (await cluster.get(Deployment, ref)) !== undefined);
  const applied = { fieldManager: "controllers", force: true };
  for (const metadata of made)
    await cluster.applyStatus({ apiVersion: "apps/v1", kind: "Deployment", metadata, status } as AnyResource, applied);
  const service = { apiVersion: Service.apiVersion, kind: Service.kind, metadata: { name: "gloo-mesh-mgmt-server", namespace } };
  const loadBalancer = { ingress: [{ ip: "203.0.113.7" }] };
  await cluster.applyStatus({ ...service, status: { loadBalancer } } as AnyResource, applied);
  for (const [name, key] of [
    ["relay-root-tls-secret", "ca.crt"],
    ["relay-server-tls-secret", "tls.crt"],
    ["relay-identity-token-secret", "token"],
  ] as const) {
    await cluster.create({
      apiVersion: Secret.apiVersion,
      kind: Secret.kind,
      metadata: { name, namespace },
      data: { [key]: btoa("x") },
    } as never);
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await systemClock.sleep(5);
}

async function installed(): Promise<SimulatedCluster> {
  const cluster = management();
  expect((await run(cluster, ["install", "--no-wait"])).code).toBe(0);
  return cluster;
}

const named = (kind: string, name: string): AnyResource => ({ apiVersion: "v1", kind, metadata: { name, namespace } });
const ours = async (cluster: SimulatedCluster): Promise<number> =>
  (
    await Promise.all(
      serverObjects(namespace).map(({ apiVersion, kind, metadata }) =>
        cluster
          .objects()
          .some((object) => object.apiVersion === apiVersion && object.kind === kind && object.metadata.name === metadata.name),
      ),
    )
  ).filter(Boolean).length;

describe("meshctl install", () => {
  it.each([80, 120])("installs all that the chart has and waits until agents can connect (%i columns)", async (columns) => {
    const cluster = management();
    const [answer] = await Promise.all([run(cluster, ["install", "--context", "mgmt"], { columns }), cameUp(cluster)]);
    expectGolden(`install/installed-${columns}`, answer.err);
    expect(answer).toMatchObject({ code: 0, out: "" });
    expect(await ours(cluster)).toBe(serverObjects(namespace).length);
  });

  it("may be repeated, and changes nothing then", async () => {
    const cluster = await installed();
    const before = cluster.objects();
    const { code, err } = await run(cluster, ["install", "--no-wait"]);
    expect(code).toBe(0);
    expect(err).toContain(`0 created, ${serverObjects(namespace).length} applied again`);
    expect(cluster.objects()).toEqual(before);
  });

  it("prints what it would apply, and applies nothing (--dry-run)", async () => {
    const cluster = management();
    const before = cluster.objects();
    const answer = await run(cluster, ["install", "--dry-run"]);
    expectGolden("install/dry-run", answer.out + answer.err);
    expect(answer.code).toBe(0);
    expect(cluster.objects()).toEqual(before);
  });

  it.each([80, 120])("never changes an installation by Helm (%i columns)", async (columns) => {
    const cluster = management();
    cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
    const annotations = { "meta.helm.sh/release-name": "plane", "meta.helm.sh/release-namespace": namespace };
    cluster.load([
      { ...named("ServiceAccount", "gloo-mesh-mgmt-server"), metadata: { name: "gloo-mesh-mgmt-server", namespace, annotations } },
    ]);
    const before = cluster.objects();
    const answers = [await run(cluster, ["install"], { columns }), await run(cluster, ["uninstall", "--yes"], { columns })];
    expectGolden(`install/helm-${columns}`, answers.map(({ err }) => err).join(""));
    expect(answers.map(({ code }) => code)).toEqual([2, 2]);
    expect(cluster.objects()).toEqual(before);
  });

  it("overwrites nothing that others have made, and names all of it", async () => {
    const cluster = management();
    cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
    cluster.load([named("ServiceAccount", "gloo-mesh-mgmt-server"), named("PersistentVolumeClaim", "gloo-mesh-redis")]);
    const before = cluster.objects();
    const { code, err } = await run(cluster, ["install"], { columns: 1000 });
    expect(code).toBe(2);
    expect(err).toMatch(
      /ServiceAccount gloo-mesh\/gloo-mesh-mgmt-server, PersistentVolumeClaim gloo-mesh\/gloo-mesh-redis: not created by meshctl/,
    );
    expect(err).toContain("Nothing was changed.");
    expect(cluster.objects()).toEqual(before);
  });

  it("leaves CRDs as others have made them", async () => {
    const cluster = management();
    const name = "trafficpolicies.networking.mesh.gloo.solo.io";
    const theirs = { ...Definition, metadata: { name }, spec: { group: "theirs" } };
    const { apiVersion, kind, metadata, spec } = theirs;
    await cluster.apply({ apiVersion, kind, metadata, spec } as AnyResource, { fieldManager: "helm" });
    const { code, err } = await run(cluster, ["install", "--no-wait"]);
    expect(code).toBe(0);
    expect(err).toContain("1 left as others have made them");
    expect((await cluster.get(Definition, { name, namespace: "" }))?.["spec"]).toEqual({ group: "theirs" });
  });

  it.each([
    ["an old Kubernetes", apiServer("v1.27.9"), /Kubernetes is v1\.27\.9: upgrade the cluster to 1\.28 or later/],
    [
      "a user without rights",
      apiServer("v1.31.2", ["deployments"]),
      /your user cannot create deployments\.apps in namespace gloo-mesh: use a/,
    ],
    [
      "a user without the right to CRDs",
      apiServer("v1.31.2", ["customresourcedefinitions"]),
      /your user cannot create customresourcedefinitions/,
    ],
  ])("refuses %s before anything is written", async (_, outside, message) => {
    const cluster = management();
    const before = cluster.objects();
    const { code, err } = await run(cluster, ["install"], { outside });
    expect(code).toBe(2);
    expect(err.replaceAll(/\s+/g, " ")).toMatch(message);
    expect(cluster.objects()).toEqual(before);
  });

  it("refuses a second server beside one of the legacy name", async () => {
    const cluster = management();
    cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
    cluster.load([{ ...named("Deployment", "enterprise-networking"), apiVersion: "apps/v1" }]);
    const { code, err } = await run(cluster, ["install"]);
    expect({ code, isNamed: err.includes("Deployment gloo-mesh/enterprise-networking is a management server") }).toEqual({
      code: 2,
      isNamed: true,
    });
  });

  it.each([80, 120])("names cause and next command of a gate that does not open (%i columns)", async (columns) => {
    const answer = await run(management(), ["install", "--context", "mgmt", "--timeout", "0s"], { columns });
    expectGolden(`install/late-${columns}`, answer.err);
    expect(answer.code).toBe(124);
  });

  it.each([80, 120])("undoes what it made when a gate does not open: --rollback (%i columns)", async (columns) => {
    const cluster = management();
    const before = cluster.objects();
    const answer = await run(cluster, ["install", "--context", "mgmt", "--timeout", "0s", "--rollback"], { columns });
    expectGolden(`install/rollback-${columns}`, answer.err);
    expect(answer.code).toBe(124);
    expect(cluster.objects()).toEqual(before);
  });

  it("undoes what it made when it is interrupted, and says without --rollback how", async () => {
    for (const flags of [["--rollback"], []]) {
      const cluster = management();
      const before = cluster.objects();
      const interrupt = new AbortController();
      const server = async () => (await cluster.get(Deployment, { name: "gloo-mesh-mgmt-server", namespace })) !== undefined;
      const interrupted = until(server).then(() => interrupt.abort(new Interrupted("interrupted")));
      const outside = { catchInterrupts: () => interrupt.signal };
      const [{ code, err }] = await Promise.all([run(cluster, ["install", ...flags], { columns: 1000, outside }), interrupted]);
      expect(code).toBe(130);
      expect(err).toMatch(/error: the management plane is not installed: it was interrupted at the gate "(objects|pods)"/);
      if (flags.length > 0) expect(cluster.objects()).toEqual(before);
      else expect(err).toContain("To take back what was applied:\n  meshctl uninstall");
    }
  });

  // Those that are concurrent wait for a second, which is the shortest --timeout but none, and share nothing.
  it.concurrent("undoes only what this run made: what it changed is restored, what others made meanwhile is kept (--rollback)", async () => {
    const cluster = await installed();
    const service = cluster.objects().find(({ kind }) => kind === "Service") as AnyResource;
    const { apiVersion, kind, metadata } = service;
    const older = { apiVersion, kind, metadata: { name: metadata.name, namespace }, spec: { ...(service["spec"] as object), older: true } };
    await cluster.delete({ ...older, ...older.metadata, clusterName: "" });
    await cluster.apply(older as unknown as AnyResource, { fieldManager: "meshctl" });
    const redis = { apiVersion: "apps/v1", kind: "Deployment", name: "gloo-mesh-redis", namespace, clusterName: "" };
    await cluster.delete(redis);
    const contents = () =>
      cluster.objects().map(({ metadata: { resourceVersion: _, ...rest }, ...object }) => ({ ...object, metadata: rest }));
    const before = contents();
    const token = { apiVersion: Secret.apiVersion, kind: Secret.kind, metadata: { name: "relay-identity-token-secret", namespace } };
    const made = until(async () => (await cluster.get(Deployment, redis)) !== undefined).then(() => cluster.create(token));
    const [{ code, err }] = await Promise.all([run(cluster, ["install", "--timeout", "1s", "--rollback"], { columns: 1000 }), made]);
    expect(code).toBe(124);
    expect(err).toContain("Rolled back: what this run created is deleted, and what it changed is as before.");
    // The server was there before: its Secrets are not of this run.
    const after = contents().filter(({ metadata: { name } }) => name !== token.metadata.name);
    expect(after).toEqual(before);
    expect(await cluster.get(Secret, token.metadata)).toBeDefined();
  });

  it.concurrent("deletes the Secrets of its server, and keeps CRD and namespace with something in them (--rollback)", async () => {
    const cluster = management();
    const before = cluster.objects();
    const server = async () => (await cluster.get(Deployment, { name: "gloo-mesh-mgmt-server", namespace })) !== undefined;
    // As the server makes it.
    const labels = { app: "gloo-mesh" };
    const secret = (name: string) => ({ apiVersion: Secret.apiVersion, kind: Secret.kind, metadata: { name, namespace, labels } });
    const policy = { apiVersion: TrafficPolicy.apiVersion, kind: TrafficPolicy.kind, metadata: { name: "mine", namespace } };
    const meanwhile = until(server).then(async () => {
      await cluster.create(secret("relay-root-tls-secret"));
      await cluster.create(policy);
    });
    const [{ code, err }] = await Promise.all([run(cluster, ["install", "--timeout", "1s", "--rollback"], { columns: 1000 }), meanwhile]);
    expect(code).toBe(124);
    expect(err).toContain(`Namespace ${namespace} is kept: it has TrafficPolicy ${namespace}/mine`);
    expect(err).toContain(
      `CustomResourceDefinition trafficpolicies.networking.mesh.gloo.solo.io is kept: it has TrafficPolicy ${namespace}/mine`,
    );
    const known = new Set(before.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    const left = cluster.objects().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(left.filter((name) => !known.has(name)).sort()).toEqual([
      "CustomResourceDefinition trafficpolicies.networking.mesh.gloo.solo.io",
      `Namespace ${namespace}`,
      "TrafficPolicy mine",
    ]);
  });

  it.concurrent("leaves a Secret of the relay that a user brings meanwhile (--rollback)", async () => {
    const cluster = management();
    const server = async () => (await cluster.get(Deployment, { name: "gloo-mesh-mgmt-server", namespace })) !== undefined;
    const metadata = { name: "relay-root-tls-secret", namespace };
    const theirs = until(server).then(() => cluster.create({ apiVersion: Secret.apiVersion, kind: Secret.kind, metadata }));
    const [{ err }] = await Promise.all([run(cluster, ["install", "--timeout", "1s", "--rollback"], { columns: 1000 }), theirs]);
    expect(err).toContain(`Namespace ${namespace} is kept: it has Secret ${namespace}/relay-root-tls-secret`);
    expect(await cluster.get(Secret, metadata)).toBeDefined();
  });

  it.concurrent("waits until CRDs are served", async () => {
    const cluster = management();
    const servedKinds = async () => (await cluster.servedKinds()).filter(({ kind }) => kind !== "TrafficPolicy");
    const { code, err } = await run({ ...cluster, servedKinds }, ["install", "--timeout", "0s"], { columns: 1000 });
    expect({ code, err }).toEqual({
      code: 124,
      err: expect.stringContaining("does not serve trafficpolicies.networking.mesh.gloo.solo.io"),
    });
  });

  it.concurrent("prints nothing that a terminal acts on, whatever a cluster says of its pods", async () => {
    const cluster = await installed();
    const { metadata } =
      serverObjects(namespace).find(({ kind, metadata: { name } }) => kind === "Deployment" && name === "gloo-mesh-redis") ?? {};
    const waiting = { reason: "ErrImagePull", message: "\u001b[2J\u001b]0;owned\u0007 no such\u202e image" };
    cluster.load([
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "redis-1", namespace, labels: { app: metadata?.name } },
        spec: { containers: [{ name: "redis", image: "x" }] },
        status: { containerStatuses: [{ name: "redis", state: { waiting } }] },
      } as AnyResource,
    ]);
    const io = { ...recordedIo(), columns: 1000 };
    const progress: string[] = [];
    const told = { ...io, progress: (text: string) => void progress.push(text) };
    expect(await meshctl(["install", "--timeout", "1s"], told, { connect: async () => cluster, ...apiServer() })).toBe(124);
    for (const text of [io.written.err, progress.join("\n")]) {
      expect(text).toContain("ErrImagePull: [2J]0;owned no such image");
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
  });

  it("waits for the Secrets, and for an address", async () => {
    const cluster = await installed();
    await cameUp(cluster);
    const token = { ...Secret, name: "relay-identity-token-secret", namespace, clusterName: "" };
    await cluster.delete(token);
    const withoutToken = await run(cluster, ["install", "--timeout", "0s"]);
    expect(withoutToken).toMatchObject({
      code: 124,
      err: expect.stringContaining("has not created gloo-mesh/relay-identity-token-secret"),
    });
    const other = await installed();
    await cameUp(other);
    await other.applyStatus(
      { apiVersion: "v1", kind: "Service", metadata: { name: "gloo-mesh-mgmt-server", namespace }, status: {} } as AnyResource,
      {
        fieldManager: "controllers",
        force: true,
      },
    );
    expect((await other.list(Node)).items).toEqual([]);
    const pending = await run(other, ["install", "--timeout", "0s"]);
    expect(pending).toMatchObject({ code: 124, err: expect.stringContaining("has no address yet") });
  });
});

describe("meshctl uninstall", () => {
  async function used(): Promise<SimulatedCluster> {
    const cluster = await installed();
    await cameUp(cluster);
    cluster.load([{ apiVersion: TrafficPolicy.apiVersion, kind: TrafficPolicy.kind, metadata: { name: "mine", namespace } }]);
    return cluster;
  }
  const kindsLeft = (cluster: SimulatedCluster) => [...new Set(cluster.objects().map(({ kind }) => kind))].sort();

  it.each([80, 120])("lists what goes and what stays, and deletes that (%i columns)", async (columns) => {
    const cluster = await used();
    const dry = await run(cluster, ["uninstall", "--dry-run"], { columns });
    expect(await ours(cluster)).toBe(serverObjects(namespace).length);
    const answer = await run(cluster, ["uninstall", "--yes"], { columns });
    expect(answer.err.startsWith(dry.out)).toBe(true);
    expectGolden(`install/uninstalled-${columns}`, answer.err);
    expect(answer.code).toBe(0);
    expect(kindsLeft(cluster)).toEqual(["CustomResourceDefinition", "Namespace", "PersistentVolumeClaim", "Secret", "TrafficPolicy"]);
    const again = await run(cluster, ["uninstall", "--yes"]);
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining("Nothing that meshctl installed is here.") });
  });

  it("deletes CRDs only with the flag for it, and says how many objects go with them", async () => {
    const cluster = await used();
    const { code, err } = await run(cluster, ["uninstall", "--crds", "--yes"]);
    expect(code).toBe(0);
    expect(err).toContain("1 object of trafficpolicies.networking.mesh.gloo.solo.io, in all namespaces");
    expect(kindsLeft(cluster)).not.toContain("CustomResourceDefinition");
  });

  it("deletes CRDs only once no management server runs: it would delete what their objects made in all clusters", async () => {
    const cluster = await used();
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "server-1", namespace, labels: { app: "gloo-mesh-mgmt-server" } },
      spec: { containers: [{ name: "server", image: "x" }] },
    };
    await cluster.create(pod as AnyResource);
    const running = run(cluster, ["uninstall", "--crds", "--yes"]);
    await until(async () => (await cluster.get(Deployment, { name: "gloo-mesh-mgmt-server", namespace })) === undefined);
    await systemClock.sleep(1_200);
    expect(kindsLeft(cluster)).toContain("CustomResourceDefinition");
    expect(kindsLeft(cluster)).toContain("TrafficPolicy");
    await cluster.delete({ ...pod, ...pod.metadata, clusterName: "" });
    expect((await running).code).toBe(0);
    expect(kindsLeft(cluster)).not.toContain("CustomResourceDefinition");
  });

  it("keeps the CRDs while something of the server cannot be deleted, and of another plane always", async () => {
    const cluster = await used();
    const denied: SimulatedCluster = {
      ...cluster,
      async delete(ref, ...rest) {
        if (ref.kind === "Deployment") throw new ClusterError("Forbidden", `deployments "${ref.name}" is forbidden`);
        return cluster.delete(ref, ...rest);
      },
    };
    const kept = await run(denied, ["uninstall", "--crds", "--yes"]);
    expect(kept).toMatchObject({
      code: 2,
      err: expect.stringMatching(/so the CRDs are kept: Deployment gloo-mesh\/gloo-mesh-ui: .* is forbidden/),
    });
    expect(kindsLeft(cluster)).toContain("TrafficPolicy");
    const { apiVersion, kind } = KubernetesCluster;
    cluster.load([{ apiVersion, kind, metadata: { name: "east", namespace: "other" } }]);
    const before = cluster.objects();
    expect(await run(cluster, ["uninstall", "--crds", "--yes", "--force"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/KubernetesCluster other\/east: another management plane uses these CRDs/),
    });
    expect(cluster.objects()).toEqual(before);
  });

  it("asks, and deletes nothing without a yes", async () => {
    const cluster = await used();
    const before = cluster.objects();
    expect(await run(cluster, ["uninstall"])).toMatchObject({ code: 2, err: expect.stringMatching(/add --yes\n$/) });
    expect(await run(cluster, ["uninstall"], { answer: false })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/nothing was deleted\n$/),
    });
    expect(cluster.objects()).toEqual(before);
    expect((await run(cluster, ["uninstall"], { answer: true })).code).toBe(0);
    expect(await ours(cluster)).toBe(1);
  });

  it.each([80, 120])("refuses while clusters are registered, unless forced (%i columns)", async (columns) => {
    const cluster = await used();
    const { apiVersion, kind } = KubernetesCluster;
    cluster.load(["west", "east"].map((name) => ({ apiVersion, kind, metadata: { name, namespace } })));
    const before = cluster.objects();
    const answer = await run(cluster, ["uninstall", "--yes", "--context", "mgmt"], { columns });
    expectGolden(`install/registered-${columns}`, answer.err);
    expect(answer.code).toBe(2);
    expect(cluster.objects()).toEqual(before);
    expect((await run(cluster, ["uninstall", "--yes", "--force"])).code).toBe(0);
    expect(kindsLeft(cluster)).toContain("KubernetesCluster");
  });

  it("keeps what others have made, and names it", async () => {
    const cluster = management();
    cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
    cluster.load([named("ServiceAccount", "gloo-mesh-mgmt-server")]);
    const before = cluster.objects();
    const { code, err } = await run(cluster, ["uninstall", "--yes"]);
    expect(code).toBe(0);
    expect(err).toContain("ServiceAccount gloo-mesh/gloo-mesh-mgmt-server, which meshctl has not created");
    expect(cluster.objects()).toEqual(before);
  });
});

it("meshctl uninstall says once which cluster does not answer, and what to do", async () => {
  const cluster = management();
  cluster.servedKinds = () => Promise.reject(new ClusterError("Unavailable", "cannot reach the API server https://one: ECONNREFUSED"));
  const { code, err } = await run(cluster, ["uninstall", "--yes"]);
  expect({ code, err }).toEqual({
    code: 2,
    err: "error: management cluster: cannot reach the API server https://one: ECONNREFUSED (check the server address of this context, and that the API server runs)\n",
  });
});
