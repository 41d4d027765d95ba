import { X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  certificateFacts,
  chainFacts,
  createAuthority,
  createRequest,
  createRoot,
  InvalidPem,
  isSignedBy,
  issueClientCertificate,
  issueServerCertificate,
  type KeyedCertificate,
  renewalTime,
} from "../src/index.ts";

const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
const MINUTE = 60_000;

let root: KeyedCertificate;
let authority: KeyedCertificate;

beforeAll(async () => {
  root = await createRoot({ commonName: "relay root", now: NOW });
  authority = await createAuthority(root, { commonName: "relay signing, second", now: NOW, lifetimeMs: 30 * DAY });
});

describe("an authority", () => {
  test("is a certificate authority below its root, as OpenSSL sees it", () => {
    const rootCertificate = new X509Certificate(root.certificate);
    const certificate = new X509Certificate(authority.certificate);
    expect(certificate.ca).toBe(true);
    expect(certificate.checkIssued(rootCertificate)).toBe(true);
    expect(certificate.verify(rootCertificate.publicKey)).toBe(true);
    expect(certificate.subject).toBe("CN=relay signing\\, second");
  });

  test("does not outlive its root", async () => {
    const shortRoot = await createRoot({ commonName: "short", now: NOW, lifetimeMs: DAY });
    const facts = certificateFacts((await createAuthority(shortRoot, { commonName: "below", now: NOW })).certificate);
    expect(facts.notAfter).toBe(NOW + DAY);
  });
});

describe("a client certificate", () => {
  test("holds the request's key and only the names that were decided", async () => {
    const { request, key } = await createRequest("cluster-of-my-own");
    const chain = await issueClientCertificate(authority, request, {
      dnsNames: ["cluster-1"],
      uris: ["spiffe://gloo-mesh/agent/cluster-1"],
      now: NOW,
    });
    const facts = certificateFacts(chain);
    expect(facts).toMatchObject({ dnsNames: ["cluster-1"], uris: ["spiffe://gloo-mesh/agent/cluster-1"], isAuthority: false });
    expect(facts.subject).toBe("CN=cluster-1");
    expect(facts.notAfter - NOW).toBe(DAY);
    expect(NOW - facts.notBefore).toBe(5 * MINUTE);
    expect(new X509Certificate(chain).checkPrivateKey((await import("node:crypto")).createPrivateKey(key))).toBe(true);
    expect(chainFacts(chain).map(({ subject }) => subject)).toEqual(["CN=cluster-1", "CN=relay signing\\, second"]);
    expect(await isSignedBy(chain, authority.certificate)).toBe(true);
    expect(await isSignedBy(chain, root.certificate)).toBe(false);
  });

  test("never lives longer than its authority", async () => {
    const { request } = await createRequest("cluster-1");
    const chain = await issueClientCertificate(authority, request, { dnsNames: ["cluster-1"], now: NOW + 29.5 * DAY });
    expect(certificateFacts(chain).notAfter).toBe(NOW + 30 * DAY);
  });

  test("is refused for a request that its own key did not sign", async () => {
    const { request } = await createRequest("cluster-1");
    const der = Buffer.from(request.split("\n").slice(1, -2).join(""), "base64");
    const last = der.length - 1;
    der.writeUInt8((der.readUInt8(last) + 1) % 256, last);
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    await expect(issueClientCertificate(authority, forged, { dnsNames: ["cluster-1"], now: NOW })).rejects.toThrow(InvalidPem);
  });

  test.each(["", "no request", authorityText()])("is refused for what is no request: %j", async (request) => {
    await expect(issueClientCertificate(authority, request, { dnsNames: ["cluster-1"], now: NOW })).rejects.toThrow(InvalidPem);
  });
});

function authorityText(): string {
  return "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
}

describe("a server certificate", () => {
  test("is good for its names and for nothing else", async () => {
    const { certificate } = await issueServerCertificate(root, {
      dnsNames: ["gloo-mesh-mgmt-server.gloo-mesh", "*.gloo-mesh.svc"],
      now: NOW,
    });
    const parsed = new X509Certificate(certificate);
    expect(parsed.checkHost("gloo-mesh-mgmt-server.gloo-mesh")).toBeDefined();
    expect(parsed.checkHost("enterprise-networking.gloo-mesh.svc")).toBeDefined();
    expect(parsed.checkHost("gloo-mesh-mgmt-server.elsewhere")).toBeUndefined();
    expect(parsed.checkIssued(new X509Certificate(root.certificate))).toBe(true);
  });

  test("cannot be signed with a key that is not the authority's", async () => {
    const mixed = { certificate: authority.certificate, key: "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n" };
    await expect(issueServerCertificate(mixed, { dnsNames: ["a"], now: NOW })).rejects.toThrow(/match its certificate|PKCS/);
  });
});

describe("renewal", () => {
  test("comes after half and before two thirds of the life", () => {
    const life = { notBefore: 1000, notAfter: 1000 + 600 };
    expect(renewalTime(life, () => 0)).toBe(1300);
    expect(renewalTime(life, () => 0.5)).toBe(1350);
    expect(renewalTime(life, () => 1)).toBe(1400);
  });
});
