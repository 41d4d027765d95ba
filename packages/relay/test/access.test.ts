import { status } from "@grpc/grpc-js";
import { createRequest, createRoot, type KeyedCertificate } from "@isthmus/certificates";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { certificateOf, type RawOptions, rawConnect, rawHealth, rawRegister, rawRenew } from "./rawClient.ts";
import { type RealServer, realServer, TOKEN } from "./realRelay.ts";

const DAY = 86_400_000;
const UID = "uid-of-cluster-1";

type Caller = Pick<RawOptions, "identity" | "headers">;

let certificateRequest: string;
let callers: Readonly<Record<string, Caller>>;

/** Everybody who might call, with and without a right to. */
async function callersOf(signing: KeyedCertificate, server: KeyedCertificate): Promise<Readonly<Record<string, Caller>>> {
  const stranger = await createRoot({ commonName: "another root", now: Date.now() });
  const names = { dnsNames: ["cluster-1"], uris: ["spiffe://gloo-mesh/agent/cluster-1"], now: Date.now() };
  const good = await certificateOf(signing, names);
  return {
    nobody: {},
    "another root's agent": { identity: await certificateOf(stranger, names) },
    "an agent with an expired certificate": {
      identity: await certificateOf(signing, { ...names, now: Date.now() - 2 * DAY, lifetimeMs: DAY }),
    },
    "one with the server's own certificate": { identity: server },
    "one whose certificate names no cluster": { identity: await certificateOf(signing, { dnsNames: ["some.host"], now: Date.now() }) },
    "one whose certificate names two": {
      identity: await certificateOf(signing, {
        ...names,
        uris: ["spiffe://gloo-mesh/agent/cluster-1", "spiffe://gloo-mesh/agent/cluster-2"],
      }),
    },
    "one whose certificate contradicts itself": { identity: await certificateOf(signing, { ...names, dnsNames: ["cluster-2"] }) },
    "an agent that says it is another": { identity: good, headers: { "x-cluster-id": "cluster-2" } },
    "the agent": { identity: good, headers: { "x-cluster-id": "cluster-1" } },
  };
}

describe("with client certificates", () => {
  let server: RealServer;
  let where: Pick<RawOptions, "address" | "root">;

  beforeAll(async () => {
    server = await realServer();
    server.registrations.known.set("cluster-1", UID);
    where = { address: server.address, root: server.identity.root };
    callers = await callersOf(server.identity.signing ?? server.identity.server, server.identity.server);
    certificateRequest = (await createRequest("any")).request;
  });
  afterAll(() => server.stop());

  test.each([
    ["nobody", "UNAUTHENTICATED"],
    ["another root's agent", "UNAUTHENTICATED"],
    ["an agent with an expired certificate", "UNAUTHENTICATED"],
    ["one with the server's own certificate", "UNAUTHENTICATED"],
    ["one whose certificate names no cluster", "UNAUTHENTICATED"],
    ["one whose certificate names two", "UNAUTHENTICATED"],
    ["one whose certificate contradicts itself", "UNAUTHENTICATED"],
    ["an agent that says it is another", "PERMISSION_DENIED"],
    ["the agent", undefined],
  ] as const)("%s gets %s from Connect and Renew", async (name, expected) => {
    const options = { ...where, ...callers[name] };
    const stream = await rawConnect(options);
    const renewed = await rawRenew(options, { certificateRequest, clusterUid: UID });
    expect([stream.status?.code, renewed.status?.code]).toEqual(
      expected === undefined ? [undefined, undefined] : [status[expected], status[expected]],
    );
    expect(stream.first?.body.case).toBe(expected === undefined ? "welcome" : undefined);
    expect(renewed.response?.certificateChain !== undefined).toBe(expected === undefined);
    // Without a certificate the token opens neither.
    const withToken = await rawConnect({ ...options, headers: { ...options.headers, authorization: `Bearer ${TOKEN}` } });
    expect(withToken.status?.code).toBe(stream.status?.code);
  });

  test("Register is for who has the token, whatever certificate is shown", async () => {
    for (const [i, caller] of Object.values(callers).entries()) {
      const options = { ...where, ...caller };
      const right = await rawRegister(options, {
        token: TOKEN,
        certificateRequest,
        clusterName: `new-${i}`,
        clusterUid: `uid-of-new-${i}`,
      });
      expect(right.response?.root).toBe(server.identity.root);
      // The shared token opens new names alone.
      const known = await rawRegister(options, { token: TOKEN, certificateRequest, clusterName: "cluster-1", clusterUid: UID });
      expect(known.status?.code).toBe(status.PERMISSION_DENIED);
      expect(known.status?.details).toMatch(/meshctl cluster token create --cluster cluster-1/);
    }
    const wrong = await rawRegister(where, { token: "", certificateRequest, clusterName: "cluster-1", clusterUid: UID });
    expect(wrong.status?.code).toBe(status.UNAUTHENTICATED);
  });

  test.each([
    ["a name that another cluster has", { clusterUid: "another" }, "ALREADY_EXISTS"],
    ["a name that cannot be one", { clusterName: "*" }, "PERMISSION_DENIED"],
    ["no UID", { clusterUid: "" }, "PERMISSION_DENIED"],
    ["no certificate request", { certificateRequest: "none" }, "PERMISSION_DENIED"],
  ] as const)("Register with %s is refused, and records nothing", async (_, wrong, expected) => {
    const before = new Map(server.registrations.known);
    const request = { token: TOKEN, certificateRequest, clusterName: "cluster-1", clusterUid: UID, ...wrong };
    expect((await rawRegister(where, request)).status?.code).toBe(status[expected]);
    expect(server.registrations.known).toEqual(before);
  });

  test("Renew is refused to another cluster of the same name, and to one that is no longer registered", async () => {
    const options = { ...where, ...callers["the agent"] };
    expect((await rawRenew(options, { certificateRequest, clusterUid: "another" })).status?.code).toBe(status.ALREADY_EXISTS);
    server.registrations.known.delete("cluster-1");
    expect((await rawRenew(options, { certificateRequest, clusterUid: UID })).status?.code).toBe(status.PERMISSION_DENIED);
    server.registrations.known.set("cluster-1", UID);
  });

  test("health is open to all", async () => {
    for (const caller of Object.values(callers)) expect(await rawHealth({ ...where, ...caller }, "relay.v1.RelayService")).toBe("SERVING");
  });

  test("guessing the token is throttled, and who has a right one is let in all the same", async () => {
    const codes: (number | undefined)[] = [];
    for (let i = 0; i < 7; i++) {
      const { status: ended } = await rawRegister(where, {
        token: `guess ${i}`,
        certificateRequest,
        clusterName: "cluster-1",
        clusterUid: UID,
      });
      codes.push(ended?.code);
    }
    expect(codes.slice(0, 4)).toEqual(Array(4).fill(status.UNAUTHENTICATED));
    expect(codes.slice(5)).toEqual(Array(2).fill(status.RESOURCE_EXHAUSTED));
    const right = await rawRegister(where, { token: TOKEN, certificateRequest, clusterName: "after", clusterUid: "uid-of-after" });
    expect(right.response?.root).toBe(server.identity.root);
  });
});

