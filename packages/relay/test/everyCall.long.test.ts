import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { createRequest, createRoot } from "@isthmus/certificates";
import { refOf } from "@isthmus/core";
import { beforeAll, describe, expect, test } from "vitest";
import { file_relay_v1_registration } from "../src/gen/relay/v1/registration_pb.ts";
import { file_relay_v1_relay } from "../src/gen/relay/v1/relay_pb.ts";
import { unitOf } from "../src/registration/certificateCheck.ts";
import { codeOf } from "./rawCall.ts";
import { certificateOf, type RawOptions, rawConnect, reflectedServices } from "./rawClient.ts";
import { type RealServer, realServer, TOKEN } from "./realRelay.ts";
import { service as serviceObject } from "./sessionFleet.ts";

const DAY = 86_400_000;
const UID = "uid-of-cluster-1";

interface Call {
  readonly service: DescService;
  readonly method: DescMethod;
}

// Every call that there is, from the services' own descriptors: who adds one finds it here, without a row.
const CALLS: readonly Call[] = [file_relay_v1_relay, file_relay_v1_registration].flatMap(({ services }) =>
  services.flatMap((service) => service.methods.map((method) => ({ service, method }))),
);

type Caller = Pick<RawOptions, "identity" | "headers">;
type Codes = Readonly<Record<string, string>>;

const HELLO = { epoch: 1n, body: { case: "hello", value: { protocolVersion: 1, instance: "raw", clusterUid: UID } } };

/** What each call says; the token, the name and the UID are the caller's choice. */
function fieldsOf(
  name: string,
  claim: { readonly token: string; readonly clusterName: string; readonly clusterUid: string; readonly certificateRequest: string },
) {
  if (name === "Connect") return HELLO;
  return name === "Renew" ? { certificateRequest: claim.certificateRequest, clusterUid: claim.clusterUid } : claim;
}

async function callersOf({ identity, registrations }: RealServer): Promise<Readonly<Record<string, Caller>>> {
  const { signing } = identity;
  if (signing === undefined) throw new Error("the server has no signing authority");
  const stranger = await createRoot({ commonName: "another root", now: Date.now() });
  const names = { dnsNames: ["cluster-1"], uris: ["spiffe://gloo-mesh/agent/cluster-1"], organizationalUnit: unitOf(UID) };
  const good = await certificateOf(signing, { ...names, now: Date.now() });
  const revoked = { dnsNames: ["cluster-3"], uris: ["spiffe://gloo-mesh/agent/cluster-3"], now: Date.now() };
  registrations.known.set("cluster-3", "uid-of-cluster-3");
  registrations.more.set("cluster-3", { revokedBefore: Math.floor(Date.now() / 1000) * 1000 });
  return {
    nobody: {},
    "another root's": { identity: await certificateOf(stranger, { ...names, now: Date.now() }) },
    expired: { identity: await certificateOf(signing, { ...names, now: Date.now() - 2 * DAY, lifetimeMs: DAY }) },
    revoked: { identity: await certificateOf(signing, revoked) },
    "of a cluster before": { identity: await certificateOf(signing, { ...names, organizationalUnit: unitOf("before"), now: Date.now() }) },
    unregistered: { identity: await certificateOf(signing, { dnsNames: ["cluster-9"], now: Date.now() }) },
    "naming another": { identity: good, headers: { "x-cluster-id": "cluster-2" } },
    good: { identity: good },
  };
}

/** Each row: who calls, and what Connect, Register with a wrong token, and Renew end with. */
const MUTUAL: readonly (readonly [string, Codes])[] = [
  ["nobody", { Connect: "UNAUTHENTICATED", Register: "UNAUTHENTICATED", Renew: "UNAUTHENTICATED" }],
  ["another root's", { Connect: "UNAUTHENTICATED", Register: "UNAUTHENTICATED", Renew: "UNAUTHENTICATED" }],
  ["expired", { Connect: "UNAUTHENTICATED", Register: "UNAUTHENTICATED", Renew: "UNAUTHENTICATED" }],
  ["revoked", { Connect: "UNAUTHENTICATED", Register: "UNAUTHENTICATED", Renew: "UNAUTHENTICATED" }],
  ["of a cluster before", { Connect: "UNAUTHENTICATED", Register: "UNAUTHENTICATED", Renew: "UNAUTHENTICATED" }],
  ["unregistered", { Connect: "PERMISSION_DENIED", Register: "UNAUTHENTICATED", Renew: "PERMISSION_DENIED" }],
  ["naming another", { Connect: "PERMISSION_DENIED", Register: "UNAUTHENTICATED", Renew: "PERMISSION_DENIED" }],
  ["good", { Connect: "OK", Register: "UNAUTHENTICATED", Renew: "OK" }],
];

