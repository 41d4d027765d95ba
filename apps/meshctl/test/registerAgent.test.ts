import { allKinds, KubernetesCluster, VirtualService } from "@isthmus/api";
import type { AnyResource, Clock, Resource } from "@isthmus/core";
import { systemClock } from "@isthmus/plane";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { describe, expect, it } from "vitest";
import { agentComplaint } from "../src/cluster/register/agentComplaint.ts";
import { agentObjects } from "../src/cluster/register/agentManifest.ts";
import { clockAhead, clockOffsets, clockWarning } from "../src/cluster/register/clocks.ts";
import { completeRegistration, isTaken, reserveName } from "../src/cluster/register/clusterNames.ts";
import { type GateFailure, gateKeeper, type Look } from "../src/cluster/register/gates.ts";
import { gateText } from "../src/cluster/register/gateText.ts";
import { hintsFor } from "../src/cluster/register/hints.ts";
import { withoutUnservedPolicies } from "../src/cluster/register/ownObjects.ts";
import { addressText, findRelayAddress, readAddress } from "../src/cluster/register/relayAddress.ts";
import { mintToken } from "../src/cluster/register/relaySecrets.ts";
import { removeRegistration } from "../src/cluster/register/removeRegistration.ts";
import { refuseServersNamespace } from "../src/cluster/register/serversNamespace.ts";
import { WaitTimeout } from "../src/cluster/waitTimeout.ts";

const namespace = "gloo-mesh";

function cluster(seed: string, clock: Clock = systemClock): SimulatedCluster {
  const made = simulatedCluster({ name: "", clock, kinds: allKinds(), seed });
  made.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
  return made;
}

function service(spec: object, ingress: readonly object[] = [], name = "gloo-mesh-mgmt-server"): Resource {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace }, spec, status: { loadBalancer: { ingress } } } as Resource;
}

function node(name: string, addresses: Readonly<Record<string, string>>, images: readonly string[] = []): Resource {
  const listed = Object.entries(addresses).map(([type, address]) => ({ type, address }));
  return { apiVersion: "v1", kind: "Node", metadata: { name }, status: { addresses: listed, images: [{ names: images }] } } as Resource;
}

const PORTS = [
  { name: "http", port: 80 },
  { name: "grpc", port: 9900, nodePort: 31900 },
];
const NODES = [node("b", { ExternalIP: "203.0.113.2", InternalIP: "10.0.0.2" }), node("a", { InternalIP: "10.0.0.1" })];

async function found(...objects: readonly Resource[]): Promise<string> {
  const management = cluster("management");
  management.load(objects);
  const { authority, source, ...address } = await findRelayAddress(management, namespace);
  return `${addressText(address)} ${authority} ${source}`;
}

