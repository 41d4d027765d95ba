import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createRequest, createRoot, InvalidPem, issueClientCertificate, type KeyedCertificate } from "../src/index.ts";
import { hasOpenssl, rsaAuthority } from "./rsaAuthority.ts";

const NOW = Date.now();

async function issuedBy(authority: KeyedCertificate): Promise<boolean> {
  const { request } = await createRequest("any");
  const certificate = await issueClientCertificate(authority, request, { dnsNames: ["cluster-1"], now: NOW });
  return new X509Certificate(certificate).verify(new X509Certificate(authority.certificate).publicKey);
}

describe("an authority's key", () => {
  test("of an elliptic curve may be PKCS #8 or SEC 1, with its parameters before it or not", async () => {
    const root = await createRoot({ commonName: "root", now: NOW });
    const sec1 = createPrivateKey(root.key).export({ type: "sec1", format: "pem" }).toString();
    const parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
    for (const key of [root.key, sec1, parameters + sec1]) expect(await issuedBy({ ...root, key })).toBe(true);
  });

  test.skipIf(!hasOpenssl)("of RSA may be PKCS #8 or PKCS #1", async () => {
    const root = rsaAuthority(2048);
    const pkcs1 = createPrivateKey(root.key).export({ type: "pkcs1", format: "pem" }).toString();
    expect(pkcs1).toContain("BEGIN RSA PRIVATE KEY");
    for (const key of [root.key, pkcs1]) expect(await issuedBy({ ...root, key })).toBe(true);
  });

  test("that is encrypted, of another certificate, or none, is refused with what to do", async () => {
    const root = await createRoot({ commonName: "root", now: NOW });
    const cipher = { cipher: "aes-256-cbc", passphrase: "secret" };
    const encrypted = createPrivateKey(root.key)
      .export({ type: "pkcs8", format: "pem", ...cipher })
      .toString();
    const legacy = createPrivateKey(root.key)
      .export({ type: "sec1", format: "pem", ...cipher })
      .toString();
    for (const key of [encrypted, legacy]) await expect(issuedBy({ ...root, key })).rejects.toThrow(/encrypted.*openssl pkcs8/);
    await expect(issuedBy({ ...root, key: root.certificate })).rejects.toThrow(/no private key/);
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const foreign = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    await expect(issuedBy({ ...root, key: foreign })).rejects.toThrow(InvalidPem);
  });
});
