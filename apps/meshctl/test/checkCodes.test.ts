import { Secret, Settings } from "@isthmus/api";
import { createRoot } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import { expect, it } from "vitest";
import type { CheckFinding } from "../src/plane/checks/check.ts";
import type { CheckCode } from "../src/plane/checks/codes.ts";
import {
  accessPolicy,
  cluster,
  condition,
  deployment,
  destination,
  managed,
  mesh,
  NOW,
  trafficPolicy,
  virtualMesh,
  workload,
} from "./fleetObjects.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const DAY_MS = 24 * 3_600_000;
const BOTH = [cluster("east"), cluster("west")];
const federating = (selectors: readonly object[] = [{}], spec: object = {}) =>
  virtualMesh("bookinfo", ["east", "west"], { federation: { selectors, ...spec } });
const member = (name: string, content: object = {}) => mesh(name, { virtualMesh: "bookinfo", ...content });
const gateway = (name: string, pods = 2) => destination("gateway", name, { ports: [], pods });
const meshes = (east: AnyResource) => [...BOTH, east, member("west"), gateway("west")];
const gatewayAt = (...externalAddresses: readonly string[]) => [
  { destinationRef: { name: "gateway-bookinfo-east", namespace: "gloo-mesh" }, externalAddresses },
];
const shift = (...destinations: readonly object[]): AnyResource => {
  const policy = trafficPolicy("shift");
  return { ...policy, spec: { ...(policy["spec"] as object), policy: { trafficShift: { destinations } } } };
};
const to = (clusterName: string, weight: number) => ({ weight, kubeService: { name: "reviews", namespace: "bookinfo", clusterName } });
const fault = (creationTimestamp: string): AnyResource => {
  const policy = trafficPolicy("fault");
  const spec = { policy: { faultInjection: { fixedDelay: "2s", percentage: 10 } } };
  return { ...policy, metadata: { ...policy.metadata, creationTimestamp }, spec };
};
const root = async (days: number) => {
  const { certificate } = await createRoot({ commonName: "root", now: NOW - (400 - days) * DAY_MS, lifetimeMs: 400 * DAY_MS });
  return managed(Secret, "relay-root-tls-secret", { data: { "ca.crt": btoa(certificate) } });
};
const pem = (text: string) => managed(Secret, "relay-server-tls-secret", { data: { "tls.crt": btoa(text) } });
const callers = (...sourceSelector: readonly object[]) => accessPolicy("reviewers", { sourceSelector });
const guarded = (name: string, at: string, content: object = {}) => destination(name, at, { accessPolicies: ["reviewers"], ...content });
const tokenOnly = (container: object): AnyResource => {
  const found = deployment("gloo-mesh-mgmt-server");
  const containers = [{ name: "main", image: "registry.example/gloo-mesh/server:0.1.0", ...container }];
  return { ...found, spec: { replicas: 1, template: { spec: { containers } } } };
};
const ports = (name: string) => [{ port: 80, name, targetPortNumber: 8080 }];
const sharing = { workloadSelectorLabels: { app: "web" } };

const storeRoom = (status: string, reason: string, message: string) =>
  managed(Settings, "settings", { spec: {}, status: { conditions: [{ type: "StoreHasRoom", status, reason, message }] } });

interface Case {
  readonly code: CheckCode;
  readonly passes: readonly AnyResource[] | Promise<readonly AnyResource[]>;
  readonly fails: readonly AnyResource[] | Promise<readonly AnyResource[]>;
  readonly finding: Omit<CheckFinding, "code">;
}

const trusting = (trust: object) => ({
  ...virtualMesh("bookinfo", ["east"]),
  status: { state: "ACCEPTED", observedGeneration: 1, meshes: { "istiod-istio-system-a.b.gloo-mesh.": { state: "ACCEPTED", trust } } },
});

