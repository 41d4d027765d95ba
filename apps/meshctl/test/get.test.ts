import { Mesh } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import {
  accessPolicy,
  approval,
  cluster,
  destination,
  managed,
  mesh,
  observedCluster,
  trafficPolicy,
  virtualDestination,
  virtualMesh,
  workload,
} from "./fleetObjects.ts";
import { expectGolden } from "./goldenText.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const LONG = "spec.policy.trafficShift.destinations[0].kubeService.clusterName: cluster west is not registered: did you mean east?";

const FLEET = [
  cluster("east"),
  cluster("west", "OFFLINE", { version: "0.0.9" }),
  mesh("east", { virtualMesh: "bookinfo" }),
  mesh("west"),
  workload("reviews-v1", "east"),
  workload("productpage-v1", "east"),
  destination("reviews", "east", { isFederated: true }),
  destination("reviews", "west"),
  destination("ratings", "east"),
  virtualMesh("bookinfo", ["east", "west"], { globalAccessPolicy: "ENABLED" }),
  virtualDestination(
    "reviews",
    approval("INVALID", {
      targetCount: 2,
      acceptedCount: 1,
      meshes: { "istiod-istio-system-west.gloo-mesh.": { state: "INVALID", errors: ["the host is a user's ServiceEntry"] } },
      selectedDestinations: ["east", "west"].map((clusterName) => ({
        ref: { name: `reviews-bookinfo-${clusterName}`, namespace: "gloo-mesh" },
        destination: { kubeService: { name: "reviews", namespace: "bookinfo", clusterName } },
      })),
    }),
  ),
  trafficPolicy("slow"),
  accessPolicy("reviewers"),
  trafficPolicy(
    "shifted",
    approval("INVALID", {
      targetCount: 2,
      warningCount: 1,
      errors: [LONG],
      warnings: ["spec.policy.retry: unknown field, did you mean retries?"],
      conditions: [{ type: "Accepted", status: "False", message: LONG }],
    }),
  ),
];

