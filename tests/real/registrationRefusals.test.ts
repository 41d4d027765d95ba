import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { KubernetesCluster, Secret } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AlteredApiServer, ofVersion, startAlteredApiServer } from "./harness/alteredApiServer.ts";
import { anyKind, CustomResourceDefinition, clusterOf, Namespace } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace as namespaceOf } from "./harness/istioInstallation.ts";
import { applyAll } from "./harness/manifests.ts";
import { runMeshctl, steadyText } from "./harness/meshctl.ts";

const namespace = "gloo-mesh";
const RBAC = "rbac.authorization.k8s.io/v1";
const MADE: readonly Kind[] = [
  Namespace,
  CustomResourceDefinition,
  KubernetesCluster,
  Secret,
  anyKind("v1", "ServiceAccount", "serviceaccounts"),
  anyKind("v1", "Service", "services"),
  anyKind("apps/v1", "Deployment", "deployments"),
  anyKind(RBAC, "ClusterRole", "clusterroles", { namespaced: false }),
  anyKind(RBAC, "ClusterRoleBinding", "clusterrolebindings", { namespaced: false }),
];

/** Kubeconfigs of a command: of the cluster that it works on, and of the management cluster. */
interface Places {
  readonly cluster: string;
  readonly management: string;
}

const REGISTRATION = ({ cluster, management }: Places) => [`--kubeconfig=${cluster}`, `--mgmt-kubeconfig=${management}`];
/** Each command, and with what. */
const COMMANDS: Readonly<Record<string, (places: Places) => readonly string[]>> = {
  register: (places) => ["cluster", "register", "east", ...REGISTRATION(places)],
  "register-standard": (places) => ["cluster", "register", "east", "--standard", ...REGISTRATION(places)],
  deregister: (places) => ["cluster", "deregister", "east", ...REGISTRATION(places)],
  install: ({ management }) => ["install", `--kubeconfig=${management}`],
  uninstall: ({ management }) => ["uninstall", "--yes", `--kubeconfig=${management}`],
  check: ({ management }) => ["check", `--kubeconfig=${management}`],
  precheck: ({ management }) => ["precheck", `--kubeconfig=${management}`],
  logs: ({ management }) => ["logs", `--kubeconfig=${management}`],
  cert: ({ management }) => ["cert", "list", `--kubeconfig=${management}`],
  pause: ({ management }) => ["cluster", "pause", "east", `--kubeconfig=${management}`],
};
const BOTH = Object.keys(COMMANDS).filter((name) => name.includes("register"));
const ALL = Object.keys(COMMANDS);

