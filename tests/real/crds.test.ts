import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CustomResourceDefinition, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { type KubectlAnswer, kubectl } from "./harness/kubectl.ts";
import { conditionOf } from "./harness/manifests.ts";
import { waitFor } from "./harness/waitFor.ts";

const folder = fileURLToPath(new URL("../../deploy/crds", import.meta.url));
const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));

const networking = "networking.mesh.gloo.solo.io/v1";
const reviews = { kubeServiceRefs: { services: [{ name: "reviews", namespace: "bookinfo", clusterName: "cluster-1" }] } };

/** Objects as users write them. */
const accepted: readonly (readonly [string, object])[] = [
  ["a TrafficPolicy without a rule", object(networking, "TrafficPolicy", { spec: {} })],
  [
    "a TrafficPolicy with most of what there is",
    object(networking, "TrafficPolicy", {
      spec: {
        sourceSelector: [{ kubeWorkloadMatcher: { namespaces: ["bookinfo"], labels: { app: "productpage" } } }],
        destinationSelector: [reviews],
        httpRequestMatchers: [{ uri: { prefix: "/reviews" }, headers: [{ name: "end-user", value: "jason" }], method: "GET" }],
        policy: {
          requestTimeout: "1.5s",
          retries: { attempts: 3, perTryTimeout: "300ms" },
          trafficShift: {
            destinations: [
              {
                kubeService: { name: "reviews", namespace: "bookinfo", clusterName: "cluster-2", subset: { version: "v3" }, port: 9080 },
                weight: 75,
              },
              { kubeService: { name: "reviews", namespace: "bookinfo", clusterName: "cluster-1" }, weight: 25 },
            ],
          },
          faultInjection: { abort: { httpStatus: 503 }, percentage: 12.5 },
          outlierDetection: { consecutiveErrors: 5, interval: "10s", baseEjectionTime: "30s" },
          mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } },
        },
      },
    }),
  ],
  [
    "an AccessPolicy",
    object(networking, "AccessPolicy", {
      spec: {
        sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts: [{ name: "p", namespace: "bookinfo", clusterName: "cluster-1" }] } }],
        destinationSelector: [reviews],
        allowedMethods: ["GET"],
        allowedPorts: [9080],
      },
    }),
  ],
  [
    "a VirtualMesh",
    object(networking, "VirtualMesh", {
      spec: {
        meshes: [{ name: "istiod-istio-system-cluster-1", namespace: "gloo-mesh" }],
        mtlsConfig: { autoRestartPods: true, shared: { rootCertificateAuthority: { generated: {} } } },
        federation: { selectors: [{}] },
        globalAccessPolicy: "ENABLED",
      },
    }),
  ],
  ["a KubernetesCluster", object("multicluster.solo.io/v1alpha1", "KubernetesCluster", { spec: { clusterDomain: "cluster.local" } })],
  ["Settings", object("settings.mesh.gloo.solo.io/v1", "Settings", { spec: { mtls: { istio: { tlsMode: "DISABLE" } } } })],
];

/** Objects with a mistake, and the field that the refusal must name. */
const refused: readonly (readonly [string, object, string])[] = [
  [
    "a timeout that is no duration",
    object(networking, "TrafficPolicy", { spec: { policy: { requestTimeout: "soon" } } }),
    'spec.policy.requestTimeout: Invalid value: "string": "soon" is not a duration such as "5s", "100ms" or "1h30m"',
  ],
  [
    "a delay and an abort at once",
    object(networking, "TrafficPolicy", { spec: { policy: { faultInjection: { fixedDelay: "1s", abort: { httpStatus: 500 } } } } }),
    "spec.policy.faultInjection",
  ],
  [
    "a percentage above 100",
    object(networking, "TrafficPolicy", { spec: { policy: { faultInjection: { fixedDelay: "1s", percentage: 250 } } } }),
    "spec.policy.faultInjection.percentage",
  ],
  [
    "an unknown TLS mode",
    object(networking, "TrafficPolicy", { spec: { policy: { mtls: { istio: { tlsMode: "MAYBE" } } } } }),
    "spec.policy.mtls.istio.tlsMode",
  ],
  ["a list that is an object", object(networking, "AccessPolicy", { spec: { destinationSelector: reviews } }), "spec.destinationSelector"],
  [
    "an unknown access policy of a VirtualMesh",
    object(networking, "VirtualMesh", { spec: { globalAccessPolicy: "SOMETIMES" } }),
    "spec.globalAccessPolicy",
  ],
];