describe("the address of the management server", () => {
  it.each([
    ["an IP address", [service({ type: "LoadBalancer", ports: PORTS }, [{ ip: "203.0.113.7" }])], "203.0.113.7:9900 "],
    ["an IPv6 address", [service({ type: "LoadBalancer", ports: PORTS }, [{ ip: "2001:db8::7" }])], "[2001:db8::7]:9900 "],
    ["a host name", [service({ type: "LoadBalancer", ports: PORTS }, [{ hostname: "lb.example.com" }])], "lb.example.com:9900 "],
    ["a node's external address", [service({ type: "NodePort", ports: PORTS }), ...NODES], "203.0.113.2:31900 "],
    ["a node port where the load balancer has none yet", [service({ type: "LoadBalancer", ports: PORTS }), ...NODES], "203.0.113.2:31900 "],
    [
      "an internal address of a kind node",
      [
        service({ type: "NodePort", ports: PORTS }),
        node("k", { ExternalIP: "203.0.113.2", InternalIP: "172.18.0.2" }, ["kindest/kindnetd:v1"]),
      ],
      "172.18.0.2:31900 ",
    ],
    [
      "that of the earlier generation",
      [service({ type: "LoadBalancer", ports: PORTS }, [{ ip: "203.0.113.7" }], "enterprise-networking")],
      "203.0.113.7:9900 enterprise-networking.gloo-mesh ",
    ],
  ])("is %s", async (_, objects, address) => {
    expect(await found(...objects)).toContain(address);
  });

  it.each([
    [[], /no Service gloo-mesh\/gloo-mesh-mgmt-server or gloo-mesh\/enterprise-networking: .*--relay-server-address HOST:PORT/],
    [[service({ type: "ClusterIP", ports: PORTS })], /is of type ClusterIP, which other clusters cannot reach: .*--relay-server-address/],
    [[service({ type: "LoadBalancer", ports: PORTS })], /the load balancer of .* has no address yet.*--relay-server-address/],
    [[service({ type: "NodePort", ports: PORTS })], /no node .* has an address.*--relay-server-address/],
    [[service({ type: "NodePort", ports: [{ port: 1 }, { port: 2 }] })], /has no port 9900/],
  ])("is asked for where the cluster has none (%#)", async (objects, message) => {
    await expect(found(...objects)).rejects.toThrow(message);
  });

  it.each([
    ["relay.example.com", "relay.example.com:9900"],
    ["10.0.0.1:443", "10.0.0.1:443"],
    ["[fd00::1]:99", "[fd00::1]:99"],
    ["fd00::1", "[fd00::1]:9900"],
  ])("is read from %s", (text, address) => {
    expect(addressText(readAddress(text))).toBe(address);
  });

  it.each(["https://relay:9900", "relay:0", "relay:99999", "a b", "relay/path", "user@relay", "", "relay:9900,evil"])(
    "is not %j",
    (text) => {
      expect(() => readAddress(text)).toThrow(/--relay-server-address .*: must be HOST or HOST:PORT/);
    },
  );
});

describe("clocks", () => {
  const ahead = (ms: number): Clock => ({ ...systemClock, now: () => Date.now() + ms });

  it("that differ are reported, and a join token's time is that of the management cluster", async () => {
    const management = cluster("management", ahead(3_600_000));
    const remote = cluster("remote", ahead(-600_000));
    const offsets = await clockOffsets({ management, managementNamespace: namespace, remote }, systemClock);
    expect(clockWarning(offsets)).toMatch(/is 4[12]\d\d s behind that of the management cluster: .*synchronize the clocks/);
    const clock = clockAhead(systemClock, offsets.management);
    const { expiresAt } = await mintToken(
      { management, managementNamespace: namespace },
      { clusterName: "east", lifetimeMs: 900_000, clock },
    );
    expect(Math.abs(expiresAt - (Date.now() + 4_500_000))).toBeLessThan(5_000);
    expect(management.objects().filter(({ kind }) => kind === "KubernetesCluster")).toEqual([]);
  });

  it("that agree are not, and this machine's is used", async () => {
    const offsets = await clockOffsets({ management: cluster("a"), managementNamespace: namespace, remote: cluster("b") }, systemClock);
    expect(clockWarning(offsets)).toBeUndefined();
    expect(Math.abs(clockAhead(systemClock, offsets.management).now() - Date.now())).toBeLessThan(100);
  });
});