describe("without client certificates (TLS setup)", () => {
  let server: RealServer;
  let where: Pick<RawOptions, "address" | "root">;
  const headers = (token: string, clusterName = "cluster-1", clusterUid = UID) => ({
    authorization: `Bearer ${token}`,
    "x-cluster-id": clusterName,
    "x-cluster-uid": clusterUid,
  });

  beforeAll(async () => {
    server = await realServer({ clientCertificates: false });
    server.registrations.known.set("taken", "another");
    where = { address: server.address, root: server.identity.root };
    callers = await callersOf(server.identity.signing ?? server.identity.server, server.identity.server);
    certificateRequest = (await createRequest("any")).request;
  });
  afterAll(() => server.stop());

  test("Connect is for who has the token on the call, and the name is still nobody else's", async () => {
    expect((await rawConnect({ ...where, headers: headers(TOKEN) })).first?.body.case).toBe("welcome");
    expect(server.registrations.known.get("cluster-1")).toBe(UID);
    expect((await rawConnect({ ...where, headers: headers(TOKEN, "taken") })).status?.code).toBe(status.ALREADY_EXISTS);
    expect((await rawConnect({ ...where, headers: headers(TOKEN, "No Name") })).status?.code).toBe(status.PERMISSION_DENIED);
    expect((await rawConnect({ ...where, headers: headers("guess") })).status?.code).toBe(status.UNAUTHENTICATED);
  });

  test("no certificate opens anything", async () => {
    for (const [name, { identity }] of Object.entries(callers).slice(0, 4).concat(Object.entries(callers).slice(-1))) {
      const options = { ...where, ...(identity === undefined ? {} : { identity }) };
      expect([name, (await rawRenew(options, { certificateRequest, clusterUid: UID })).status?.code]).toEqual([
        name,
        status.UNAUTHENTICATED,
      ]);
    }
    const { status: connected } = await rawConnect({ ...where, ...callers["the agent"] });
    expect([status.UNAUTHENTICATED, status.RESOURCE_EXHAUSTED]).toContain(connected?.code);
  });

  test("Register issues nothing", async () => {
    const { status: ended } = await rawRegister(where, { token: TOKEN, certificateRequest, clusterName: "cluster-1", clusterUid: UID });
    expect(ended?.code).toBe(status.PERMISSION_DENIED);
  });

  test("health is open", async () => {
    expect(await rawHealth(where, "")).toBe("SERVING");
  });
});
