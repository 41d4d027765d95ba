import { isDeepStrictEqual } from "node:util";
import {
  AccessLogRecord,
  AccessPolicy,
  Destination,
  Gateway,
  HTTPRoute,
  KubernetesCluster,
  KubernetesGateway,
  Mesh,
  Secret,
  ServiceDependency,
  ServiceEntry,
  Settings,
  TrafficPolicy,
  userStatusKinds,
  VirtualDestination,
  VirtualMesh,
  VirtualService,
  WasmDeployment,
  Workload,
} from "@isthmus/api";
import { type AnyResource, type Kind, refOf, type TimedCondition } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startAgent } from "./harness/apps.ts";
import { anyKind, Namespace } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { kubectl } from "./harness/kubectl.ts";
import { anyFieldsCrd, applyAll, installCrds } from "./harness/manifests.ts";
import { shiftPolicy, timeoutPolicy, virtualMesh } from "./harness/policies.ts";
import { changesBetween, OWNER_LABEL, type Slice, startSlice, written } from "./harness/slice.ts";
import { waitFor } from "./harness/waitFor.ts";

const FEDERATED = "reviews.bookinfo.svc.cluster-2.global";
const FEDERATED_DETAILS = "details.bookinfo.svc.cluster-2.global";
const Service = anyKind("v1", "Service", "services");
const Deployment = anyKind("apps/v1", "Deployment", "deployments");
const Pod = anyKind("v1", "Pod", "pods");

