import { allKinds, KubernetesCluster, Secret, VirtualService } from "@isthmus/api";
import type { AnyResource, Resource } from "@isthmus/core";
import { systemClock } from "@isthmus/plane";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { Command } from "commander";
import { beforeEach, describe, expect, it } from "vitest";
import { addressFor } from "../src/cluster/apiServerAddress.ts";
import { Interrupted } from "../src/cluster/interruption.ts";
import { ClusterRole, ClusterRoleBinding, RemoteNamespace, ServiceAccount } from "../src/cluster/remoteAccess.ts";
import { clusterCommand } from "../src/commands/cluster/cluster.ts";
import { inheriting } from "../src/meshctl.ts";
import { type RecordedIo, recordedIo } from "./recordedIo.ts";

const namespace = "gloo-mesh";
const place = { name: "east", namespace };
let management: SimulatedCluster;
let remote: SimulatedCluster;
beforeEach(() => {
  const kinds = allKinds();
  management = simulatedCluster({ name: "", clock: systemClock, kinds });
  management.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
  remote = givingTokens(simulatedCluster({ name: "", clock: systemClock, kinds, seed: "remote" }));
});

/** As kube-controller-manager does, but at once: gives the Secret of the ServiceAccount its token. */
function givingTokens(cluster: SimulatedCluster): SimulatedCluster {
  const apply: SimulatedCluster["apply"] = async (resource, ...rest) => {
    const applied = await cluster.apply(resource, ...rest);
    if (applied.kind === Secret.kind && applied.metadata.name === "east-token" && applied["data"] === undefined) {
      const { managedFields: _, ...metadata } = applied.metadata;
      await given.update({ ...applied, metadata, data: { token: btoa("bearer") } } as AnyResource);
    }
    return applied;
  };
  const given = { ...cluster, apply };
  return given;
}

/** Runs a command. */
async function run(...args: string[]): Promise<string> {
  return runUntil(new AbortController().signal, ...args);
}

/** The same on a terminal, or with standard output. */
async function runOn(io: RecordedIo, ...args: string[]): Promise<void> {
  const command = clusterCommand(
    io,
    async () => management,
    async () => ({ cluster: remote, address: { server: "https://127.0.0.1:6443", ca: "PEM", isUnverified: false } }),
  );
  await inheriting(command, new Command().exitOverride().configureOutput({ writeErr: io.err })).parseAsync(args, { from: "user" });
}

async function runUntil(interrupt: AbortSignal, ...args: string[]): Promise<string> {
  const io = recordedIo();
  const address = { server: "https://127.0.0.1:6443", ca: "PEM", isUnverified: false };
  const command = clusterCommand(
    io,
    async () => management,
    async () => ({ cluster: remote, address }),
    { catchInterrupts: () => interrupt },
  );
  await inheriting(command, new Command().exitOverride().configureOutput({ writeErr: io.err })).parseAsync(args, { from: "user" });
  return io.written.err;
}

const kubeconfig = async () => JSON.parse(atob((await management.get(Secret, place))?.data?.["kubeconfig"] ?? "")) as object;
const image = () => [management, remote].map((cluster) => cluster.objects());
const names = () => image().map((objects) => objects.map((object) => `${object.kind} ${object.metadata.name}`).sort());