describe.each([
  { setup: "mutual TLS", clientCertificates: true },
  { setup: "TLS", clientCertificates: false },
])("in the setup with $setup", ({ clientCertificates }) => {
  let certificateRequest: string;

  beforeAll(async () => {
    certificateRequest = (await createRequest("any")).request;
  });

  test.each(MUTUAL)("a caller that is %s", async (name, expected) => {
    // A server for each: wrong tokens slow down all who come from one address.
    const server = await realServer({ clientCertificates });
    try {
      server.registrations.known.set("cluster-1", UID);
      const where = { address: server.address, root: server.identity.root, ...(await callersOf(server))[name] };
      const claim = { token: "wrong", clusterName: "cluster-1", clusterUid: UID, certificateRequest };
      const before = new Map(server.registrations.known);
      const codes: Record<string, string> = {};
      for (const call of CALLS) codes[call.method.name] = await codeOf(where, call, fieldsOf(call.method.name, claim));
      // Without client certificates none of them opens anything: Renew is not offered, Register issues nothing.
      const withoutCertificates = { Connect: "UNAUTHENTICATED", Register: "PERMISSION_DENIED", Renew: "UNAUTHENTICATED" };
      expect(codes).toEqual(clientCertificates ? expected : withoutCertificates);
      expect(server.registrations.known).toEqual(before);
    } finally {
      await server.stop();
    }
  });

  test("the right token does what it is for, and no payload acts for another cluster", async () => {
    const server = await realServer({ clientCertificates });
    try {
      for (const [name, uid] of [
        ["cluster-1", UID],
        ["cluster-2", "uid-2"],
      ] as const)
        server.registrations.known.set(name, uid);
      const callers = await callersOf(server);
      const headers = { authorization: `Bearer ${TOKEN}`, "x-cluster-id": "cluster-2", "x-cluster-uid": UID };
      const claim = { token: TOKEN, clusterName: "cluster-2", clusterUid: UID, certificateRequest };
      const where = { address: server.address, root: server.identity.root };
      const codes: Record<string, string> = {};
      for (const call of CALLS) {
        const caller = clientCertificates ? { ...where, ...callers["good"] } : { ...where, headers };
        codes[call.method.name] = await codeOf(
          caller,
          call,
          fieldsOf(call.method.name, { ...claim, clusterUid: call.method.name === "Renew" ? "uid-2" : UID }),
        );
      }
      expect(codes).toEqual(
        clientCertificates
          ? { Connect: "OK", Register: "ALREADY_EXISTS", Renew: "ALREADY_EXISTS" }
          : { Connect: "ALREADY_EXISTS", Register: "PERMISSION_DENIED", Renew: "UNAUTHENTICATED" },
      );
      const own = clientCertificates
        ? { ...where, ...callers["good"] }
        : { ...where, headers: { ...headers, "x-cluster-id": "cluster-1" } };
      const foreign = serviceObject("cluster-2", "reviews");
      const { metadata } = foreign;
      const ref = { ...refOf(foreign), clusterName: metadata.clusterName ?? "" };
      const body = { ref, json: new TextEncoder().encode(JSON.stringify(foreign)) };
      const { all } = await rawConnect({ ...own, clusterUid: UID }, [
        { epoch: 1n, body: { case: "up", value: { seq: 1, kind: "/Service", start: true, upserts: [body] } } },
      ]);
      expect(all[0]?.body.case).toBe("welcome");
      expect(server.known.get("cluster-2")).toBeUndefined();
      expect(server.link.metrics().find(({ name }) => name === "relay_server_foreign_refs_total")?.value).toBe(1);
    } finally {
      await server.stop();
    }
  });

  test("reflection answers only when it is switched on, and then anybody", async () => {
    for (const reflection of [false, true]) {
      const server = await realServer({ clientCertificates, reflection });
      try {
        const services = await reflectedServices({ address: server.address, root: server.identity.root });
        expect(services).toEqual(reflection ? ["relay.v1.RegistrationService", "relay.v1.RelayService"] : "UNIMPLEMENTED");
      } finally {
        await server.stop();
      }
    }
  });
});

test("there are no other calls than these", () => {
  expect(CALLS.map(({ service, method }) => `${service.name}/${method.name}`)).toEqual([
    "RelayService/Connect",
    "RegistrationService/Register",
    "RegistrationService/Renew",
  ]);
});
