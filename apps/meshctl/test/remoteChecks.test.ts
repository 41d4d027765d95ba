import { allKinds } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import type { ApiServer } from "@isthmus/kubernetes";
import { ClusterError } from "@isthmus/ports";
import { describe, expect, it } from "vitest";
import { deployment } from "./fleetObjects.ts";
import { managementCluster, type Run, runIn } from "./planeRun.ts";

const istio = (kind: string, plural: string): Kind => ({
  apiVersion: "security.istio.io/v1",
  kind,
  plural,
  namespaced: true,
  versions: ["security.istio.io/v1"],
  parse: (input) => input as AnyResource,
});
const KINDS = [...allKinds(), istio("PeerAuthentication", "peerauthentications"), istio("RequestAuthentication", "requestauthentications")];

const object = (kind: string, name: string, spec: object): AnyResource => {
  const [namespace = "", own = ""] = name.split("/");
  const group = kind === "VirtualService" ? "networking" : "security";
  return { apiVersion: `${group}.istio.io/v1`, kind, metadata: { name: own, namespace }, spec };
};
const peers = (name: string, mode: string, more: object = {}) => object("PeerAuthentication", name, { mtls: { mode }, ...more });
const allowing = (name: string, source: object) => object("AuthorizationPolicy", name, { rules: [{ from: [{ source }] }] });
const byClaim = object("VirtualService", "shop/web", {
  hosts: ["web.example"],
  http: [{ route: [] }, { match: [{ uri: { prefix: "/" } }, { headers: { "@request.auth.claims.group": { exact: "admin" } } }] }],
});

const MESH: readonly AnyResource[] = [
  deployment("gloo-mesh-agent"),
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "istiod", namespace: "istio-system" },
    spec: {
      selector: { matchLabels: { app: "istiod" } },
      template: {
        metadata: { labels: { app: "istiod" } },
        spec: { containers: [{ name: "discovery", image: "docker.io/istio/pilot:1.27.1" }] },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "istio", namespace: "istio-system" },
    data: { mesh: "trustDomain: east.example" },
  },
];

interface Clocks {
  readonly management?: number | undefined;
  readonly remote?: number | undefined;
}

async function remote(
  objects: readonly AnyResource[],
  { management, remote: there }: Clocks = {},
  kinds: readonly Kind[] = KINDS,
): Promise<Run> {
  const cluster = managementCluster([...MESH, ...objects], kinds);
  const plane = managementCluster([deployment("gloo-mesh-mgmt-server")]);
  const api = (aheadMs: number | undefined): ApiServer => ({
    address: "https://east.example",
    version: async () => "v1.31.2",
    clockAheadMs: async () => aheadMs,
    isAllowed: () => expect.unreachable(),
    connectToPod: () => expect.unreachable(),
    podLog: () => expect.unreachable(),
  });
  return runIn(plane, ["check", "--remote-context", "east"], undefined, {
    connect: async ({ context }) => (context === "east" ? cluster : plane),
    connectApiServer: async ({ context }) => api(context === "east" ? there : management),
  });
}