describe("a name", () => {
  const naming = (uid: string) => ({ clusterName: "east", namespace, uid });

  it("that two clusters ask for at once goes to one, and the other is reported", async () => {
    const management = cluster("management");
    const outcomes = await Promise.allSettled(["one", "two"].map((uid) => reserveName(management, naming(uid), {})));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = outcomes.find((outcome) => outcome.status === "rejected");
    expect(String(refused?.reason)).toMatch(/another cluster is being registered as east \(UID (one|two)\): .*deregister east --force/);
  });

  it("whose registration by another cluster ended since it was looked at is refused, and nothing is left of the try", async () => {
    const management = cluster("management");
    const declared = { clusterDomain: "one.local" };
    await reserveName(management, naming("one"), declared);
    await completeRegistration(management, naming("one"), declared);
    const registered = await management.get(KubernetesCluster, { name: "east", namespace });
    const { managedFields: _, ...metadata } = registered?.metadata ?? { name: "east" };
    await management.updateStatus({ ...registered, metadata, status: { clusterUid: "one" } } as AnyResource);
    const left = async () => {
      const found = await management.get(KubernetesCluster, { name: "east", namespace });
      return { spec: found?.spec, annotations: found?.metadata.annotations ?? {} };
    };
    for (const dryRun of [true, false]) {
      const attempt = reserveName(management, naming("two"), { mode: "observe" }, { dryRun });
      await expect(attempt, `dry run: ${dryRun}`).rejects.toThrow(/another cluster is registered as east \(UID one\): use another name/);
      expect(await left()).toEqual({ spec: declared, annotations: {} });
    }
  });

  it("bears the mark of its registration until it is complete", async () => {
    const management = cluster("management");
    const mark = async () => (await management.get(KubernetesCluster, { name: "east", namespace }))?.metadata.annotations;
    await reserveName(management, naming("one"), { clusterDomain: "east.local" });
    expect(await mark()).toEqual({ "isthmus.mesh/registering": "one" });
    await completeRegistration(management, naming("one"), { clusterDomain: "east.local" });
    expect((await mark()) ?? {}).toEqual({});
    expect((await management.get(KubernetesCluster, { name: "east", namespace }))?.spec).toEqual({ clusterDomain: "east.local" });
  });
});

describe("a gate", () => {
  const through = (look: Look) => {
    const interrupt = new AbortController().signal;
    const options = { clock: systemClock, timeoutMs: 1, passed: () => undefined, progress: () => undefined, interrupt };
    return gateKeeper(options).wait("pods", [], async () => look);
  };

  it("that might open later is distinguished from one that never will", async () => {
    await expect(through({ waiting: "not yet" })).rejects.toMatchObject({
      reason: expect.any(WaitTimeout),
      message: "not yet (waited 0.001 s: --timeout)",
    });
    const never = await through({ failed: "never" }).catch((error: unknown) => error as GateFailure);
    expect(never).toMatchObject({ message: "never" });
    expect((never as GateFailure).reason).not.toBeInstanceOf(WaitTimeout);
    await expect(through({ open: "there" })).resolves.toBeUndefined();
  });
});

describe("what a registration declares", () => {
  const naming = { clusterName: "east", namespace, uid: "one" };
  const specIn = async (management: SimulatedCluster) => (await management.get(KubernetesCluster, { name: "east", namespace }))?.spec;

  it("holds when it is repeated without it: a cluster that is observed is not managed all at once", async () => {
    const management = cluster("management");
    const first = { clusterDomain: "east.local", mode: "observe" };
    await reserveName(management, naming, first);
    await completeRegistration(management, naming, first);
    await reserveName(management, naming, {});
    await completeRegistration(management, naming, {});
    expect(await specIn(management)).toEqual(first);
  });

  it("does not undo what others have set since, and says by which option it would", async () => {
    const management = cluster("management");
    await reserveName(management, naming, { mode: "observe" });
    const found = await management.get(KubernetesCluster, { name: "east", namespace });
    const { managedFields: _, ...metadata } = found?.metadata ?? { name: "east" };
    await management.update({ ...found, metadata, spec: { mode: "manage" } } as Resource);
    await completeRegistration(management, naming, {});
    expect(await specIn(management)).toEqual({ mode: "manage" });
    await expect(reserveName(management, naming, { mode: "freeze" })).rejects.toThrow(/mode is set by .*: leave out --mode$/);
  });
});

