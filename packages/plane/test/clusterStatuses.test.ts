import type { JsonObject, Resource } from "@isthmus/core";
import type { Rejection } from "@isthmus/ports";
import { describe, expect, it, test } from "vitest";
import { REVOKED_BEFORE } from "../src/identity/registrations.ts";
import { serverRoles } from "../src/roles.ts";
import { certificateValidity } from "../src/server/statuses/certificateExpiring.ts";
import { type ClusterStatusInputs, clusterLagOf, clusterStatus } from "../src/server/statuses/clusterStatuses.ts";
import type { JoinTokenValidity } from "../src/server/statuses/joinTokenExpiring.ts";
import { writeRefusals } from "../src/server/statuses/writesRefused.ts";
import type { ClusterState } from "../src/snapshots/snapshotStore.ts";

const cluster = { apiVersion: "multicluster.solo.io/v1alpha1", kind: "KubernetesCluster", metadata: { name: "a", namespace: "gloo-mesh" } };
const agent = { instance: "i", version: "1.0.0", agentNamespace: "gloo-mesh", clusterUid: "u", features: [] };
const connected: ClusterState = { phase: "synced", connected: true, agent, malformed: new Map(), isServed: true };
const away: ClusterState = { ...connected, phase: "stale", connected: false };
const since = Date.parse("2026-11-21T14:00:00Z");

function lagging(standing: Partial<ClusterStatusInputs>): JsonObject | undefined {
  return condition("Lagging", standing);
}

function condition(wanted: string, standing: Partial<ClusterStatusInputs>, object: Resource = cluster): JsonObject | undefined {
  return (statusOf(standing, object)["conditions"] as readonly JsonObject[]).find(({ type }) => type === wanted);
}

function statusOf(standing: Partial<ClusterStatusInputs>, object: Resource = cluster, agentName = "gloo-mesh-agent"): JsonObject {
  const { status } = clusterStatus(
    object,
    {
      state: undefined,
      held: 0,
      lacking: undefined,
      resumed: undefined,
      certificate: undefined,
      joinToken: undefined,
      cilium: undefined,
      trustDomains: [],
      writes: { mode: "manage", acknowledged: undefined, comparison: undefined },
      refusals: undefined,
      problem: undefined,
      isNameOpen: false,
      isExcluded: false,
      late: undefined,
      ...standing,
    },
    agentName,
  );
  return status;
}

const revoked: Resource = { ...cluster, metadata: { ...cluster.metadata, annotations: { [REVOKED_BEFORE]: "2026-11-21T14:00:00Z" } } };
const certifiedAt = (time: string): ClusterState => {
  const notBefore = Date.parse(time);
  return { ...away, agent: { ...agent, certificate: { notBefore, notAfter: notBefore + 86_400_000 } } };
};

describe("objects that were not written", () => {
  const ref = (name: string) => ({
    apiVersion: "networking.istio.io/v1",
    kind: "VirtualService",
    name,
    namespace: "shop",
    clusterName: "a",
  });
  const rejected = (name: string, code: Rejection["code"], message = "no") => ({ ref: ref(name), code, message });

  it("are reported with the first of them and about how many, whatever the order of the answer", () => {
    const many = Array.from({ length: 23 }, (_, i) => rejected(`web-${i + 10}`, "Failed", "line one\n  line two"));
    const one = writeRefusals(many);
    expect(writeRefusals([...many].reverse())).toEqual(one);
    expect(condition("WritesRefused", { refusals: one })).toMatchObject({
      status: "True",
      message: "at least 10 of the desired objects are not written: VirtualService shop/web-10: line one line two",
    });
    const single = writeRefusals([rejected("web", "Conflict")]);
    expect(condition("WritesRefused", { refusals: single })?.["message"]).toBe(
      "an object of those desired is not written: VirtualService shop/web: no",
    );
  });

  it("are none while the mode forbids writes, or deletes are on hold: other conditions say so", () => {
    expect(writeRefusals([rejected("a", "WouldChange"), rejected("b", "Held"), rejected("c", "Unconfirmed")])).toBeUndefined();
    expect(condition("WritesRefused", {})).toBeUndefined();
  });

  it("are reported in few words, whatever an agent says", () => {
    const refusals = writeRefusals([rejected("web", "Failed", "x".repeat(100_000))]);
    expect(refusals?.example.length).toBeLessThan(600);
  });
});