describe("mutual TLS where AuthorizationPolicies name callers", () => {
  const named = [
    allowing("shop/readers", { principals: ["east.example/ns/web/sa/web"] }),
    allowing("bank/readers", { notNamespaces: ["web"] }),
  ];

  it("is missed, with the manifest that requires it", async () => {
    const { out } = await remote(named);
    expect(out).toContain("no PeerAuthentication requires mutual TLS in namespace bank, shop: callers without it");
    expect(out).toContain(
      `echo '{"apiVersion":"security.istio.io/v1","kind":"PeerAuthentication","metadata":{"name":"default","namespace":"istio-system"},"spec":{"mtls":{"mode":"STRICT"}}}' | kubectl --context CONTEXT apply -f -`,
    );
    expect(out).toContain("[SEC0008]");
  });

  it.each<[string, readonly AnyResource[], string | undefined]>([
    ["for the mesh", [peers("istio-system/default", "STRICT")], undefined],
    [
      "for the mesh, and switched off in a namespace",
      [peers("istio-system/default", "STRICT"), peers("shop/default", "PERMISSIVE")],
      "shop",
    ],
    ["for a namespace", [peers("shop/default", "STRICT")], "bank"],
    ["for the mesh, where a namespace inherits", [peers("istio-system/default", "STRICT"), peers("shop/default", "UNSET")], undefined],
    [
      "for some pods of each",
      ["shop", "bank"].map((ns) => peers(`${ns}/web`, "STRICT", { selector: { matchLabels: { app: "web" } } })),
      undefined,
    ],
    [
      "for some pods of the root namespace alone",
      [peers("istio-system/x", "STRICT", { selector: { matchLabels: { app: "x" } } })],
      "bank, shop",
    ],
    ["in a namespace of its own", [peers("other/default", "STRICT")], "bank, shop"],
  ])("is required %s", async (_, required, open) => {
    const { out } = await remote([...named, ...required]);
    expect(/in namespace ([a-z, ]+): callers/.exec(out)?.[1]).toBe(open);
  });

  it("is required for the mesh in the root namespace that its configuration names", async () => {
    const data = { mesh: "trustDomain: east.example\nrootNamespace: istio-config" };
    const elsewhere = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio", namespace: "istio-system" }, data };
    expect((await remote([...named, elsewhere, peers("istio-config/default", "STRICT")])).out).not.toContain("SEC0008");
    const { out } = await remote([...named, elsewhere, peers("istio-system/default", "STRICT")]);
    expect(out).toContain("in namespace bank, shop: callers");
    expect(out).toContain('"metadata":{"name":"default","namespace":"istio-config"}');
  });

  it("does not matter to policies about addresses and tokens, nor where Istio's kinds are not served", async () => {
    expect((await remote([allowing("shop/readers", { ipBlocks: ["10.0.0.0/8"], requestPrincipals: ["*"] })])).out).not.toContain("SEC0008");
    const without = allKinds().filter(({ apiVersion }) => !apiVersion.startsWith("security.istio.io"));
    expect((await remote([], {}, without)).out).toContain("✅ Where AuthorizationPolicies name callers, mutual TLS is required");
  });
});

it("names a route by a claim that nothing reads, and is quiet where something does", async () => {
  const { out, code } = await remote([byClaim]);
  expect(out).toContain(
    "VirtualService shop/web: spec.http[1].match[1] matches a claim of a token, and the cluster has no RequestAuthentication",
  );
  expect(out).toContain("[SEC1011]");
  expect(code).toBe(1);
  expect((await remote([byClaim, object("RequestAuthentication", "shop/tokens", {})])).out).not.toContain("SEC1011");
});

it("compares the clocks of both clusters, not with that of this machine", async () => {
  expect((await remote([], { management: 3_600_000, remote: 3_570_500 })).out).not.toContain("REL1009");
  const { out } = await remote([], { management: -20_000, remote: 20_000 });
  expect(out).toContain("the clock of its API server is 40 s ahead of that of the management cluster");
  expect(out).toContain("[REL1009]");
  // What is not known is not wrong.
  expect((await remote([], { management: undefined, remote: 90_000 })).out).not.toContain("The clock");
});

it("says what it may not read", async () => {
  const cluster = managementCluster(MESH, KINDS);
  const plane = managementCluster([deployment("gloo-mesh-mgmt-server")]);
  const forbidden: typeof cluster = {
    ...cluster,
    list: (kind, options, signal) =>
      kind.kind === "PeerAuthentication" ? Promise.reject(new ClusterError("Forbidden", "no peers")) : cluster.list(kind, options, signal),
  };
  const run = await runIn(plane, ["check", "--remote-context", "east"], undefined, {
    connect: async ({ context }) => (context === "east" ? forbidden : plane),
    connectApiServer: async () => ({ version: async () => "v1.31.2", clockAheadMs: async () => undefined }) as unknown as ApiServer,
  });
  expect(run.out.match(/not checked: no peers/g)).toHaveLength(2);
});