const CASES: readonly Case[] = [
  {
    code: "REL1003",
    passes: [cluster("east", "SYNCING"), cluster("west", "OFFLINE", { isSynced: false })],
    fails: [cluster("east", "SYNCING", { isSynced: false })],
    finding: {
      severity: "error",
      message: "the agent of cluster east is connected since 2026-11-20T11:50:00.000Z, and has not reported all of the cluster",
      remedy: "meshctl cluster diagnose east",
    },
  },
  {
    code: "REL1005",
    passes: [cluster("east")],
    fails: [
      cluster("east", "CONNECTED", {
        conditions: [condition("WritesRefused", "True", "an object is not written: VirtualService a/b: no")],
      }),
    ],
    finding: {
      severity: "warning",
      message: "KubernetesCluster gloo-mesh/east: status.conditions: an object is not written: VirtualService a/b: no",
      remedy: "correct what the message names: the policies behind the object, or its other writer: meshctl sync status",
    },
  },
  {
    code: "CRT1005",
    passes: [trusting({ state: "REQUESTED", step: "REISSUE", since: "2026-11-20T11:56:00Z" })],
    fails: [trusting({ state: "REQUESTED", step: "REISSUE", since: "2026-11-20T11:54:59Z" })],
    finding: {
      severity: "warning",
      message:
        "VirtualMesh gloo-mesh/bookinfo: the certificate authority of Mesh gloo-mesh/istiod-istio-system-a.b waits for its signature since 2026-11-20T11:54:59.000Z",
      remedy: "meshctl cert list; the server says why it does not sign: meshctl logs",
    },
  },
  {
    code: "REL1002",
    passes: [...BOTH, mesh("east")],
    fails: [...BOTH, mesh("north")],
    finding: {
      severity: "warning",
      message:
        "cluster north has no KubernetesCluster in namespace gloo-mesh, and Mesh gloo-mesh/istiod-istio-system-north is there as it was discovered in it",
      remedy: "meshctl logs; meshctl cluster register --help, if it is meant to be registered",
    },
  },
  {
    code: "REL1002",
    passes: [tokenOnly({ args: ["--single-cluster=mgmt"] }), mesh("mgmt")],
    fails: [tokenOnly({ args: ["--single-cluster=other"] }), mesh("mgmt")],
    finding: { severity: "warning", message: expect.stringContaining("cluster mgmt"), remedy: expect.any(String) },
  },
  {
    code: "REL1006",
    passes: BOTH,
    fails: BOTH.map((one) => ({ ...one, status: { ...(one["status"] as object), clusterUid: "uid-1" } })),
    finding: {
      severity: "error",
      message: "clusters east and west are one cluster: both have UID uid-1",
      remedy: "meshctl cluster deregister west --force, or the other one",
    },
  },
  {
    code: "CRT1102",
    passes: [cluster("east", "REGISTERED", { conditions: [condition("JoinTokenExpiring", "False", "the join token is valid")] })],
    fails: [cluster("east", "REGISTERED", { conditions: [condition("JoinTokenExpiring", "True", "the join token expired")] })],
    finding: {
      severity: "warning",
      message: "cluster east: JoinTokenExpiring: the join token expired",
      remedy: "meshctl cluster describe east",
    },
  },
  {
    code: "CRT1101",
    passes: root(60).then((secret) => [secret]),
    fails: root(59).then((secret) => [secret]),
    finding: {
      severity: "warning",
      message: "Secret gloo-mesh/relay-root-tls-secret, key ca.crt: ends in 59 d, at 2027-01-18T12:00:00.000Z, and is not renewed yet",
      remedy: "one that the server has generated is renewed by itself: meshctl logs; renew your own: docs/own-pki.md",
    },
  },
  {
    code: "CRT1101",
    // The roots before the last one are kept until all agents trust it.
    passes: Promise.all([root(-1), root(300)]).then(([old, next]) => {
      const text = [old, next].map((secret) => atob((secret["data"] as Record<string, string>)["ca.crt"] ?? "")).join("\n");
      return [managed(Secret, "relay-root-tls-secret", { data: { "ca.crt": btoa(text) } })];
    }),
    fails: root(-1).then((secret) => [secret]),
    finding: { severity: "error", message: expect.stringContaining("key ca.crt: expired at"), remedy: expect.any(String) },
  },
  {
    code: "CRT1101",
    passes: [],
    fails: [pem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")],
    finding: {
      severity: "error",
      message: "Secret gloo-mesh/relay-server-tls-secret, key tls.crt: has no certificate in PEM",
      remedy: "kubectl -n gloo-mesh get secret relay-server-tls-secret -o yaml",
    },
  },
  {
    code: "SEC1014",
    passes: [deployment("gloo-mesh-mgmt-server")],
    fails: [tokenOnly({ args: ["--disable-client-certificates"] })],
    finding: {
      severity: "warning",
      message: "the management server runs without client certificates: any holder of the relay token can act as any cluster",
      remedy: "set relay.disableClientCertificateAuthentication to false in the values of the server and of all agents",
    },
  },
  {
    code: "SEC1014",
    passes: [tokenOnly({ env: [{ name: "RELAY_DISABLE_CLIENT_CERTIFICATE_AUTHENTICATION", value: "false" }] })],
    fails: [tokenOnly({ env: [{ name: "RELAY_DISABLE_CLIENT_CERTIFICATE_AUTHENTICATION", value: "True" }] })],
    finding: { severity: "warning", message: expect.any(String), remedy: expect.any(String) },
  },
  {
    code: "REL1013",
    passes: [storeRoom("True", "HasRoom", "Redis uses less than 80 % of 256 MiB")],
    fails: [storeRoom("False", "Evicts", "Redis drops entries")],
    finding: {
      severity: "error",
      message: "Settings gloo-mesh/settings: status.conditions: Redis drops entries",
      remedy: "set maxmemory-policy of Redis to noeviction: kubectl -n gloo-mesh edit settings settings",
    },
  },
  {
    code: "REL1013",
    passes: [managed(Settings, "settings", { spec: {} })],
    fails: [storeRoom("False", "AlmostFull", "Redis uses 80 % or more of 256 MiB")],
    finding: { severity: "error", message: expect.stringContaining("Redis uses 80 % or more of 256 MiB"), remedy: expect.any(String) },
  },
  {
    code: "REL1103",
    passes: [storeRoom("True", "HasRoom", "Redis uses less than 80 % of 256 MiB")],
    fails: [storeRoom("Unknown", "NotSaid", "how much memory Redis has is not known")],
    finding: { severity: "info", message: "how much memory Redis has is not known", remedy: expect.any(String) },
  },
  {
    code: "UPG1002",
    passes: [federating([{}])],
    fails: [federating([], { permissive: {} })],
    finding: {
      severity: "warning",
      message: "VirtualMesh gloo-mesh/bookinfo: spec.federation.permissive is deprecated",
      remedy: "write spec.federation.selectors: [{}]",
    },
  },
  {
    code: "UPG1002",
    passes: [managed(Settings, "settings", { spec: {} })],
    fails: [managed(Settings, "settings", { spec: { discovery: { istio: { ingressGatewayDetectors: { "*": {} } } } } })],
    finding: {
      severity: "warning",
      message: "Settings gloo-mesh/settings: spec.discovery.istio.ingressGatewayDetectors is deprecated",
      remedy: "set spec.federation.eastWestIngressGatewaySelectors of the VirtualMesh",
    },
  },
  {
    code: "RTE1018",
    passes: [cluster("east"), cluster("west", "OFFLINE"), shift(to("east", 50), to("west", 50))],
    fails: [cluster("east"), cluster("west", "OFFLINE"), shift(to("east", 25), to("west", 75))],
    finding: {
      severity: "error",
      message:
        "TrafficPolicy bookinfo/shift: spec.policy.trafficShift.destinations: 75 % of the traffic goes to west, which is not connected: to the endpoints that were known last",
      remedy: "shift the traffic to a cluster that is connected: kubectl -n bookinfo edit trafficpolicy shift",
    },
  },
  {
    code: "RTE1018",
    passes: [cluster("west", "LAGGING"), shift(to("west", 0))],
    fails: [cluster("west", "UNREACHABLE"), shift(to("west", 0))],
    finding: { severity: "error", message: expect.stringContaining("100 % of the traffic"), remedy: expect.any(String) },
  },
  {
    code: "RTE1014",
    passes: [fault("2026-11-20T01:00:00Z")],
    fails: [fault("2026-11-17T11:00:00Z")],
    finding: {
      severity: "info",
      message: "TrafficPolicy bookinfo/fault: spec.policy.faultInjection: injects faults into 10 % of its requests, and is 3 d old",
      remedy: "remove faultInjection when the test is over: kubectl -n bookinfo edit trafficpolicy fault",
    },
  },
  {
    code: "FED1006",
    passes: [mesh("east")],
    fails: [mesh("east", { istio: { trustDomainProblem: "ConfigMap istio-system/istio not found" } })],
    finding: {
      severity: "warning",
      message: "Mesh gloo-mesh/istiod-istio-system-east: ConfigMap istio-system/istio not found",
      remedy: "kubectl --context CONTEXT -n istio-system get configmaps, with the context of east: correct its mesh configuration",
    },
  },
  {
    code: "SEC1020",
    passes: [mesh("east")],
    fails: [
      {
        ...mesh("east"),
        spec: { ...(mesh("east")["spec"] as object), held: { reason: "control plane istio-system/istiod of east is gone" } },
      },
    ],
    finding: {
      severity: "warning",
      message: "Mesh gloo-mesh/istiod-istio-system-east: control plane istio-system/istiod of east is gone",
      remedy: "install it again, or confirm that it was removed: meshctl cluster confirm-removed east NAMESPACE/NAME",
    },
  },
  {
    code: "CFG1003",
    passes: [
      destination("a", "east", { ports: ports("http"), ...sharing }),
      destination("b", "east", { ports: ports("grpc-b"), ...sharing }),
    ],
    fails: [
      destination("a", "east", { ports: ports("http"), ...sharing }),
      destination("b", "east", { ports: ports("tcp-b"), ...sharing }),
    ],
    finding: {
      severity: "warning",
      message: "Services bookinfo/a and bookinfo/b in east have the same pods, whose port 8080 is HTTP by the one and TCP by the other",
      remedy: "give the port the same name or appProtocol in both",
    },
  },
  {
    code: "FED1005",
    passes: [federating(), ...meshes(member("east", { gateways: gatewayAt("10.1.2.3", "gateway.example.com") })), gateway("east")],
    fails: [federating(), ...meshes(member("east", { gateways: gatewayAt("10.1.2.3", "fd00::1") })), gateway("east")],
    finding: {
      severity: "info",
      message:
        "the gateway Destination gloo-mesh/gateway-bookinfo-east of Mesh gloo-mesh/istiod-istio-system-east has private addresses only: 10.1.2.3, fd00::1",
      remedy: "check that the networks of the other clusters route them",
    },
  },
  {
    code: "RES1003",
    passes: [federating(), ...meshes(member("east")), gateway("east", 2)],
    fails: [federating(), ...meshes(member("east")), gateway("east", 1)],
    finding: {
      severity: "warning",
      message:
        "the gateway Destination gloo-mesh/gateway-bookinfo-east of Mesh gloo-mesh/istiod-istio-system-east has a single pod: traffic from other clusters stops while it restarts",
      remedy: "scale its Deployment to 2 or more",
    },
  },
  {
    code: "RES1002",
    passes: [destination("reviews", "east", { isFederated: true, pods: 1 }), destination("reviews", "west", { pods: 1 })].map((one, i) =>
      i === 0 ? one : { ...one, spec: JSON.parse(JSON.stringify(one["spec"]).replace("10.0.0.1", "10.0.1.1")) },
    ),
    fails: [destination("reviews", "east", { isFederated: true, pods: 1 })],
    finding: {
      severity: "warning",
      message:
        "Destination gloo-mesh/reviews-bookinfo-east: Service bookinfo/reviews in east is federated and has one pod in all clusters together",
      remedy: "scale its workload to 2 pods or more, or run it in a second cluster",
    },
  },
  {
    code: "FED1013",
    passes: [federating([{ destinationSelectors: [{ kubeServiceMatcher: {} }] }]), destination("reviews", "east", { isFederated: true })],
    fails: [
      virtualMesh("bookinfo", ["east", "west"], { federation: { selectors: [{}] }, globalAccessPolicy: "ENABLED" }),
      destination("reviews", "east", { isFederated: true }),
      guarded("ratings", "east", { isFederated: true }),
      accessPolicy("reviewers"),
    ],
    finding: {
      severity: "info",
      message:
        "VirtualMesh gloo-mesh/bookinfo: spec.federation.selectors[0]: federates every service to every mesh: each proxy is configured for all of them",
      remedy: "name the services that other clusters call in destinationSelectors: kubectl -n gloo-mesh edit virtualmesh bookinfo",
    },
  },
  {
    code: "SEC1003",
    passes: [mesh("east"), guarded("reviews", "east"), guarded("ratings", "east")],
    fails: [mesh("east"), guarded("reviews", "east"), destination("ratings", "east")],
    finding: {
      severity: "warning",
      message:
        "Mesh gloo-mesh/istiod-istio-system-east: 1 of 2 services have no AccessPolicy, so all callers may call them: bookinfo/ratings",
      remedy: "create AccessPolicies for them, or set spec.globalAccessPolicy of the VirtualMesh to ENABLED",
    },
  },
  {
    code: "SEC1003",
    passes: [
      virtualMesh("bookinfo", ["east"], { globalAccessPolicy: "ENABLED" }),
      member("east"),
      guarded("reviews", "east"),
      destination("ratings", "east"),
    ],
    fails: [virtualMesh("bookinfo", ["east"]), member("east"), guarded("reviews", "east"), destination("ratings", "east")],
    finding: { severity: "warning", message: expect.any(String), remedy: expect.any(String) },
  },
  {
    code: "SEC1016",
    passes: [workload("productpage-v1", "east"), accessPolicy("reviewers")],
    fails: [workload("productpag-v1", "east"), accessPolicy("reviewers")],
    finding: {
      severity: "warning",
      message:
        "AccessPolicy bookinfo/reviewers: spec.sourceSelector[0].kubeServiceAccountRefs.serviceAccounts[0].name: no workload runs as service account bookinfo/bookinfo-productpage in east (did you mean bookinfo-productpag?)",
      remedy: "correct the service account: kubectl -n bookinfo edit accesspolicy reviewers",
    },
  },
  {
    code: "SEC1107",
    passes: [workload("productpage-v1", "east"), callers({ kubeIdentityMatcher: { namespaces: ["bookinfo"], clusters: ["east"] } })],
    fails: [workload("productpage-v1", "east"), callers({ kubeIdentityMatcher: { namespaces: ["bokinfo"], clusters: ["east"] } })],
    finding: {
      severity: "warning",
      message:
        "AccessPolicy bookinfo/reviewers: spec.sourceSelector[0].kubeIdentityMatcher.namespaces[0]: no workload in a mesh is in namespace bokinfo of east",
      remedy: "did you mean bookinfo?",
    },
  },
  {
    code: "SEC1107",
    passes: [workload("productpage-v1", "east"), callers({ kubeIdentityMatcher: { namespaces: ["bookinfo"] } })],
    fails: [workload("productpage-v1", "east"), callers({ kubeIdentityMatcher: { namespaces: ["bookinfo"], clusters: ["west"] } })],
    finding: { severity: "warning", message: expect.any(String), remedy: "check the name, and the clusters beside it" },
  },
  {
    code: "SEC1106",
    passes: [member("east"), member("west"), guarded("reviews", "west"), accessPolicy("reviewers")],
    fails: [member("east"), mesh("west"), guarded("reviews", "west"), accessPolicy("reviewers")],
    finding: {
      severity: "warning",
      message:
        "AccessPolicy bookinfo/reviewers: allows callers of cluster east for service bookinfo/reviews in west, and no VirtualMesh has the meshes of both: unless they have one root all the same, such calls fail",
      remedy: "put both meshes into one VirtualMesh with spec.mtlsConfig",
    },
  },
  {
    code: "SEC1010",
    passes: [guarded("reviews", "east", { ports: [{ port: 9080, name: "http" }] }), accessPolicy("reviewers")],
    fails: [guarded("reviews", "east", { ports: [{ port: 9080, name: "tcp-reviews" }] }), accessPolicy("reviewers")],
    finding: {
      severity: "warning",
      message:
        "AccessPolicy bookinfo/reviewers: restricts paths or methods, and port 9080 (tcp-reviews) of service bookinfo/reviews in east is not HTTP: calls to it are denied",
      remedy: "leave out allowedPaths and allowedMethods for it, or name the port http-… if it is HTTP",
    },
  },
  {
    code: "SEC1010",
    // The policy says nothing of that port.
    passes: [guarded("reviews", "east", { ports: [{ port: 9081, appProtocol: "redis" }] }), accessPolicy("reviewers")],
    fails: [guarded("reviews", "east", { ports: [{ port: 9080, appProtocol: "redis" }] }), accessPolicy("reviewers")],
    finding: { severity: "warning", message: expect.any(String), remedy: expect.any(String) },
  },
];

async function findingsOf(objects: readonly AnyResource[], code: CheckCode): Promise<readonly CheckFinding[]> {
  const { out } = await runIn(managementCluster(objects), ["check", "-o", "json"]);
  const { checks } = JSON.parse(out) as { readonly checks: readonly { readonly findings: readonly CheckFinding[] }[] };
  return checks.flatMap(({ findings }) => findings).filter((finding) => finding.code === code);
}

it.each(CASES)("$code: $finding.message", async ({ code, passes, fails, finding }) => {
  expect(await findingsOf(await passes, code)).toEqual([]);
  expect(await findingsOf(await fails, code)).toEqual([{ code, ...finding }]);
});
