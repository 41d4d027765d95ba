import { createRequest, issueClientCertificate } from "@isthmus/certificates";
import { describe, expect, test } from "vitest";
import { createServerIdentity, type Registrations } from "../src/index.ts";
import { clusterOfCertificate } from "../src/registration/identity.ts";
import { startRegistrar } from "../src/registration/register.ts";
import { startThrottle } from "../src/registration/throttle.ts";
import { isSameToken } from "../src/registration/token.ts";
import { recordingLog } from "./sessionFleet.ts";

describe("a token", () => {
  test("is the same or not; an empty one never is, nor is any when there is none to compare with", () => {
    expect(isSameToken("secret", "secret")).toBe(true);
    expect(isSameToken("secre", "secret")).toBe(false);
    expect(isSameToken("secret ", "secret")).toBe(false);
    expect(isSameToken("", "")).toBe(false);
    expect(isSameToken("", undefined)).toBe(false);
    expect(isSameToken("undefined", undefined)).toBe(false);
  });
});

describe("the throttle", () => {
  test("lets a few failures pass, then waits twice as long each time, up to a minute", () => {
    const throttle = startThrottle();
    const waits: number[] = [];
    let now = 0;
    for (let i = 0; i < 14; i++) {
      throttle.failed(["address 10.0.0.1"], now);
      const waitMs = throttle.waitMs(["address 10.0.0.1", "cluster a"], now);
      waits.push(waitMs);
      now += waitMs;
    }
    expect(waits).toEqual([0, 0, 0, 0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
    expect(throttle.waitMs(["cluster a"], now)).toBe(0);
    throttle.succeeded(["address 10.0.0.1"]);
    expect(throttle.waitMs(["address 10.0.0.1"], now)).toBe(0);
  });

  test("forgets after ten minutes, and never remembers more than ten thousand", () => {
    const throttle = startThrottle();
    for (let i = 0; i < 6; i++) throttle.failed(["a"], 0);
    expect(throttle.waitMs(["a"], 1)).toBeGreaterThan(0);
    expect(throttle.waitMs(["a"], 600_001)).toBe(0);
    for (let i = 0; i < 10_000; i++) throttle.failed([`other ${i}`], 1);
    expect(throttle.waitMs(["a"], 1)).toBe(0);
  });
});

describe("the cluster of a certificate", () => {
  const uri = (cluster: string) => `spiffe://gloo-mesh/agent/${cluster}`;
  test.each([
    [["cluster-1"], [uri("cluster-1")], "cluster-1"],
    [["cluster-1"], [], "cluster-1"],
    [[], [uri("cluster-1")], "cluster-1"],
    [["other", "cluster-1"], [uri("cluster-1")], "cluster-1"],
    [["cluster-1", "cluster-2"], [], undefined],
    [["cluster-2"], [uri("cluster-1")], undefined],
    [[], [uri("cluster-1"), uri("cluster-2")], undefined],
    [[], ["spiffe://elsewhere/agent/cluster-1"], undefined],
    [["gloo-mesh-mgmt-server.gloo-mesh"], [], undefined],
    [["*"], [], undefined],
    [[], [uri("cluster-1/../cluster-2")], undefined],
    [[], [], undefined],
  ])("with the names %j and %j is %s", (dnsNames, uris, expected) => {
    expect(clusterOfCertificate({ dnsNames, uris })).toBe(expected);
  });
});

const NOTHING_BEFORE: Pick<Registrations, "past" | "sharedTokenOpens" | "remember"> = {
  remember: async () => undefined,
  past: async () => ({ wasRegistered: false, others: [] }),
  sharedTokenOpens: async () => "NEW_NAMES",
};

test("a name that another replica gave away meanwhile is taken", async () => {
  const identity = await createServerIdentity({ now: Date.now() });
  let isRecorded = false;
  const find = async () => (isRecorded ? { uid: "uid-2" } : undefined);
  const registrations: Registrations = {
    find,
    lastKnown: find,
    ...NOTHING_BEFORE,
    async register() {
      isRecorded = true;
      throw new Error("Conflict: another field manager owns status.clusterUid");
    },
  };
  const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };
  const registrar = startRegistrar({ registrations, identity: () => identity, token: () => "t", clock, log: recordingLog() });
  await expect(registrar.admit({ clusterName: "one", clusterUid: "uid-1", address: "here" }, "t")).rejects.toMatchObject({
    code: "ClusterNameTaken",
  });
});

test("of two clusters that register one name at once, one gets it", async () => {
  const identity = await createServerIdentity({ now: Date.now() });
  const known = new Map<string, string>();
  const find = async (clusterName: string) => {
    await Promise.resolve();
    const uid = known.get(clusterName);
    return uid === undefined ? undefined : { uid };
  };
  const registrations: Registrations = {
    find,
    lastKnown: find,
    ...NOTHING_BEFORE,
    async register({ clusterName, clusterUid }) {
      await Promise.resolve();
      known.set(clusterName, clusterUid);
    },
  };
  const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };
  const registrar = startRegistrar({ registrations, identity: () => identity, token: () => "t", clock, log: recordingLog() });
  const { request } = await createRequest("any");
  const tries = ["uid-1", "uid-2"].map((clusterUid) =>
    registrar.register({ clusterName: "one", clusterUid, address: "here" }, "t", { request }),
  );
  const results = await Promise.allSettled(tries);
  const winner = known.get("one");
  expect(results.map(({ status }) => status)).toEqual(["uid-1", "uid-2"].map((uid) => (uid === winner ? "fulfilled" : "rejected")));
  expect(identity.signing && (await issueClientCertificate(identity.signing, request, { dnsNames: ["one"], now: Date.now() }))).toMatch(
    /BEGIN CERTIFICATE/,
  );
});