describe("what a user sees", () => {
  it("is broken between words, behind the name of the gate", () => {
    const text = gateText({ gate: "TLS", isOpen: false, tookMs: 1_250, text: "the certificate is for nobody that this agent knows" }, 60);
    expect(text.split("\n")).toEqual([
      "✗ TLS              1.3 s  the certificate is for nobody that",
      "                          this agent knows",
    ]);
  });

  it("has commands that a shell takes as they are meant", () => {
    const hints = hintsFor({
      kubeconfig: "/tmp/my files/it's",
      remoteContext: "east",
      remoteNamespace: "gloo-mesh",
      mgmtKubeconfig: undefined,
      mgmtContext: "mgmt; rm -rf",
      mgmtNamespace: "plane",
    });
    expect(hints.remote("get", "all")).toBe("kubectl --kubeconfig '/tmp/my files/it'\\''s' --context east -n gloo-mesh get all");
    expect(hints.meshctl("cluster", "deregister", "east")).toBe(
      "meshctl cluster deregister east --kubeconfig '/tmp/my files/it'\\''s' --remote-context east --mgmt-context 'mgmt; rm -rf' --mgmt-namespace plane",
    );
  });
});

describe("the agent's complaint", () => {
  const pod = (name: string, created: string): Resource =>
    ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, labels: { app: "gloo-mesh-agent" }, creationTimestamp: created },
      spec: { containers: [{ name: "agent", image: "agent" }] },
    }) as Resource;
  const line = (msg: string) => `${JSON.stringify({ level: "warn", msg })}\n`;
  const failed = line("no connection to the management server: the join token for east has expired: create a new one");

  async function complaint(log: (name: string) => Promise<string>): Promise<string | undefined> {
    const remote = cluster("remote");
    remote.load([pod("old", "2026-01-01T00:00:00Z"), pod("new", "2026-01-02T00:00:00Z")]);
    return agentComplaint(remote, namespace, ({ name }) => log(name));
  }

  it("is the last reason in the log of its newest pod", async () => {
    const logs: Readonly<Record<string, string>> = { old: line("no connection to the management server: old"), new: `starting\n${failed}` };
    expect(await complaint(async (name) => logs[name] ?? "")).toBe("the join token for east has expired: create a new one");
  });

  it("is over once it is connected, and unknown where the log cannot be read", async () => {
    expect(await complaint(async () => failed + line("connected to the management server one"))).toBeUndefined();
    expect(await complaint(() => Promise.reject(new Error("no kubelet")))).toBeUndefined();
    expect(await complaint(async () => "null\n1\n[]\n")).toBeUndefined();
  });
});