// One story on real API servers: each test continues where the one before it ended.
describeReal("the main job on real Kubernetes", (components) => {
  let slice: Slice;
  let management: Cluster;
  let first: Cluster;
  let second: Cluster;
  /** What is there before any user asks for anything, by cluster. */
  const baseline: (readonly string[])[] = [];

  beforeAll(async () => {
    slice = await startSlice(components);
    ({ management, first, second } = slice);
  });
  afterAll(() => slice?.stop());

  const details = { name: "details", namespace: "bookinfo" };
  const routesOf = (cluster: Cluster, ref = { name: "reviews", namespace: "bookinfo" }) => cluster.get(VirtualService, ref);

  async function namesOf(kind: Kind): Promise<readonly string[]> {
    return (await management.list(kind, { namespace: "gloo-mesh" })).items.map(({ metadata }) => metadata.name);
  }

  /** Waits until an object is accepted as it is now, and applied wherever it has an effect. */
  function inForce({ apiVersion, kind, plural }: Kind, name: string): Promise<true> {
    return waitFor(`${kind} ${name} to be in force`, async () => {
      const found = await management.get(anyKind(apiVersion, kind, plural), { name, namespace: "gloo-mesh" });
      const status = (found?.["status"] ?? {}) as { readonly state?: string; readonly conditions?: readonly TimedCondition[] };
      const applied = status.conditions?.find(({ type }) => type === "Applied");
      expect([status.state, applied?.status, applied?.observedGeneration]).toEqual(["ACCEPTED", "True", found?.metadata.generation]);
      return true;
    });
  }

  /** What our programs write from now on, by cluster. */
  function writesFromNow(): { of(name: keyof Slice["fleet"]["servers"]): readonly string[] } {
    const { servers } = slice.fleet;
    const before = Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, server.planeWrites().length]));
    return {
      of: (name) =>
        servers[name]
          .planeWrites()
          .slice(before[name])
          .map(({ what }) => what),
    };
  }

  /** Asks for a share and waits until cluster-1 has it. */
  async function shiftTo(remoteShare: number): Promise<void> {
    await applyAll(management, [shiftPolicy(remoteShare)]);
    await waitFor("the new weights", async () => (await routesOf(first))?.spec?.http?.[0]?.route?.[0]?.weight === remoteShare);
    await inForce(TrafficPolicy, "shift");
  }

  it("discovers meshes, workloads and destinations", async () => {
    const clusters = ["cluster-1", "cluster-2"];
    const services = ["details", "productpage", "ratings", "reviews"];
    const workloads = ["details-v1", "productpage-v1", "ratings-v1", "reviews-v1", "reviews-v2", "reviews-v3"];
    const inBoth = (names: readonly string[], suffix = "") =>
      names.flatMap((name) => clusters.map((cluster) => `${name}-bookinfo-${cluster}${suffix}`)).sort();
    const inBookinfo = async (kind: Kind) => (await namesOf(kind)).filter((name) => name.includes("-bookinfo-"));
    await waitFor("Bookinfo's destinations and workloads", async () => {
      expect(await namesOf(Mesh)).toEqual(clusters.map((cluster) => `istiod-istio-system-${cluster}`));
      expect(await inBookinfo(Destination)).toEqual(inBoth(services));
      expect(await inBookinfo(Workload)).toEqual(inBoth(workloads, "-deployment"));
      return true;
    });
  });

  it("registers each cluster with its identity, and speaks mutual TLS", async () => {
    for (const cluster of [first, second]) {
      const registered = await management.get(KubernetesCluster, { name: cluster.name, namespace: "gloo-mesh" });
      const kubeSystem = await cluster.get(Namespace, { name: "kube-system", namespace: "" });
      expect(registered?.status?.clusterUid).toBe(kubeSystem?.metadata.uid);
      const certificate = await cluster.get(Secret, { name: "relay-client-tls-secret", namespace: "gloo-mesh" });
      expect(Object.keys(certificate?.data ?? {}).sort()).toEqual(["ca.crt", "tls.crt", "tls.key"]);
    }
  });

  it("federates services through the other cluster's gateway", async () => {
    for (const cluster of [first, second]) baseline.push(Object.keys(await written(cluster)));
    await applyAll(management, [virtualMesh()]);
    await inForce(VirtualMesh, "all");
    const entryFor = async (cluster: Cluster, host: string) =>
      (await cluster.list(ServiceEntry)).items.find(({ spec }) => spec?.hosts?.includes(host));
    const entry = await waitFor(`a ServiceEntry for ${FEDERATED}`, () => entryFor(first, FEDERATED));
    const gateway = await second.get(Service, { name: "istio-ingressgateway", namespace: "istio-system" });
    const status = gateway?.["status"] as { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip: string }[] } } | undefined;
    const address = status?.loadBalancer?.ingress?.[0]?.ip;
    expect(address).toMatch(/^\d+\./);
    const endpoints = entry.spec?.endpoints?.map((endpoint) => [endpoint.labels?.["version"], endpoint.address, endpoint.ports]);
    expect(endpoints).toEqual(["v1", "v2", "v3"].map((version) => [version, address, { http: 15443 }]));
    expect(entry.metadata.labels?.[OWNER_LABEL]).toBe("gloo-mesh");
    await waitFor("the other direction", () => entryFor(second, "reviews.bookinfo.svc.cluster-1.global"));
    await waitFor("the gateway that takes it in", async () => (await second.list(Gateway)).items.length > 0);
  });

  it("shifts traffic to the other cluster, with timeout and retries", async () => {
    await shiftTo(75);
    const [route] = (await routesOf(first))?.spec?.http ?? [];
    expect(route?.route?.map(({ destination, weight }) => [destination?.host, weight])).toEqual([
      [FEDERATED, 75],
      ["reviews.bookinfo.svc.cluster.local", 25],
    ]);
    expect([route?.timeout, route?.retries?.attempts]).toEqual(["2s", 3]);
  });

  it("counts routes of the Gateway API once its CRDs come, and tells the policy that one comes before", async () => {
    const crds = [KubernetesGateway, HTTPRoute].map(anyFieldsCrd);
    await installCrds(first, crds);
    const metadata = { name: "reviews", namespace: "bookinfo" };
    const { apiVersion, kind } = HTTPRoute;
    const parentRefs = [{ group: "", kind: "Service", name: "reviews", port: 9080 }];
    const backendRefs = [{ name: "reviews", port: 9080 }];
    await applyAll(first, [{ apiVersion, kind, metadata, spec: { parentRefs, rules: [{ backendRefs }] } } as AnyResource]);
    const countedOf = async () => {
      const mesh = await management.get(Mesh, { name: "istiod-istio-system-cluster-1", namespace: "gloo-mesh" });
      return mesh?.status?.userObjects?.find((counted) => counted.kind === kind);
    };
    const warningsOf = async () => {
      const policy = await management.get(TrafficPolicy, { name: "shift", namespace: "gloo-mesh" });
      return Object.values(policy?.status?.destinations ?? {}).flatMap(({ warnings = [] }) => warnings);
    };
    await waitFor("the route to be counted", async () => {
      expect(await countedOf()).toEqual({ group: "gateway.networking.k8s.io", kind, count: 1 });
      return true;
    });
    await waitFor("the policy to be told", async () =>
      (await warningsOf()).some((one) => one.includes("HTTPRoute bookinfo/reviews in cluster-1")),
    );
    await first.delete(refOf({ apiVersion, kind, metadata } as AnyResource));
    await waitFor("nothing to be counted and told", async () => {
      expect([await countedOf(), (await warningsOf()).filter((one) => one.includes(kind))]).toEqual([undefined, []]);
      return true;
    });
  });

  it("fills the columns of kubectl get", async () => {
    const { management: server } = slice.fleet.servers;
    // They select nothing, so that nothing is written for them but their statuses.
    const nowhere = [{ kubeServiceMatcher: { namespaces: ["nowhere"] } }];
    const others = [
      { kind: AccessPolicy, spec: { destinationSelector: nowhere } },
      { kind: VirtualDestination, spec: { hostname: "nowhere.example", port: { number: 80 } } },
      { kind: ServiceDependency, spec: { sourceSelectors: [{ kubeWorkloadMatcher: { namespaces: ["nowhere"] } }] } },
      { kind: AccessLogRecord, spec: { workloadSelectors: [{ kubeWorkloadMatcher: { namespaces: ["nowhere"] } }] } },
      { kind: WasmDeployment, spec: { workloadSelector: [{ kubeWorkloadMatcher: { namespaces: ["nowhere"] } }] } },
      { kind: Settings, spec: { failover: {} } },
    ];
    const nameOf = ({ kind }: Kind) => (kind === Settings.kind ? "settings" : "columns");
    const objects = others.map(({ kind, spec }) => {
      const { apiVersion } = kind;
      return { apiVersion, kind: kind.kind, metadata: { name: nameOf(kind), namespace: "gloo-mesh" }, spec } as AnyResource;
    });
    await applyAll(management, objects);
    for (const { kind } of others) {
      await waitFor(`the status of ${kind.kind}`, async () => {
        const found = await management.get(anyKind(kind.apiVersion, kind.kind, kind.plural), {
          name: nameOf(kind),
          namespace: "gloo-mesh",
        });
        return (found?.["status"] as { readonly state?: string } | undefined)?.state !== undefined;
      });
    }
    const kinds = [...userStatusKinds(), KubernetesCluster, Mesh, Workload, Destination];
    expect(kinds.length).toBeGreaterThan(9);
    for (const { apiVersion, plural } of kinds) {
      const args = ["get", `${plural}.${apiVersion.split("/")[0]}`, "--namespace=gloo-mesh", "--output=wide"];
      const { stdout, stderr } = await kubectl({ components, server }, args);
      const [header = "", ...rows] = stdout.trimEnd().split("\n");
      // Three blanks lie between columns, at most one within the name of one.
      const columns = [...header.matchAll(/\S+(?: \S+)*/g)];
      const empty = columns.flatMap(({ 0: name, index: from }, i) => {
        const to = columns[i + 1]?.index;
        return rows.some((row) => row.slice(from, to).trim() !== "") ? [] : [name];
      });
      // No warnings is none, and readiness is said where nothing is ready.
      expect(
        empty.filter((name) => name !== "WARNINGS" && name !== "READINESS"),
        `${stdout}${stderr}`,
      ).toEqual([]);
    }
    for (const { kind } of others) {
      await management.delete({
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        name: nameOf(kind),
        namespace: "gloo-mesh",
        clusterName: "",
      });
    }
    const { stdout } = await kubectl({ components, server }, ["get", "kubernetesclusters", "--namespace=gloo-mesh", "--no-headers"]);
    expect(stdout).toMatch(/^cluster-1 +CONNECTED .*\ncluster-2 +CONNECTED /);
  });

  it("changes what an update changes, and nothing else", async () => {
    const before = await written(first);
    await shiftTo(10);
    expect(changesBetween(before, await written(first))).toEqual(["VirtualService reviews.bookinfo"]);
  });

  it("takes a policy that lives in a workload cluster, and answers it there", async () => {
    const before = (await Promise.all([written(first), written(second)])).map(Object.keys);
    const ratingsHere = { kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "ratings" } } };
    const wanted = timeoutPolicy("ratings");
    await applyAll(first, [{ ...wanted, spec: { ...(wanted["spec"] as object), destinationSelector: [ratingsHere] } }]);
    const ratings = { name: "ratings", namespace: "bookinfo" };
    // By default it is in force on Destinations of its own cluster alone.
    await waitFor("its route in its own cluster", async () => {
      const routes = await Promise.all([first, second].map((cluster) => routesOf(cluster, ratings)));
      expect(routes.map((route) => route?.spec?.http?.[0]?.timeout)).toEqual(["3s", undefined]);
      return true;
    });
    const policy = { name: "timeout-ratings", namespace: "gloo-mesh" };
    await waitFor("its status in its own cluster", async () => {
      const { status } = (await first.get(TrafficPolicy, policy)) ?? {};
      const conditions = (status?.conditions ?? []) as readonly TimedCondition[];
      expect([status?.state, conditions.find(({ type }) => type === "Applied")?.status], JSON.stringify(status)).toEqual([
        "ACCEPTED",
        "True",
      ]);
      expect(Object.keys(status?.destinations ?? {})).toEqual(["ratings-bookinfo-cluster-1.gloo-mesh."]);
      return true;
    });
    expect(await management.get(TrafficPolicy, policy)).toBeUndefined();
    await first.delete({ ...TrafficPolicy, ...policy, clusterName: "cluster-1" });
    await waitFor("all that came from it to go again", async () => {
      expect((await Promise.all([written(first), written(second)])).map(Object.keys)).toEqual(before);
      return true;
    });
  });

  it("leaves alone an object that isn't ours, and says so where the policy is", async () => {
    const route = [{ destination: { host: "details" } }];
    const foreign = await first.create({
      apiVersion: "networking.istio.io/v1",
      kind: "VirtualService",
      metadata: details,
      spec: { hosts: ["details"], http: [{ route }] },
    } as AnyResource);
    const before = (await Promise.all([written(first), written(second)])).map(Object.keys);
    await applyAll(management, [timeoutPolicy("details")]);
    const status = await waitFor("the conflict in the policy's status", async () => {
      const policy = await management.get(TrafficPolicy, { name: "timeout-details", namespace: "gloo-mesh" });
      return policy?.status?.state === "FAILED" ? JSON.stringify(policy.status) : undefined;
    });
    expect(status).toContain("VirtualService bookinfo/details in cluster-1 exists and is not managed by us");
    // Its other targets are served all the same.
    await waitFor("the VirtualService in the other cluster", () => routesOf(second, details));
    await management.delete({ ...TrafficPolicy, name: "timeout-details", namespace: "gloo-mesh", clusterName: "" });
    await waitFor("all that came from it to go again", async () => {
      expect((await Promise.all([written(first), written(second)])).map(Object.keys)).toEqual(before);
      return true;
    });
    expect((await routesOf(first, details))?.metadata.resourceVersion).toBe(foreign.metadata.resourceVersion);
  });

  it("continues when an agent is killed and comes back, and writes nothing but what changed meanwhile", async () => {
    const writes = writesFromNow();
    const [agent] = slice.agents;
    await agent?.program.kill();
    await applyAll(management, [shiftPolicy(20)]);
    await agent?.restart();
    await shiftTo(20);
    expect(writes.of("cluster-1")).toEqual(["patch virtualservices bookinfo/reviews"]);
  });

  it("continues when the server is killed and comes back, and writes nothing but what changes then", async () => {
    const writes = writesFromNow();
    await slice.server.app.program.kill();
    await slice.server.app.restart();
    await shiftTo(30);
    expect(writes.of("cluster-1")).toEqual(["patch virtualservices bookinfo/reviews"]);
    // The policy is about calls to cluster-1's reviews, wherever they come from.
    expect(writes.of("cluster-2")).toEqual(["patch virtualservices istio-system/reviews-bookinfo-cluster-1"]);
    // Beside users' objects, which tell of delivery, and clusters, only the Destination that the policy is in force on changes.
    const expected =
      /^patch (trafficpolicies|virtualmeshes|kubernetesclusters)\/status |^patch destinations\/status gloo-mesh\/reviews-bookinfo-cluster-1$/;
    expect(writes.of("management").filter((what) => !expected.test(what))).toEqual([]);
  });

  it("keeps what came from a service whose pods are evicted or scaled to zero, and says that none is ready", async () => {
    const writes = writesFromNow();
    const destination = { name: "details-bookinfo-cluster-2", namespace: "gloo-mesh" };
    const uids = async () => {
      const workload = await management.get(Workload, { name: "details-v1-bookinfo-cluster-2-deployment", namespace: "gloo-mesh" });
      const entries = (await first.list(ServiceEntry)).items.filter(({ spec }) => spec?.hosts?.includes(FEDERATED_DETAILS));
      return [workload, await management.get(Destination, destination), ...entries].map((object) => object?.metadata.uid);
    };
    const podsOfDetails = async () =>
      (await second.list(Pod, { namespace: "bookinfo", labels: { matchLabels: { app: "details" } } })).items;
    const readiness = async () => (await management.get(Destination, destination))?.status?.readiness;
    const scaleTo = (replicas: number) =>
      waitFor("details to be scaled", async () => {
        const deployment = await second.get(Deployment, { name: "details-v1", namespace: "bookinfo" });
        if (deployment === undefined) throw new Error("details-v1 is not there");
        try {
          await second.update({ ...deployment, spec: { ...(deployment["spec"] as object), replicas } } as AnyResource);
          return true;
        } catch (error) {
          // Its controller writes its status meanwhile.
          if (error instanceof ClusterError && error.code === "Conflict") return false;
          throw error;
        }
      });
    const before = await uids();
    expect(before).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
    const [pod, ...others] = await podsOfDetails();
    expect(others).toEqual([]);
    if (pod === undefined) throw new Error("details has no pod");
    await second.evict(refOf(pod));
    await waitFor("another pod in its place", async () => {
      const found = await podsOfDetails();
      return found.length === 1 && found[0]?.metadata.uid !== pod.metadata.uid;
    });
    await scaleTo(0);
    await waitFor("its last pod to go", async () => (await podsOfDetails()).length === 0);
    await waitFor("its readiness", async () => (await readiness()) === "0 ready");
    expect(await uids()).toEqual(before);
    // The status of the Destination says so before its callers are written: what is written late would be a change of what comes next.
    const entry = { name: "details.bookinfo.svc.cluster-2.global", namespace: "istio-system" };
    const known = async () => ((await first.get(ServiceEntry, entry))?.spec?.endpoints ?? []).length;
    await waitFor("its callers to know that it is nowhere", async () => (await known()) === 0);
    await scaleTo(1);
    await waitFor("it to be ready again", async () => (await readiness()) === undefined);
    await waitFor("its callers to know where it is", async () => (await known()) > 0);
    expect(await uids()).toEqual(before);
    const deletions = [...writes.of("cluster-1"), ...writes.of("cluster-2"), ...writes.of("management")].filter((what) =>
      what.startsWith("delete "),
    );
    expect(deletions).toEqual([]);
  });

  it("keeps what came from the only pod of an operator's own kind while it is evicted", async () => {
    const names = async () => (await Promise.all([written(first), written(second)])).map((objects) => Object.keys(objects).sort());
    const others = await names();
    const labels = { app: "broker" };
    const metadata = { name: "broker", namespace: "bookinfo" };
    const ownerReferences = [{ apiVersion: "apps.example.com/v1", kind: "BrokerSet", name: "broker", uid: "b1", controller: true }];
    const containers = [
      { name: "broker", image: "broker:1" },
      { name: "istio-proxy", image: "istio/proxyv2:1.27.0" },
    ];
    const pod = (name: string) =>
      second.create({
        ...{ apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name, labels, ownerReferences } },
        spec: { containers },
      } as AnyResource);
    const spec = { selector: labels, ports: [{ name: "tcp", port: 9092 }] };
    const serviceOf = (one: typeof metadata): AnyResource => ({ apiVersion: "v1", kind: "Service", metadata: one, spec });
    await second.create(serviceOf(metadata));
    const created = await pod("broker-0");
    const entry = async () =>
      (await first.list(ServiceEntry)).items.find(({ spec: one }) => one?.hosts?.includes("broker.bookinfo.svc.cluster-2.global"));
    const uids = async () => [
      (await management.get(Workload, { name: "broker-bookinfo-cluster-2-brokerset", namespace: "gloo-mesh" }))?.metadata.uid,
      (await management.get(Destination, { name: "broker-bookinfo-cluster-2", namespace: "gloo-mesh" }))?.metadata.uid,
      (await entry())?.metadata.uid,
    ];
    const known = await waitFor("it to be federated", async () => {
      const found = await uids();
      return found.includes(undefined) ? undefined : found;
    });
    const writes = writesFromNow();
    await second.evict(refOf(created));
    await waitFor("its pod to go", async () => (await second.get(Pod, { ...metadata, name: "broker-0" })) === undefined);
    // What comes after it in the agent's stream has arrived: so would have the removal.
    const marked = { ...metadata, name: "after-the-eviction" };
    await second.create(serviceOf(marked));
    const after = { name: "after-the-eviction-bookinfo-cluster-2", namespace: "gloo-mesh" };
    await waitFor("a later Service", async () => (await management.get(Destination, after)) !== undefined);
    expect(await uids()).toEqual(known);
    await pod("broker-1");
    for (const one of [metadata, marked]) await second.delete(refOf(serviceOf(one)), {});
    await waitFor("both Services to go", async () => (await management.get(Destination, after)) === undefined);
    // What goes late would be a change of what comes next.
    await waitFor("what came of them to go", async () => isDeepStrictEqual(await names(), others));
    const deletions = [...writes.of("cluster-1"), ...writes.of("management")].filter((what) => what.startsWith("delete "));
    expect(deletions.filter((what) => what.includes("workloads"))).toEqual([]);
  });

  it("refuses a name that another cluster has, and a wrong token, each with a message", async () => {
    const { relayAddress } = slice.server;
    const { directory, servers } = slice.fleet;
    const before = await written(first);
    // The management cluster plays the newcomer. The wrong token comes last, as its address must wait after it.
    const cases = [
      ["cluster-1", [], "another cluster is registered as cluster-1"],
      ["cluster-3", ["--relay-token=wrong"], "the token is not valid"],
    ] as const;
    for (const [cluster, more, words] of cases) {
      const newcomer = await startAgent({ server: servers.management, cluster, relayAddress, directory, name: "newcomer", more });
      try {
        await waitFor(`"${words}" in ${newcomer.program.log}`, () => newcomer.program.output().includes(words));
        expect(newcomer.program.output()).not.toMatch(/^\s+at /m);
      } finally {
        await newcomer.program.stop();
      }
    }
    expect(await namesOf(KubernetesCluster)).toEqual(["cluster-1", "cluster-2"]);
    expect(await written(first)).toEqual(before);
  });

  it("tells users of names that nothing has, where they look for it, and does nothing else", async () => {
    const before = await Promise.all([written(first), written(second)]);
    const unknownMesh = { meshes: [{ name: "atlantis", namespace: "gloo-mesh" }], federation: { permissive: {} } };
    const unknownService = { kubeServiceRefs: { services: [{ name: "atlantis", namespace: "bookinfo", clusterName: "cluster-1" }] } };
    const shift = { destinations: [{ kubeService: { name: "atlantis", namespace: "bookinfo", clusterName: "cluster-1" }, weight: 1 }] };
    const cases = [
      [VirtualMesh, { spec: unknownMesh }, /atlantis/],
      [TrafficPolicy, { spec: { destinationSelector: [unknownService], policy: { requestTimeout: "5s" } } }, /atlantis|no destination/i],
      [TrafficPolicy, { spec: { policy: { trafficShift: shift } } }, /atlantis/],
    ] as const;
    for (const [{ apiVersion, kind, plural }, fields, words] of cases) {
      await applyAll(management, [{ apiVersion, kind, metadata: { name: "lost", namespace: "gloo-mesh" }, ...fields }]);
      await waitFor(`${kind}'s status to say ${words}`, async () => {
        const found = await management.get(anyKind(apiVersion, kind, plural), { name: "lost", namespace: "gloo-mesh" });
        return words.test(JSON.stringify(found?.["status"] ?? {}));
      });
      await management.delete({ apiVersion, kind, name: "lost", namespace: "gloo-mesh", clusterName: "" });
    }
    expect(await Promise.all([written(first), written(second)])).toEqual(before);
  });

  it("removes what came from a service that is deleted, and nothing else", async () => {
    const before = await written(first);
    await second.delete({ ...Service, name: "ratings", namespace: "bookinfo", clusterName: "cluster-2" });
    await waitFor("its Destination to go", async () => !(await namesOf(Destination)).includes("ratings-bookinfo-cluster-2"));
    await waitFor(
      "its ServiceEntry to go",
      async () => !(await written(first))["ServiceEntry ratings.bookinfo.svc.cluster-2.global.istio-system"],
    );
    const changes = changesBetween(before, await written(first));
    expect(changes.filter((key) => !/ratings\W.*cluster-2/.test(key))).toEqual([]);
  });

  it("removes all that users asked for with the policy and the virtual mesh, and nothing else", async () => {
    await management.delete({ ...TrafficPolicy, name: "shift", namespace: "gloo-mesh", clusterName: "" });
    await waitFor("the VirtualService to go", async () => (await routesOf(first)) === undefined);
    await management.delete({ ...VirtualMesh, name: "all", namespace: "gloo-mesh", clusterName: "" });
    await waitFor("everything that they asked for to go", async () => {
      const now = await Promise.all([first, second].map(async (cluster) => Object.keys(await written(cluster))));
      const left = now.flatMap((keys, i) => keys.filter((key) => !baseline[i]?.includes(key)));
      if (left.length > 0) throw new Error(left.join(", "));
      return true;
    });
    expect(await routesOf(first, details)).toBeDefined();
    expect((await second.list(Service, { namespace: "bookinfo" })).items).toHaveLength(3);
  });
});