describe("meshctl get", () => {
  const plane = managementCluster(FLEET);

  it.each([
    ["meshes"],
    ["workloads"],
    ["destinations", "-o", "wide"],
    ["policies"],
    ["policies", "-o", "wide"],
    ["clusters"],
    ["mesh", "istiod-istio-system-east", "-o", "yaml"],
    ["destinations", "-o", "name"],
  ])("prints %s %s %s %s", async (...args) => {
    for (const columns of [undefined, 80, 120]) {
      const { code, out, err } = await runIn(plane, ["get", ...args], columns);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expectGolden(`get/${args.join("-")}${columns === undefined ? "" : `-${columns}`}`, out);
    }
  });

  it("prints one List as JSON, also of nothing", async () => {
    const { out } = await runIn(plane, ["get", "destinations", "--cluster", "west", "-o", "json"]);
    expect(JSON.parse(out)).toMatchObject({ kind: "List", items: [{ kind: "Destination", metadata: { name: "reviews-bookinfo-west" } }] });
    const none = await runIn(plane, ["get", "virtualdestinations", "-n", "gloo-mesh", "-o", "json"]);
    expect(JSON.parse(none.out)).toEqual({ apiVersion: "v1", kind: "List", metadata: {}, items: [] });
    expect(none).toMatchObject({ code: 0, err: "No resources found.\n" });
  });

  it("prints what a template asks for, over the List that it prints as JSON", async () => {
    const names = await runIn(plane, [
      "get",
      "policies",
      "-o",
      'jsonpath={range .items[?(@.status.state=="INVALID")]}{.metadata.name}{"\\n"}{end}',
    ]);
    expect(names).toEqual({ code: 0, out: "shifted\nreviews\n", err: "" });
    const one = ["mesh", "istiod-istio-system-east"];
    const expected = { code: 0, out: "List istiod-istio-system-east", err: "" };
    for (const spelling of [["-o", "jsonpath="], ["-o=jsonpath="], ["-ojsonpath="], ["--output=jsonpath="]]) {
      const template = `${spelling.at(-1)}{.kind} {.items[*].metadata.name}`;
      expect(await runIn(plane, ["get", ...one, ...spelling.slice(0, -1), template])).toEqual(expected);
    }
    expect((await runIn(plane, ["cluster", "list", "-o", "jsonpath={.items[*].metadata.name}"])).out).toBe("east west");
  });

  it.each([
    "go-template={{.}}",
    "go-template-file=f",
    "templatefile=f",
    "jsonpath-file=f",
    "jsonpath-as-json={.}",
    "custom-columns=A:.a",
    "custom-columns",
  ])("says what to write instead of kubectl's %s", async (format) => {
    const { code, err } = await runIn(managementCluster([]), ["get", "meshes", "-o", format]);
    expect(code).toBe(2);
    expect(err).toContain(`${format.replace(/=.*/, "")} is only in kubectl: write jsonpath='{range .items[*]}`);
  });

  it("says why a template yields nothing", async () => {
    const run = await runIn(plane, ["get", "mesh", "istiod-istio-system-east", "-o", "jsonpath={.metadata.name}"]);
    expect(run).toEqual({ code: 0, out: "", err: "No value matches the template. It is read over a List: {.items[*].metadata.name}\n" });
    const none = await runIn(plane, ["get", "policies", "-n", "nowhere", "-o", "jsonpath={.items[*].metadata.name}"]);
    expect(none).toEqual({ code: 0, out: "", err: "No resources found.\n" });
  });

  it.each([
    ["jsonpath={.items[}", "jsonpath, character 9: expected a number"],
    ["jsonpath=", "a template is missing, such as jsonpath='{.items[*].metadata.name}'"],
    ["jsonpath", "Allowed choices are table, wide, yaml, json, name, jsonpath=TEMPLATE."],
    ["go-template={{.}}", "Allowed choices are table, wide, yaml, json, name, jsonpath=TEMPLATE."],
  ])("refuses -o %s before a cluster is asked", async (format, problem) => {
    const connect = async () => expect.unreachable();
    const run = await runIn(plane, ["get", "meshes", "-o", format], undefined, { connect });
    expect(run).toMatchObject({ code: 2, out: "", err: expect.stringContaining(problem) });
  });

  it("names what is not there, and the nearest name", async () => {
    const run = await runIn(plane, ["get", "trafficpolicies", "slow", "bookinfo/shiftd"]);
    expect(run).toMatchObject({ code: 2, err: "error: TrafficPolicy bookinfo/shiftd not found: did you mean bookinfo/shifted?\n" });
    expect(run.out).toContain("slow");
  });

  it("limits to a namespace", async () => {
    expect((await runIn(plane, ["get", "policies", "-n", "gloo-mesh", "-o", "name"])).out).toBe(
      "virtualmesh.networking.mesh.gloo.solo.io/bookinfo\n",
    );
  });

  it.each(["table", "wide", "yaml", "json", "name", "jsonpath={.items}{range ..}{@}{end}"])(
    "prints nothing that a terminal acts on with -o %s",
    async (format) => {
      const hostile = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eevil\r\nnext";
      const object = managed(Mesh, "bad", {
        spec: { istio: { installation: { version: hostile }, trustDomain: hostile } },
        status: { appliedVirtualMesh: { ref: { name: hostile, namespace: "gloo-mesh" } } },
      });
      const { out, err } = await runIn(managementCluster([object]), ["get", "meshes", "-o", format]);
      expect(err).toBe("");
      expect(out).toContain("bad");
      for (const character of ["\u001b", "\u0007", "\u009b", "\u202e", "\r"]) expect(out.includes(character)).toBe(false);
    },
  );
});