describeReal("what cannot be reached or may not be done is refused, and nothing is made", (components) => {
  let fleet: Fleet<"management" | "east">;
  let clusters: readonly Cluster[];
  let silent: Server;
  let hanging: string;
  let old: readonly AlteredApiServer[] = [];
  let before: unknown;

  beforeAll(async () => {
    fleet = await startFleet(components, ["management", "east"], { crds: { management: "all" } });
    const management = clusterOf(fleet.servers.management, "");
    clusters = [management, clusterOf(fleet.servers.east, "east")];
    await applyAll(management, [namespaceOf(namespace)]);
    silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const text = readFileSync(fleet.servers.east.kubeconfig, "utf8");
    hanging = written("hanging", text.replace(fleet.servers.east.url, hangingUrl()));
    old = await Promise.all(
      [fleet.servers.management, fleet.servers.east].map((server) =>
        startAlteredApiServer(server, `old-${server.name}`, ofVersion("v1.24.17")),
      ),
    );
    before = await standing();
  });
  afterAll(async () => {
    await Promise.all(old.map((server) => server.close()));
    silent?.close();
    await fleet?.stop();
  });

  const hangingUrl = () => `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const good = (): Places => ({ cluster: fleet.servers.east.kubeconfig, management: fleet.servers.management.kubeconfig });

  function written(name: string, text: string): string {
    const file = join(fleet.directory, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  async function standing(): Promise<readonly (readonly string[])[]> {
    const listed = (cluster: Cluster, kind: Kind) => cluster.list(kind).catch(() => ({ items: [] }));
    return Promise.all(
      clusters.map(async (cluster) => {
        const lists = await Promise.all(MADE.map((kind) => listed(cluster, kind)));
        return lists
          .flatMap(({ items }) => items.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`))
          .sort();
      }),
    );
  }

  /** What the user sees, on a narrow and on a wide terminal, is in a golden file; nothing is made. */
  async function refused(name: string, args: readonly string[], { code = 2, expectIn = expect } = {}): Promise<void> {
    const answers = await Promise.all([80, 120].map(async (columns) => ({ columns, ...(await runMeshctl(args, columns)) })));
    const { directory, servers } = fleet;
    const addresses = {
      [hangingUrl()]: "https://hanging.example",
      ...Object.fromEntries(old.map(({ url }, i) => [url, `https://old-${i}.example`])),
    };
    for (const { columns, err, out, code: given } of answers) {
      const text = steadyText(err, { servers: Object.values(servers), directory, addresses });
      await expectIn(text).toMatchFileSnapshot(`testdata/registrationRefusals/${name}.${columns}.txt`);
      expect(given, err + out).toBe(code);
    }
    expect(await standing()).toEqual(before);
  }

  const commandOf = (name: string, places: Places): readonly string[] => COMMANDS[name]?.(places) ?? [];

  it.each(BOTH)("%s: a user without rights in the cluster", async (name) => {
    const cluster = written("stranger", fleet.servers.east.strangerKubeconfig);
    await refused(`${name}-no-rights`, commandOf(name, { ...good(), cluster }));
  });

  it.each(ALL)("%s: a user without rights in the management cluster", async (name) => {
    const management = written("mgmt-stranger", fleet.servers.management.strangerKubeconfig);
    // What a user may not do is what precheck finds.
    await refused(`${name}-no-rights-in-management`, commandOf(name, { ...good(), management }), { code: name === "precheck" ? 1 : 2 });
  });

  it.each(["register", "register-standard"])("%s: a user who may read, but not all that is made", async (name) => {
    const readers: AnyResource = {
      apiVersion: RBAC,
      kind: "ClusterRoleBinding",
      metadata: { name: "stranger-reads" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view-and-crds" },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "stranger" }],
    };
    const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }];
    const role: AnyResource = { apiVersion: RBAC, kind: "ClusterRole", metadata: { name: "view-and-crds" }, rules };
    for (const cluster of clusters) await applyAll(cluster, [role, readers]);
    before = await standing();
    const cluster = written("reader", fleet.servers.east.strangerKubeconfig);
    await refused(`${name}-reader`, commandOf(name, { ...good(), cluster }));
    const management = written("mgmt-reader", fleet.servers.management.strangerKubeconfig);
    await refused(`${name}-reader-in-management`, commandOf(name, { ...good(), management }));
    for (const at of clusters) {
      for (const { apiVersion, kind, metadata } of [role, readers])
        await at.delete({ apiVersion, kind, name: metadata.name, namespace: "", clusterName: "" });
    }
    before = await standing();
  });

  it.each(ALL)("%s: a context that does not exist", async (name) => {
    const flag = BOTH.includes(name) ? "--mgmt-context" : "--context";
    await refused(`${name}-no-context-in-management`, [...commandOf(name, good()), flag, "nowhere"]);
    if (BOTH.includes(name)) await refused(`${name}-no-context`, [...commandOf(name, good()), "--remote-context", "nowhere"]);
  });

  // They wait for half a minute each, and for nothing that others have.
  it.concurrent.for(BOTH)("%s: an API server of the cluster that hangs", async (name, { expect: expectIn }) => {
    await refused(`${name}-hanging`, commandOf(name, { ...good(), cluster: hanging }), { expectIn });
  });

  it.concurrent.for(ALL)("%s: an API server of the management cluster that hangs", async (name, { expect: expectIn }) => {
    await refused(`${name}-hanging-in-management`, commandOf(name, { ...good(), management: hanging }), { expectIn });
  });

  it.each(["register", "register-standard"])("%s: a cluster with an old Kubernetes", async (name) => {
    await refused(`${name}-old`, commandOf(name, { ...good(), cluster: old[1]?.kubeconfig ?? "" }));
  });

  it("install: a management cluster with an old Kubernetes", async () => {
    await refused("install-old", commandOf("install", { ...good(), management: old[0]?.kubeconfig ?? "" }));
  });

  it("precheck: a cluster with an old Kubernetes is a finding", async () => {
    const kubeconfig = `--kubeconfig=${old[1]?.kubeconfig}`;
    const precheck = await runMeshctl(["precheck", kubeconfig]);
    expect(precheck).toMatchObject({ code: 1, out: expect.stringContaining("Kubernetes is v1.24.17 [PRE1001]") });
    expect(precheck.out).toContain("upgrade the cluster to 1.28 or later");
  });
});
