import { describe, expect, it } from "vitest";
import { parseDocuments } from "../src/offline/documents.ts";
import { intake } from "../src/offline/intake.ts";
import { unfold } from "../src/offline/unfold.ts";

function take(text: string) {
  const taken = intake(parseDocuments({ name: "in.yaml", text }).documents.flatMap((document) => unfold(document).objects));
  return { ...taken, notes: taken.notes.map(({ message }) => message) };
}

describe("intake", () => {
  it("takes what translation knows and notes the rest once per kind", () => {
    const { resources, rejected, notes } = take(`
apiVersion: v1
kind: Service
metadata: {name: a, namespace: n, clusterName: c}
---
apiVersion: example.com/v1
kind: Widget
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: b}
---
apiVersion: apps/v9
kind: Deployment
metadata: {name: b}
`);
    expect(resources.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.clusterName}`)).toEqual(["Service a c"]);
    expect(rejected).toEqual([]);
    expect(notes).toEqual([
      "ignored example.com/v1 Widget (2 objects, the first in in.yaml, document 2): translation does not use this kind",
      "ignored apps/v9 Deployment (in.yaml, document 4): the supported version of Deployment is apps/v1, not apps/v9",
    ]);
  });

  it("rejects what is of an API of ours and is not read, with what to write instead", () => {
    const of = (apiVersion: string, kind: string) => take(`apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a, namespace: n}\n`);
    const message = (apiVersion: string, kind: string) => {
      const { rejected, notes, resources } = of(apiVersion, kind);
      expect({ notes, resources }).toEqual({ notes: [], resources: [] });
      expect(rejected).toMatchObject([{ problems: [{ source: "in.yaml:1" }], code: "KindUnknown", isUsersOwn: false }]);
      return rejected[0]?.problems[0]?.message;
    };
    expect(message("networking.mesh.gloo.solo.io/v1", "TraficPolicy")).toBe(
      "TraficPolicy n/a (networking.mesh.gloo.solo.io/v1): TraficPolicy is not a kind of networking.mesh.gloo.solo.io: did you mean TrafficPolicy (networking.mesh.gloo.solo.io/v1)?",
    );
    expect(message("networking.mesh.gloo.solo.io/v1", "trafficpolicy")).toMatch(/did you mean TrafficPolicy/);
    expect(message("networking.mesh.gloo.solo.io/v1beta1", "TrafficPolicy")).toMatch(
      /the supported version of TrafficPolicy is networking.mesh.gloo.solo.io\/v1, not/,
    );
    expect(message("v1", "AccessPolicy")).toMatch(/the supported version of AccessPolicy is networking.mesh.gloo.solo.io\/v1, not v1/);
    expect(message("networking.smh.solo.io/v1alpha2", "TrafficPolicy")).toMatch(
      /before Gloo Mesh 1.0: use TrafficPolicy of networking.mesh/,
    );
    expect(message("smh.solo.io/v1", "TrafficPolicy")).toMatch(/belongs to Service Mesh Hub, before Gloo Mesh 1.0: use TrafficPolicy/);
    expect(message("networking.gloo.solo.io/v2", "RouteTable")).toMatch(/API v2.*: use TrafficPolicy/);
    expect(message("admin.gloo.solo.io/v2", "KubernetesCluster")).toMatch(
      /API v2.*: use KubernetesCluster of multicluster.solo.io\/v1alpha1/,
    );
    expect(message("networking.enterprise.mesh.gloo.solo.io/v1beta1", "VirtualGateway")).toMatch(/is not supported: use Gateway/);
    expect(message("networking.mesh.gloo.solo.io/v1alpha2", "VirtualMesh")).toMatch(/the supported version of VirtualMesh is .*\/v1, not/);
    expect(message("networking.mesh.gloo.solo.io/v1alpha2", "FailoverService")).toMatch(
      /is not supported: use VirtualDestination of .*static.destinations, in the same order, for backingServices/,
    );
    for (const group of ["networking.enterprise.mesh.gloo.solo.io/v1alpha1", "networking.smh.solo.io/v1alpha2"]) {
      expect(message(group, "FailoverService")).toMatch(
        /use VirtualDestination of .*static.destinations, in the same order, for backingServices/,
      );
    }
    expect(message("discovery.smh.solo.io/v1alpha2", "TrafficTarget")).toMatch(/is discovered as Destination/);
    expect(message("networking.gloo.solo.io/v2", "VirtualDestination")).toMatch(
      /API v2.*: use VirtualDestination of networking.enterprise.mesh.gloo.solo.io\/v1beta1/,
    );
    expect(message("admin.gloo.solo.io/v2", "Workspace")).toMatch(/API v2.*: use VirtualMesh/);
    expect(message("security.policy.gloo.solo.io/v2", "JWTPolicy")).toMatch(/API v2.*: use RequestAuthentication/);
    expect(message("trafficcontrol.policy.gloo.solo.io/v2", "RateLimitPolicy")).toMatch(/API v2.*: use EnvoyFilter/);
    expect(message("trafficcontrol.policy.gloo.solo.io/v2", "YetUnknownPolicy")).toMatch(/API v2.*: use TrafficPolicy/);
    expect(message("rbac.enterprise.mesh.gloo.solo.io/v1", "Role")).toMatch(/is not supported: use RBAC of Kubernetes/);
    expect(message("observability.policy.gloo.solo.io/v2", "AccessLogPolicy")).toMatch(/API v2.*: use AccessLogRecord/);
    expect(message("observability.enterprise.mesh.gloo.solo.io/v1", "AccessLogRecords")).toMatch(/AccessLogRecord/);
    expect(of("enterprise.gloo.solo.io/v1", "AuthConfig")).toMatchObject({ rejected: [], notes: [expect.stringMatching(/^ignored/)] });
    expect(of("gateway.example.com/v1", "TrafficPolicy")).toMatchObject({
      rejected: [],
      notes: [expect.stringMatching(/^ignored gateway/)],
    });
  });

  it("rejects what is not of its kind by object, field and line, and takes the others", () => {
    const { resources, rejected } = take(`
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: bad, namespace: n, generation: 3}
spec:
  policy:
    requestTimeout: soon
---
apiVersion: v1
kind: Service
metadata: {namespace: n}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: good, namespace: n}
spec: {}
`);
    expect(resources.map(({ metadata }) => metadata.name)).toEqual(["good"]);
    const [bad, nameless] = rejected;
    expect(bad).toMatchObject({
      ref: { kind: "TrafficPolicy", name: "bad", namespace: "n" },
      generation: 3,
      isUsersOwn: true,
      problems: [{ source: "in.yaml:7" }],
    });
    expect(bad?.problems[0]?.message).toMatch(/^TrafficPolicy n\/bad: spec.policy.requestTimeout: "soon"/);
    expect(nameless).toMatchObject({
      ref: undefined,
      isUsersOwn: false,
      problems: [{ source: "in.yaml:11", message: "Service without a name: metadata.name: is required" }],
    });
  });

  it("rejects an object with all that is wrong with it, each at the line of its field", () => {
    const { rejected } = take(
      [
        "apiVersion: networking.mesh.gloo.solo.io/v1",
        "kind: TrafficPolicy",
        "metadata: {name: t, namespace: n}",
        "spec:",
        "  policy:",
        "    requestTimeout: 5",
        "    retries:",
        "      attempts: x",
        "    mtls: {istio: {tlsMode: NO}}",
        "    requestTimout:",
        "      3",
      ].join("\n"),
    );
    expect(rejected.map(({ problems }) => problems)).toEqual([
      [
        {
          source: "in.yaml:6",
          message: 'TrafficPolicy n/t: spec.policy.requestTimeout: 5 is not a duration such as "5s", "100ms" or "1h30m"',
        },
        { source: "in.yaml:8", message: 'TrafficPolicy n/t: spec.policy.retries.attempts: must be an integer, is "x"' },
        {
          source: "in.yaml:9",
          message:
            'TrafficPolicy n/t: spec.policy.mtls.istio.tlsMode: "NO" is not one of DISABLE, SIMPLE, ISTIO_MUTUAL: did you mean DISABLE?',
        },
        { source: "in.yaml:10", message: "TrafficPolicy n/t: spec.policy.requestTimout: unknown field (did you mean requestTimeout?)" },
      ],
    ]);
  });

  it("lets the later of two equal names count, and says so", () => {
    const service = (type: string) => `apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: n}\nspec: {type: ${type}}\n`;
    const { resources, notes } = take(`${service("ClusterIP")}---\n${service("NodePort")}`);
    expect(resources).toMatchObject([{ spec: { type: "NodePort" } }]);
    expect(notes).toEqual(["duplicate Service n/a: using in.yaml:6, ignoring in.yaml:1"]);
  });

  it("lets the later count whether or not it can be used, but never one nameless object for another", () => {
    const service = (name: string, type: string) =>
      `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, namespace: n}\nspec: {type: ${type}}\n`;
    const broken = take(`${service("a", "ClusterIP")}---\n${service("a", "5")}`);
    expect(broken.resources).toEqual([]);
    expect(broken.rejected).toMatchObject([{ ref: { name: "a" }, problems: [{ source: "in.yaml:9" }] }]);
    const mended = take(`${service("a", "5")}---\n${service("a", "ClusterIP")}`);
    expect(mended.resources).toMatchObject([{ spec: { type: "ClusterIP" } }]);
    expect(mended.rejected).toEqual([]);
    expect(mended.notes).toEqual(["duplicate Service n/a: using in.yaml:6, ignoring in.yaml:1"]);
    const nameless = take(`${service("5", "ClusterIP")}---\n${service("[]", "ClusterIP")}`);
    expect(nameless.rejected.map(({ problems }) => problems[0]?.message)).toEqual([
      "Service without a name: metadata.name: must be a string, is 5",
      "Service without a name: metadata.name: must be a string, is []",
    ]);
  });

  it("takes statuses, as they are printed, for no objects: what they are about stays as it was given", () => {
    const { resources, notes } = take(`
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: p, namespace: n, clusterName: c}
spec: {policy: {requestTimeout: 5s}}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: p, namespace: n, clusterName: c}
status: {state: ACCEPTED}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: d, namespace: gloo-mesh}
status: {localFqdn: d.n.svc.cluster.local}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: live, namespace: n, uid: "1"}
status: {state: ACCEPTED}
`);
    expect(resources.map((resource) => [resource.metadata.name, "spec" in resource])).toEqual([
      ["p", true],
      ["live", false],
    ]);
    expect(notes).toEqual([
      "ignored a status without its object (in.yaml, document 3): statuses are recomputed, so add the file of its object",
    ]);
  });
});