describe("meshctl describe", () => {
  const plane = managementCluster(FLEET);

  it.each([
    ["mesh"],
    ["workload", "-s", "review"],
    ["destination"],
    ["virtualmesh"],
    ["virtualdestination"],
    ["trafficpolicy"],
    ["accesspolicy"],
  ])("prints %s %s %s", async (...args) => {
    for (const columns of [undefined, 80, 120]) {
      const { code, out, err } = await runIn(plane, ["describe", ...args], columns);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(columns ?? Number.POSITIVE_INFINITY);
      expectGolden(`describe/${args.join("-")}${columns === undefined ? "" : `-${columns}`}`, out);
    }
  });

  it("says what is known of Cilium beside a mesh", async () => {
    const [east] = [mesh("east")];
    const cilium = {
      version: "1.20.2",
      enforcement: "never",
      clusterName: "prod-east",
      clusterMesh: true,
      warnings: ["enable-policy is never, so no policy is enforced: set it to default"],
    };
    const described = (given: object, status = {}) =>
      runIn(managementCluster([{ ...east, spec: { ...(east["spec"] as object), cilium: given }, status } as AnyResource]), [
        "describe",
        "mesh",
      ]);
    const { out } = await described(cilium, { cilium: { identities: 412, nodes: 9 } });
    for (const line of [
      "Cilium: 1.20.2 ",
      "Cilium Cluster: prod-east, in a Cluster Mesh ",
      "Cilium Policies: never, without rules for HTTP ",
      "Cilium Nodes: 9 ",
      "Cilium Identities: 412 ",
      "Cilium Problems: enable-policy is never, so no policy is enforced: set it to default ",
    ])
      expect(out).toContain(line);
    const { out: uncounted } = await described({ version: "1.20.2", enforcement: "default", l7Proxy: true });
    expect(uncounted).toContain("Cilium Policies: default ");
    expect(uncounted).not.toMatch(/Cilium (Nodes|Identities)/);
  });

  it("describes all kinds of policies, by plural names, too", async () => {
    const text = async (...args: readonly string[]): Promise<string> => (await runIn(plane, ["describe", ...args])).out;
    const each = ["trafficpolicies", "accesspolicies", "virtualmeshes", "virtualdestinations"];
    expect(await text("policies")).toBe((await Promise.all(each.map((name) => text(name)))).join(""));
    expect(await text("policies", "-s", "reviewers")).toBe(await text("accesspolicy"));
    expect(await runIn(managementCluster([]), ["describe", "policies"])).toEqual({ code: 0, out: "", err: "No resources found.\n" });
    for (const kind of ["meshes", "workloads", "destinations"]) expect(await text(kind)).toContain("METADATA");
    expect(await runIn(plane, ["describe", "policies", "revews"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("did you mean reviews"),
    });
    // No empty table before the error.
    const err = "error: Mesh nowhere not found\n";
    expect(await runIn(plane, ["describe", "mesh", "nowhere"])).toEqual({ code: 2, out: "", err });
  });

  it("says of Workloads and Destinations when nothing of them is ready", async () => {
    const status = { readiness: "0 ready" };
    const stopped = managementCluster([
      { ...workload("reviews-v1", "east"), status },
      { ...destination("reviews", "east", { pods: 0 }), status },
    ]);
    expect((await runIn(stopped, ["describe", "workload"])).out).toMatch(/Pods: +0 ready/);
    expect((await runIn(stopped, ["describe", "destination"])).out).toMatch(/Endpoints: +0 ready/);
    for (const kind of ["workloads", "destinations"]) {
      expect((await runIn(stopped, ["get", kind, "-o", "wide"])).out).toMatch(/READINESS[\s\S]*0 ready/);
      expect((await runIn(plane, ["describe", kind])).out).not.toContain("ready");
    }
  });

  it("prints the objects that it describes for programs, as get does", async () => {
    for (const format of ["json", "yaml"]) {
      const described = await runIn(plane, ["describe", "virtualdestination", "reviews", "-o", format]);
      expect(described).toEqual(await runIn(plane, ["get", "virtualdestinations", "reviews", "-o", format]));
      expect(described.out).toContain("reviews.mesh.global");
    }
  });
});

describe("meshctl cluster", () => {
  const plane = managementCluster(FLEET);

  it("lists the clusters as get does", async () => {
    expect((await runIn(plane, ["cluster", "list"])).out).toBe((await runIn(plane, ["get", "clusters"])).out);
  });

  it("describes a cluster, with the message of each condition", async () => {
    for (const columns of [80, 120]) {
      const { code, out } = await runIn(plane, ["cluster", "describe", "west"], columns);
      expect(code).toBe(0);
      expectGolden(`cluster/describe-${columns}`, out);
    }
    for (const columns of [80, 120]) {
      const { out } = await runIn(managementCluster([observedCluster("east")]), ["cluster", "describe", "east"], columns);
      expectGolden(`cluster/observed-${columns}`, out);
    }
    const cilium = { version: "1.20.2", clusterName: "prod-east", enforcement: "default", clusterMesh: true };
    const observed = observedCluster("east") as AnyResource & { status: object };
    const beside = managementCluster([{ ...observed, status: { ...observed.status, cilium } } as AnyResource]);
    expect((await runIn(beside, ["cluster", "describe", "east"])).out).toMatch(
      /^Cilium: +1\.20\.2, as prod-east in a Cluster Mesh, policies: default$/m,
    );
    const unknown = await runIn(plane, ["cluster", "describe", "est"]);
    expect(unknown).toMatchObject({
      code: 2,
      err: "error: cluster est is not registered: KubernetesCluster gloo-mesh/est not found: did you mean east?\n",
    });
  });
});