describe("the end of a registration", () => {
  it("leaves an agent that somebody else has installed, with its Secrets and its Lease", async () => {
    const [management, remote] = [cluster("management"), cluster("remote")];
    const place = { name: "gloo-mesh-agent", namespace };
    const labels = { app: "gloo-mesh-agent" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "agent", image: "agent" }] } };
    const theirs = [
      { apiVersion: "apps/v1", kind: "Deployment", metadata: place, spec: { selector: { matchLabels: labels }, template } },
      { apiVersion: "v1", kind: "ServiceAccount", metadata: place },
      { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: place, spec: { holderIdentity: "one" } },
      { apiVersion: "v1", kind: "Secret", metadata: { name: "relay-identity-token-secret", namespace }, data: { token: "eA==" } },
      { apiVersion: "v1", kind: "Secret", metadata: { name: "mesh-certificate-keys", namespace, labels: { app: "gloo-mesh" } } },
    ] as unknown as readonly Resource[];
    for (const object of theirs) await remote.apply(object, { fieldManager: "helm" });
    const before = remote.objects();
    const removal = { management, managementNamespace: namespace, remote, remoteNamespace: namespace, clusterName: "east" };
    expect(await removeRegistration({ ...removal, keepsRegistration: false })).toEqual({ deleted: [], problems: [] });
    expect(remote.objects()).toEqual(before);

    // Without the agent what only it used goes, and what somebody else made stays.
    await remote.delete({ apiVersion: "apps/v1", kind: "Deployment", ...place, clusterName: "" });
    const { deleted } = await removeRegistration({ ...removal, keepsRegistration: false });
    expect(deleted).toEqual(["Lease gloo-mesh/gloo-mesh-agent", "Secret gloo-mesh/mesh-certificate-keys"]);
    await remote.create({ apiVersion: "v1", kind: "Secret", metadata: { name: "mesh-certificate-keys", namespace } } as Resource);
    expect((await removeRegistration({ ...removal, keepsRegistration: false })).deleted).toEqual([]);
  });

  const removal = (management: SimulatedCluster, remote: SimulatedCluster, clock: Clock) => ({
    management,
    managementNamespace: namespace,
    remote,
    remoteNamespace: namespace,
    clusterName: "east",
    keepsRegistration: false,
    purgeBy: clock,
  });
  const route = (): Resource =>
    ({
      apiVersion: VirtualService.apiVersion,
      kind: VirtualService.kind,
      metadata: { name: "reviews", namespace, labels: { "owner.networking.mesh.gloo.solo.io": namespace } },
      spec: { hosts: ["reviews"] },
    }) as Resource;
  const podOfAgent = { apiVersion: "v1", kind: "Pod", metadata: { name: "agent-0", namespace, labels: { app: "gloo-mesh-agent" } } };
  const routes = async (remote: SimulatedCluster) => (await remote.list(VirtualService)).items.length;

  /** A clock on which each wait is over at once, after what happens meanwhile. */
  function clockWith(meanwhile: (waits: number) => Promise<unknown>): Clock {
    let [now, waits] = [0, 0];
    return {
      now: () => now,
      async sleep(ms) {
        now += ms;
        await meanwhile(++waits);
      },
    };
  }

  it("leaves the tokens of another cluster that has the name by now", async () => {
    const [management, remote] = [cluster("management"), cluster("remote")];
    const naming = { clusterName: "east", namespace, uid: "two" };
    await reserveName(management, { ...naming, uid: "one" }, {});
    expect([await isTaken(management, naming), await isTaken(management, { ...naming, uid: "one" })]).toEqual([true, false]);
    await mintToken({ management, managementNamespace: namespace }, { clusterName: "east", lifetimeMs: 60_000, clock: systemClock });
    await expect(reserveName(management, naming, {}, { dryRun: true })).rejects.toThrow(/another cluster is being registered as east/);
    const before = management.objects();
    const { purgeBy: _, ...rest } = removal(management, remote, systemClock);
    await removeRegistration({ ...rest, keepsRegistration: true, keepsTokens: true });
    expect(management.objects()).toEqual(before);
    await removeRegistration(rest);
    expect(management.objects().filter(({ kind }) => kind === "KubernetesCluster" || kind === "Secret")).toEqual([]);
  });

  it("purges once the agent has ended: until then it would write again what is deleted", async () => {
    const [management, remote] = [cluster("management"), cluster("remote")];
    remote.load([podOfAgent as unknown as Resource]);
    await remote.apply(route(), { fieldManager: "gloo-mesh" });
    const seen: number[] = [];
    const clock = clockWith(async (waits) => {
      seen.push(await routes(remote));
      // A write that was under way when the pod was deleted.
      if (waits === 3) await remote.delete({ apiVersion: "v1", kind: "Pod", name: "agent-0", namespace, clusterName: "" });
      if (waits === 4) await remote.apply(route(), { fieldManager: "gloo-mesh" });
    });
    const { problems, deleted } = await removeRegistration(removal(management, remote, clock));
    expect({ problems, deleted }).toEqual({ problems: [], deleted: ["VirtualService gloo-mesh/reviews"] });
    expect(seen.slice(0, 4)).toEqual([1, 1, 1, 0]);
    expect(await routes(remote)).toBe(0);
  });

  it("does not purge while an agent runs, and says what to do", async () => {
    const [management, remote] = [cluster("management"), cluster("remote")];
    remote.load([podOfAgent as unknown as Resource]);
    await remote.apply(route(), { fieldManager: "gloo-mesh" });
    const waiting = await removeRegistration(
      removal(
        management,
        remote,
        clockWith(async () => undefined),
      ),
    );
    expect(waiting.problems).toEqual([
      "the mesh configuration was not deleted: Pod gloo-mesh/agent-0 of the agent did not end within 60 s: once it has ended, run this command again",
    ]);
    const labels = { app: "enterprise-agent" };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "agent", image: "agent" }] } },
    };
    const theirs = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "enterprise-agent", namespace }, spec };
    await remote.apply(theirs as unknown as Resource, { fieldManager: "helm" });
    const { problems } = await removeRegistration(removal(management, remote, systemClock));
    expect(problems).toEqual([expect.stringMatching(/the agent of Deployment gloo-mesh\/enterprise-agent, .* uninstall it, and run/)]);
    expect(await routes(remote)).toBe(1);
    await remote.delete({ apiVersion: "v1", kind: "Pod", name: "agent-0", namespace, clusterName: "" });
    // One that is scaled to zero writes nothing.
    await remote.apply({ ...theirs, spec: { ...spec, replicas: 0 } } as unknown as Resource, { fieldManager: "helm" });
    expect((await removeRegistration(removal(management, remote, systemClock))).problems).toEqual([]);
    expect(await routes(remote)).toBe(0);
  });

  it("gives up on what somebody else writes again and again", async () => {
    const [management, remote] = [cluster("management"), cluster("remote")];
    await remote.apply(route(), { fieldManager: "gloo-mesh" });
    const clock = clockWith(() => remote.apply(route(), { fieldManager: "gloo-mesh" }));
    const { problems } = await removeRegistration(removal(management, remote, clock));
    expect(problems).toEqual([
      "VirtualService gloo-mesh/reviews was written again after it was deleted: stop what writes it, and run this command again",
    ]);
  });
});