describe("meshctl cluster register --standard", () => {
  it("makes an account with the rights that the server needs, and stores how to connect", async () => {
    expect(await run("register", "--standard", "--cluster-name", "east")).toMatch(/Successfully registered cluster: east/);
    expect(await management.get(Secret, place)).toMatchObject({ type: "solo.io/kubeconfig" });
    expect(await kubeconfig()).toMatchObject({
      "current-context": "east",
      clusters: [{ name: "east", cluster: { server: "https://127.0.0.1:6443", "certificate-authority-data": btoa("PEM") } }],
      users: [{ name: "east", user: { token: "bearer" } }],
    });
    expect((await management.get(KubernetesCluster, place))?.spec).toEqual({ secretName: "east", clusterDomain: "cluster.local" });
    expect(await remote.get(ServiceAccount, place)).toBeDefined();
    const role = await remote.get(ClusterRole, { name: "gloomesh-remote-access", namespace: "" });
    expect(JSON.stringify(role?.["rules"])).toMatch(/"networking.istio.io".*"virtualservices".*"delete"/);
    expect(JSON.stringify(role?.["rules"])).not.toMatch(/"secrets"|"\*"/);
    const binding = await remote.get(ClusterRoleBinding, { name: "east-gloomesh-remote-access-clusterrole-binding", namespace: "" });
    expect(binding?.["subjects"]).toEqual([{ kind: "ServiceAccount", ...place }]);
    expect(await remote.get(Secret, { name: "east-token", namespace })).toMatchObject({
      type: "kubernetes.io/service-account-token",
      metadata: { annotations: { "kubernetes.io/service-account.name": "east" } },
    });
  });

  it("changes nothing when it is repeated", async () => {
    await run("register", "--standard", "east");
    const before = image();
    await run("register", "--standard", "east");
    expect(image()).toEqual(before);
  });

  it("never overwrites what is not ours, and says what is in the way", async () => {
    const theirs: Resource = { apiVersion: "v1", kind: "Secret", metadata: place, type: "Opaque", data: { mine: "eA==" } } as Resource;
    await management.create(theirs);
    await expect(run("register", "--standard", "east")).rejects.toThrow(
      /Secret gloo-mesh\/east .* is not a kubeconfig Secret of Gloo Mesh \(type Opaque\): delete or rename/,
    );
    expect((await management.get(Secret, place))?.data).toEqual({ mine: "eA==" });
    await remote.update({ ...(await remote.get(ServiceAccount, place)), metadata: { ...place, labels: { app: "theirs" } } } as Resource);
    await expect(run("register", "--standard", "east")).rejects.toThrow(
      /ServiceAccount gloo-mesh\/east exists and is not managed by meshctl/,
    );
  });

  it.each([["east.1"], ["East"], [""]])("refuses %j as a name", async (name) => {
    await expect(run("register", "--standard", "--cluster-name", name)).rejects.toThrow(/is not a valid cluster name|no cluster name/);
  });

  it("is undone by deregister, which leaves what is not ours, and may be repeated", async () => {
    const before = image().map((objects) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    await run("register", "--standard", "east");
    expect(await run("deregister", "east")).toMatch(/Successfully deregistered cluster: east/);
    await run("deregister", "east");
    const after = image().map((objects) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    // The namespace may hold other things by now.
    expect(after.map((names) => names.sort())).toEqual([before[0], [...(before[1] ?? []), "Namespace gloo-mesh"].sort()]);
  });
});

describe("meshctl cluster register --standard of a cluster that others know", () => {
  const { apiVersion, kind } = KubernetesCluster;
  const declare = (spec: object) =>
    management.apply({ apiVersion, kind, metadata: place, spec } as KubernetesCluster, { fieldManager: "kubectl" });
  const uidOf = async (cluster: SimulatedCluster) =>
    (await cluster.get(RemoteNamespace, { name: "kube-system", namespace: "" }))?.metadata.uid ?? "";
  const know = (status: object) =>
    management.applyStatus({ apiVersion, kind, metadata: place, status } as AnyResource, { fieldManager: "gloo-mesh" });
  const spec = async () => (await management.get(KubernetesCluster, place))?.spec;

  it("keeps what they declare of it, and says by which option it would be changed before anything is made", async () => {
    await declare({ clusterDomain: "east.local" });
    const before = image();
    await expect(run("register", "--standard", "east", "--cluster-domain", "other.local")).rejects.toThrow(
      /^KubernetesCluster gloo-mesh\/east: \.?spec\.clusterDomain is set by kubectl: leave out --cluster-domain$/,
    );
    expect(image()).toEqual(before);
    await run("register", "--standard", "east");
    expect(await spec()).toEqual({ secretName: "east", clusterDomain: "east.local" });
    await run("register", "--standard", "east", "--cluster-domain", "east.local");
    await run("register", "--standard", "east");
    expect(await spec()).toEqual({ secretName: "east", clusterDomain: "east.local" });
  });

  it("does not take the name of a Secret from them", async () => {
    await declare({ secretName: "mine" });
    const before = image();
    await expect(run("register", "--standard", "east")).rejects.toThrow(
      /spec\.secretName is set by kubectl: set it to east there, or remove it$/,
    );
    expect(image()).toEqual(before);
  });

  it("takes no name from another cluster, and none from an agent", async () => {
    await declare({});
    await know({ clusterUid: "other" });
    await expect(run("register", "--standard", "east")).rejects.toThrow(/another cluster is registered as east \(UID other\)/);
    await management.update({
      ...(await management.get(KubernetesCluster, place)),
      metadata: { ...place, annotations: { "isthmus.mesh/replace": "1" } },
    } as Resource);
    await run("register", "--standard", "east");
    await run("deregister", "east", "--force");
    await declare({});
    await know({ clusterUid: await uidOf(remote) });
    await expect(run("register", "--standard", "east")).rejects.toThrow(
      /east is registered with an agent, which also writes: .*deregister east/,
    );
  });

  it("says how to take back what was made when it fails, or undoes it (--rollback)", async () => {
    await management.create({ apiVersion: "v1", kind: "Secret", metadata: place, type: "Opaque" } as Resource);
    const before = names();
    await expect(run("register", "--standard", "east")).rejects.toThrow(
      /delete or rename it\nTo take back what was created:\n {2}meshctl cluster deregister east$/,
    );
    expect(names()).not.toEqual(before);
    await run("deregister", "east");
    expect(names()[1]?.filter((name) => !before[1]?.includes(name))).toEqual(["Namespace gloo-mesh"]);
    await remote.delete({ apiVersion: "v1", kind: "Namespace", name: namespace, namespace: "", clusterName: "" });
    await expect(run("register", "--standard", "east", "--rollback")).rejects.toThrow(
      /delete or rename it\nRolled back: all that was created has been deleted\.$/,
    );
    expect(names()).toEqual(before);
  });

  it("is deregistered with the flags of the published commands; those that cannot be followed are refused", async () => {
    await run("register", "community", "east");
    const before = image();
    await expect(run("deregister", "community", "east", "--cert-agent-chart-file", "f")).rejects.toThrow(
      "--cert-agent-chart-file: is not supported; no chart is installed without an agent: leave it out",
    );
    expect(image()).toEqual(before);
    await run("deregister", "community", "east", "--api-server-address", "host.docker.internal", "--cluster-domain", "cluster.local");
    expect(await management.get(KubernetesCluster, place)).toBeUndefined();
  });

  it("undoes what was made when it is interrupted (--rollback)", async () => {
    const before = names();
    const interrupt = new AbortController();
    const update = remote.update.bind(remote);
    // While the account's token is waited for.
    remote.update = async (resource, signal) => {
      if (resource.metadata.name !== "east-token") return update(resource, signal);
      interrupt.abort(new Interrupted("interrupted"));
      return resource as AnyResource;
    };
    const error = await runUntil(interrupt.signal, "register", "--standard", "east", "--rollback").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Interrupted);
    expect(String(error)).toMatch(/interrupted\nRolled back: all that was created has been deleted\.$/);
    expect(names()).toEqual(before);
  });

  it("is deregistered from the cluster itself alone", async () => {
    await run("register", "--standard", "east");
    await know({ clusterUid: "other" });
    const before = image();
    await expect(run("deregister", "east")).rejects.toThrow(/this is not the cluster that is registered as east/);
    await know({ clusterUid: await uidOf(remote) });
    await expect(run("deregister", "west")).rejects.toThrow(/this cluster is registered as east: use that name, or select another one/);
    expect(names()).toEqual(before.map((objects) => objects.map((object) => `${object.kind} ${object.metadata.name}`).sort()));
  });

  it("deletes the mesh configuration only with --purge", async () => {
    const route = { apiVersion: VirtualService.apiVersion, kind: VirtualService.kind, spec: { hosts: ["reviews"] } };
    const labels = { "owner.networking.mesh.gloo.solo.io": namespace };
    const ours = { ...route, metadata: { name: "reviews", namespace: "default", labels } } as Resource;
    const theirs = { ...route, metadata: { name: "theirs", namespace: "default", labels } } as Resource;
    await remote.apply(ours, { fieldManager: "gloo-mesh" });
    await remote.apply(theirs, { fieldManager: "kubectl" });
    const left = async () => (await remote.list(VirtualService)).items.map(({ metadata }) => metadata.name).sort();
    await run("register", "--standard", "east");
    await run("deregister", "east");
    expect(await left()).toEqual(["reviews", "theirs"]);
    await run("register", "--standard", "east");
    expect(await run("deregister", "east", "--purge")).toContain("deleted VirtualService default/reviews");
    expect(await left()).toEqual(["theirs"]);
  });
});

describe("meshctl cluster register and deregister --dry-run", () => {
  it("tells what a registration would make, and makes nothing", async () => {
    const before = image();
    const io = recordedIo();
    await runOn(io, "register", "--standard", "east", "--dry-run");
    expect(image()).toEqual(before);
    expect(io.written.err).toBe("Nothing was changed (--dry-run).\n");
    const told = io.written.out.trim().split("\n");
    await run("register", "--standard", "east");
    const made = names().flatMap((all, i) =>
      all.filter((name) => !(before[i] ?? []).some((object) => name === `${object.kind} ${object.metadata.name}`)),
    );
    expect(made.length).toBeGreaterThan(5);
    expect(told.map((line) => line.replace(/ (?:\S+\/)?(\S+): would be (applied|created)$/, " $1")).sort()).toEqual([...made].sort());
  });

  it("tells what a registration with an agent would make, waits for none, and makes nothing", async () => {
    const root = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "relay-root-tls-secret", namespace },
      data: { "ca.crt": btoa("PEM") },
    };
    await management.create(root as Resource);
    const before = image();
    const io = recordedIo();
    await runOn(io, "register", "east", "--no-probe", "--relay-server-address", "relay.example.com:9900", "--dry-run");
    expect(image()).toEqual(before);
    expect(io.written.err).toBe("Nothing was changed (--dry-run).\n");
    for (const made of ["KubernetesCluster gloo-mesh/east", "Deployment gloo-mesh/gloo-mesh-agent", "Namespace gloo-mesh"])
      expect(io.written.out).toMatch(new RegExp(`^${made}: would be (applied|created)$`, "m"));
    expect(io.written.out).toMatch(/^Secret gloo-mesh\/relay-join-token-\w+: would be created$/m);
  });

  it("tells what a deregistration would delete, with --purge, and deletes nothing; then deletes just that", async () => {
    await run("register", "--standard", "east");
    const labels = { "owner.networking.mesh.gloo.solo.io": namespace };
    const { apiVersion, kind } = VirtualService;
    const route = { apiVersion, kind, metadata: { name: "reviews", namespace: "default", labels }, spec: { hosts: ["reviews"] } };
    await remote.apply(route as Resource, { fieldManager: "gloo-mesh" });
    const before = image();
    const io = recordedIo();
    await runOn(io, "deregister", "east", "--purge", "--dry-run");
    expect(image()).toEqual(before);
    expect(io.written.err).toBe("Nothing was changed (--dry-run).\n");
    expect(io.written.out).toContain("VirtualService default/reviews: would be deleted\n");
    const all = names();
    await run("deregister", "east", "--purge");
    const left = names();
    const gone = all.flatMap((objects, i) => objects.filter((name) => !(left[i] ?? []).includes(name)));
    const told = io.written.out.trim().split("\n");
    expect(told.map((line) => line.replace(/ (?:\S+\/)?(\S+): would be deleted$/, " $1")).sort()).toEqual([...gone].sort());
  });

  it("asks on a terminal, after listing what goes, unless a flag says not to", async () => {
    await run("register", "--standard", "east");
    const before = image();
    const asked: string[] = [];
    const terminal = (answer: boolean) => ({
      ...recordedIo(),
      ask: async (question: string) => {
        asked.push(question);
        return answer;
      },
    });
    const no = terminal(false);
    await expect(runOn(no, "deregister", "east")).rejects.toThrow("nothing was changed");
    expect(no.written.err).toContain("KubernetesCluster gloo-mesh/east: would be deleted\n");
    expect(image()).toEqual(before);
    expect(asked).toEqual(["Do this?"]);
    await runOn(terminal(true), "deregister", "east");
    expect(image()).not.toEqual(before);
    await run("register", "--standard", "east");
    await runOn(terminal(false), "deregister", "east", "--yes");
    expect(await management.get(KubernetesCluster, place)).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  it("is not together with what takes something back", async () => {
    await expect(run("register", "east", "--dry-run", "--rollback")).rejects.toThrow("--rollback and --dry-run are mutually exclusive");
  });
});

describe("options that contradict each other", () => {
  it.each([
    [["--standard", "--disable-client-certificates"], "--disable-client-certificates and --standard are mutually exclusive"],
    [["--standard", "--print-join"], "--print-join and --standard are mutually exclusive"],
    [["--standard", "--no-probe"], "--no-probe and --standard are mutually exclusive"],
    [["--api-server-address", "10.0.0.1"], "--api-server-address needs --standard"],
    [["--disable-client-certificates", "--token-ttl", "5m"], "--token-ttl and --disable-client-certificates are mutually exclusive"],
    [["--print-gitops", "--rollback"], "--rollback and --print-gitops are mutually exclusive"],
    [["--print-join", "--timeout", "1m"], "--timeout and --print-join are mutually exclusive"],
  ])("%j are refused, and nothing is created", async (options, message) => {
    const before = image();
    await expect(run("register", "east", ...options)).rejects.toThrow(message);
    expect(image()).toEqual(before);
  });
});

describe("the address of an API server", () => {
  const local = { server: "https://127.0.0.1:6443", ca: "PEM", isUnverified: false };
  const named = { ...local, server: "https://api.east:8443" };
  const { isUnverified: _, ...verified } = local;

  it("is the kubeconfig's, unless another is given", () => {
    expect(addressFor(local, undefined)).toEqual(verified);
    expect(addressFor({ ...local, tlsServerName: "api.east" }, undefined)).toEqual({ ...verified, tlsServerName: "api.east" });
    expect(addressFor(named, "10.0.0.1").server).toBe("https://10.0.0.1:8443");
    expect(addressFor(named, "10.0.0.1:443").server).toBe("https://10.0.0.1");
    expect(addressFor(named, "api.east:444")).toEqual({ server: "https://api.east:444", ca: "PEM" });
  });

  it.each([
    [local, "host.docker.internal", "https://host.docker.internal:6443", "127.0.0.1"],
    [named, "10.0.0.1", "https://10.0.0.1:8443", "api.east"],
    [{ ...named, tlsServerName: "kubernetes" }, "10.0.0.1", "https://10.0.0.1:8443", "kubernetes"],
    [{ ...local, server: "https://[::1]:6443" }, "api.east", "https://api.east:6443", "::1"],
  ])(
    "of %o reached as %s keeps the certificate authority, and the name that the certificate bears",
    (given, wanted, server, tlsServerName) => {
      expect(addressFor(given, wanted)).toEqual({ server, ca: "PEM", tlsServerName });
    },
  );

  it.each([undefined, "10.0.0.1"])("is refused where the user does not verify it (--api-server-address %s)", (wanted) => {
    expect(() => addressFor({ ...local, isUnverified: true }, wanted)).toThrow(
      /certificate-authority-data instead of insecure-skip-tls-verify/,
    );
    expect(() => addressFor({ ...local, server: "http://127.0.0.1:8080" }, wanted)).toThrow(/does not verify/);
  });

  it("is in the stored kubeconfig with its name, and never as one that is not verified", async () => {
    await run("register", "--standard", "east", "--api-server-address", "host.docker.internal");
    expect(await kubeconfig()).toMatchObject({
      clusters: [
        {
          cluster: {
            server: "https://host.docker.internal:6443",
            "certificate-authority-data": btoa("PEM"),
            "tls-server-name": "127.0.0.1",
          },
        },
      ],
    });
    expect(JSON.stringify(await kubeconfig())).not.toContain("insecure");
  });
});