function object(apiVersion: string, kind: string, fields: object): object {
  return { apiVersion, kind, metadata: { name: `sample-${kind.toLowerCase()}`, namespace: "default" }, ...fields };
}

describeReal("our CRDs on a real API server", (components) => {
  let fleet: Fleet<"crds">;
  let cluster: Cluster;
  const run = (args: readonly string[], input?: unknown): Promise<KubectlAnswer> =>
    kubectl({ components, server: fleet.servers.crds }, args, input);

  beforeAll(async () => {
    fleet = await startFleet(components, ["crds"]);
    cluster = clusterOf(fleet.servers.crds, "");
  });
  afterAll(() => fleet?.stop());

  it("install without a warning, and are served", async () => {
    expect(files).not.toEqual([]);
    const { code, stdout, stderr } = await run(["apply", "--server-side", "--warnings-as-errors", `--filename=${folder}`]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.trim().split("\n")).toHaveLength(files.length);
    const installed = await waitFor("CRDs to be established", async () => {
      const { items } = await cluster.list(CustomResourceDefinition);
      return items.every((crd) => conditionOf(crd, "Established") === "True") ? items : undefined;
    });
    expect(installed).toHaveLength(files.length);
    for (const crd of installed) {
      expect([crd.metadata.name, conditionOf(crd, "NamesAccepted")]).toEqual([crd.metadata.name, "True"]);
      expect([crd.metadata.name, conditionOf(crd, "NonStructuralSchema")]).toEqual([crd.metadata.name, undefined]);
    }
  });

  it("can be installed again, without a change", async () => {
    const before = (await cluster.list(CustomResourceDefinition)).items.map(({ metadata }) => metadata.resourceVersion);
    expect((await run(["apply", "--server-side", `--filename=${folder}`])).code).toBe(0);
    expect((await cluster.list(CustomResourceDefinition)).items.map(({ metadata }) => metadata.resourceVersion)).toEqual(before);
  });

  it.each(accepted)("take %s", async (_, sample) => {
    const { code, stderr } = await run(["apply", "--warnings-as-errors", "--filename=-"], sample);
    expect([code, stderr]).toEqual([0, ""]);
  });

  it.each(refused)("refuse %s, naming the field", async (_, sample, field) => {
    const { code, stderr } = await run(["apply", "--filename=-"], sample);
    expect(code).toBe(1);
    expect(stderr).toContain(field);
    expect(stderr).toContain("is invalid");
  });

  it("keep a field of a user that they don't know, so that its status can name it", async () => {
    const sample = object(networking, "TrafficPolicy", { spec: { policy: { requestTimeoutt: "5s" } } });
    expect((await run(["apply", "--filename=-"], sample)).code).toBe(0);
    const { stdout } = await run(["get", "tpol", "sample-trafficpolicy", "--output=jsonpath={.spec.policy.requestTimeoutt}"]);
    expect(stdout).toBe("5s");
  });

  it("show themselves under short names, in a category, with columns and an explanation", async () => {
    expect((await run(["get", "tpol", "sample-trafficpolicy"])).stdout).toMatch(/^NAME\s+STATE\s+.*AGE/);
    const { stdout } = await run(["get", "gloo-mesh", "--output=name"]);
    for (const kind of ["trafficpolicy", "accesspolicy", "virtualmesh"]) expect(stdout).toContain(`sample-${kind}`);
    const explained = await run(["explain", "tpol.spec.policy.requestTimeout"]);
    expect(explained.stdout).toContain("Timeout of a request, at least 1ms");
  });
});