test.each<[string, Partial<ClusterStatusInputs>, Resource]>([
  ["REGISTERED", {}, cluster],
  ["OFFLINE", {}, { ...cluster, status: { agent: { version: "1.0.0" } } } as Resource],
  ["SYNCING", { state: { ...connected, phase: "unknown" } }, cluster],
  ["CONNECTED", { state: connected }, cluster],
  ["CONNECTED", { state: connected }, revoked],
  ["LAGGING", { state: connected, late: clusterLagOf(since, () => 3) }, cluster],
  ["OFFLINE", { state: away }, cluster],
  ["REVOKED", { state: certifiedAt("2026-11-21T13:00:00Z") }, revoked],
  // It has got another certificate since.
  ["OFFLINE", { state: certifiedAt("2026-11-21T15:00:00Z") }, revoked],
  ["UNREACHABLE", { problem: "no such host" }, cluster],
])("its state in one word: %s, case %#", (word, standing, object) => {
  expect(statusOf(standing, object)["state"]).toBe(word);
});

describe("Cilium in a cluster", () => {
  const cilium = { version: "1.18.2", clusterName: "one", enforcement: "default", l7Proxy: true, warnings: ["more is on the Mesh"] };
  const said = { version: "1.18.2", clusterName: "one", enforcement: "default", l7Proxy: true, clusterMesh: false };
  const before = { ...cluster, status: { cilium: said } } as Resource;

  it("is said in short, and no more once it is known not to be there", () => {
    expect(statusOf({ state: connected, cilium })["cilium"]).toEqual(said);
    expect(statusOf({ state: connected }, before)["cilium"]).toBeUndefined();
  });

  it("stays as it was said, while nothing has been heard of the cluster", () => {
    expect(statusOf({}, before)["cilium"]).toEqual(said);
    expect(statusOf({ state: { ...connected, phase: "unknown" } }, before)["cilium"]).toEqual(said);
  });
});

test.each<[string | undefined, Partial<ClusterStatusInputs>, string | undefined]>([
  ["observe", { writes: { mode: "freeze", acknowledged: "observe", comparison: undefined } }, undefined],
  // An agent without the feature writes all that is desired, while its connection is not refused.
  ["manage", { state: connected }, undefined],
  // Nothing has been heard since the start of this server: what was written stays.
  ["observe", {}, "observe"],
  [undefined, {}, undefined],
])("the mode that the agent acknowledged last: %s, case %#", (mode, standing, before) => {
  expect(statusOf(standing, { ...cluster, status: { mode: before } } as Resource)["mode"]).toBe(mode);
});

test("of a revoked cluster it is said that it is, and how it comes back", () => {
  expect(condition("Connected", { state: away }, revoked)).toMatchObject({
    status: "False",
    reason: "Revoked",
    message: expect.stringMatching(/before 2026-11-21T14:00:00Z are revoked.*meshctl cluster revoke a --undo/),
  });
});

test("where the agent is not connected, its log is named as its Deployment is", () => {
  const connectedOf = (agentName: string) =>
    (statusOf({ state: away }, cluster, agentName)["conditions"] as readonly JsonObject[]).find(({ type }) => type === "Connected");
  expect(connectedOf("enterprise-agent")).toMatchObject({
    status: "False",
    reason: "AgentAway",
    message: "the agent of this cluster is not connected: check the logs of enterprise-agent in the cluster",
  });
  expect(serverRoles("gloo-mesh").agentName).toBe("gloo-mesh-agent");
  expect(serverRoles("gloo-mesh", "enterprise").agentName).toBe("enterprise-agent");
});

describe("the condition CertificateExpiring of a cluster", () => {
  const notBefore = Date.parse("2026-11-21T00:00:00Z");
  const hour = 3_600_000;
  const certificate = { notBefore, notAfter: notBefore + 24 * hour };
  const certified = { ...agent, certificate };

  /** As the loop makes it, so many hours after the certificate was issued. */
  function after(hours: number): JsonObject | undefined {
    const standing = certificateValidity(certified, notBefore + hours * hour);
    return condition("CertificateExpiring", { state: { ...connected, agent: certified }, certificate: standing });
  }

  it("is false while three quarters of the lifetime have not passed", () => {
    const inTime = { status: "False", reason: "RenewedInTime", message: "the agent's certificate is valid until 2026-11-22T00:00:00.000Z" };
    expect(after(0)).toMatchObject(inTime);
    expect(after(17.99)).toMatchObject(inTime);
  });

  it("is true from then on, and says when it expires, or that it has, and where to look", () => {
    for (const [hours, reason, verb] of [
      [18, "RenewalOverdue", "expires"],
      [23.99, "RenewalOverdue", "expires"],
      [24, "Expired", "expired"],
      [48, "Expired", "expired"],
    ] as const) {
      expect(after(hours)).toMatchObject({
        status: "True",
        reason,
        message:
          `the agent's certificate ${verb} at 2026-11-22T00:00:00.000Z and was not renewed: see the agent's log; ` +
          "if it is your own certificate, replace it in Secret relay-client-tls-secret",
      });
    }
  });

  it("is absent where the agent has no certificate", () => {
    expect(certificateValidity(agent, notBefore)).toBeUndefined();
    expect(condition("CertificateExpiring", { state: connected })).toBeUndefined();
  });
});