describe("the namespace of an agent", () => {
  const deployment = (name: string): Resource =>
    ({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace }, spec: {} }) as Resource;

  it.each(["gloo-mesh-mgmt-server", "enterprise-networking"])("is not that of %s", async (server) => {
    const remote = cluster("remote");
    await expect(refuseServersNamespace(remote, namespace)).resolves.toBeUndefined();
    remote.load([deployment(server)]);
    await expect(refuseServersNamespace(remote, namespace)).rejects.toThrow(`${server}), whose Secrets`);
    await expect(refuseServersNamespace(remote, "gloo-mesh-agent")).resolves.toBeUndefined();
  });

  it("stays what it is, where an agent is there already", async () => {
    const remote = cluster("remote");
    remote.load([deployment("gloo-mesh-mgmt-server"), deployment("gloo-mesh-agent")]);
    await expect(refuseServersNamespace(remote, namespace)).resolves.toBeUndefined();
  });
});

describe("the admission policy of an agent", () => {
  const settings = {
    clusterName: "east",
    namespace: "agents",
    managementNamespace: namespace,
    relay: { host: "mgmt.example", port: 9900, authority: "gloo-mesh-mgmt-server.gloo-mesh" },
  };

  it("limits the account in the agent's namespace, and comes before its rights", () => {
    const objects = agentObjects(settings);
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds.indexOf("ValidatingAdmissionPolicy")).toBeGreaterThan(-1);
    expect(kinds.indexOf("ValidatingAdmissionPolicyBinding")).toBeLessThan(kinds.indexOf("Role"));
    const policy = JSON.stringify(objects.find(({ kind }) => kind === "ValidatingAdmissionPolicy"));
    expect(policy).toContain("system:serviceaccount:agents:gloo-mesh-agent");
    expect(policy).not.toContain("serviceaccount:gloo-mesh:");
  });

  it("is left out where the API server has none", async () => {
    const remote = cluster("remote");
    const old = {
      ...remote,
      servedKinds: async () => (await remote.servedKinds()).filter(({ kind }) => !kind.startsWith("ValidatingAdmission")),
    };
    const objects = agentObjects(settings);
    expect(await withoutUnservedPolicies(remote, objects)).toEqual(objects);
    const left = await withoutUnservedPolicies(old, objects);
    expect(left).toHaveLength(objects.length - 2);
    expect(left.some(({ kind }) => kind.startsWith("ValidatingAdmission"))).toBe(false);
  });
});