describe("the condition JoinTokenExpiring of a cluster", () => {
  const notAfter = Date.parse("2026-11-21T15:00:00Z");
  const token = (validity: JoinTokenValidity["state"]) => ({ joinToken: { state: validity, notAfter } });
  const of = (standing: Partial<ClusterStatusInputs>, object = cluster as Resource) => condition("JoinTokenExpiring", standing, object);
  const heard = { ...cluster, status: { agent: { version: "1.0.0" } } } as Resource;

  it("says until when a token may be used, and in time that no agent has used it", () => {
    expect(of(token("VALID"))).toMatchObject({
      status: "False",
      reason: "Valid",
      message: "the join token is valid until 2026-11-21T15:00:00.000Z",
    });
    const another = "create another one (meshctl cluster token create --cluster a) and give it to the agent";
    expect(of(token("ENDS_SOON"))).toMatchObject({
      status: "True",
      reason: "EndsSoon",
      message: `the join token ends at 2026-11-21T15:00:00.000Z, and no agent has used it: start the agent before, or ${another}`,
    });
    const expired = {
      status: "True",
      reason: "Expired",
      message: `the join token expired at 2026-11-21T15:00:00.000Z, before an agent used it: ${another}`,
    };
    expect(of(token("EXPIRED"))).toMatchObject(expired);
    // Without another one its agent stays out.
    expect(of({ ...token("EXPIRED"), state: certifiedAt("2026-11-21T13:00:00Z") }, revoked)).toMatchObject(expired);
  });

  it("names one that nobody needs while it is a way in, and then nothing", () => {
    for (const [standing, object] of [
      [{ state: connected }, cluster],
      [{ state: away }, cluster],
      [{}, heard],
    ] as const) {
      expect(of({ ...token("ENDS_SOON"), ...standing }, object)).toMatchObject({ status: "False", reason: "NotUsed" });
      expect(of({ ...token("EXPIRED"), ...standing }, object)).toBeUndefined();
    }
    expect(of({})).toBeUndefined();
  });
});

describe("the condition Lagging of a cluster", () => {
  it("says since when how much waits, and for whom", () => {
    expect(lagging({ state: connected })).toMatchObject({ status: "False", reason: "UpToDate" });
    expect(lagging({ state: away })).toMatchObject({ status: "Unknown", reason: "AgentAway" });
    expect(statusOf({ state: connected, late: clusterLagOf(since, () => 234) })["lag"]).toEqual({
      since: "2026-11-21T14:00:00.000Z",
      changes: 100,
    });
    expect(statusOf({ state: connected })["lag"]).toBeUndefined();
    expect(lagging({ state: connected, late: clusterLagOf(since, () => 234) })).toMatchObject({
      status: "True",
      reason: "NotAcknowledged",
      message: expect.stringContaining(
        "at least 100 changes of the desired state since 2026-11-21T14:00:00Z wait for acknowledgement by the agent",
      ),
    });
    expect(lagging({ state: away, late: clusterLagOf(since, () => 1) })).toMatchObject({
      status: "True",
      reason: "AgentAway",
      message: expect.stringContaining("a change of the desired state since 2026-11-21T14:00:00Z waits for the agent to connect"),
    });
  });

  it("does not change with each object", () => {
    expect(clusterLagOf(since, () => 999)).toEqual(clusterLagOf(since, () => 100));
    expect(clusterLagOf(undefined, () => 999)).toBeUndefined();
  });
});

test("a KubernetesCluster says which of its fields nothing reads", () => {
  const named = (spec: object): JsonObject => statusOf({ state: connected }, { ...cluster, spec } as Resource);
  expect(named({ secretName: "kubeconfig-a", clusterDomian: "a.test" })).toMatchObject({
    warningCount: 2,
    warnings: [expect.stringContaining("spec.clusterDomian: unknown field"), expect.stringContaining("rename the Secret to a")],
  });
  expect(named({ secretName: "a", clusterDomain: "a.test", providerInfo: { eks: {} } })["warnings"]).toBeUndefined();
});

test("the trust domains of meshes are shown, and stay where no mesh is known any more", () => {
  const shown = statusOf({ trustDomains: ["east.example"] });
  expect(shown["trustDomains"]).toEqual(["east.example"]);
  const withdrawn = statusOf({ trustDomains: [] }, { ...cluster, status: shown } as Resource);
  expect(withdrawn["trustDomains"]).toEqual(["east.example"]);
  expect(statusOf({ trustDomains: ["new.example"] }, { ...cluster, status: shown } as Resource)["trustDomains"]).toEqual(["new.example"]);
  expect(statusOf({})).not.toHaveProperty("trustDomains");
});
