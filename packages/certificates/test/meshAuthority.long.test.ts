import { execFileSync } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import {
  answerProblem,
  certificateFacts,
  checkedRoot,
  createMeshKey,
  createMeshRequest,
  createMeshRoot,
  fingerprints,
  InvalidPem,
  isKeyOf,
  issueIntermediate,
  issueServerCertificate,
  type KeyedCertificate,
  type NewKey,
} from "../src/index.ts";

const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
const IDENTITY = "spiffe://cluster.local/ns/istio-system/sa/istiod";
const NAMES = { commonName: "istiod-istio-system-cluster-1", organization: "Istio", uris: [IDENTITY] };
const ROOT = { commonName: "gloo-mesh root of vm.gloo-mesh", organization: "gloo-mesh", lifetimeMs: 365 * DAY, now: NOW };

let key: string;
let request: string;

beforeAll(async () => {
  key = await createMeshKey(2048);
  request = await createMeshRequest(key, NAMES);
});

describe.each<NewKey>(["P-256", 2048])("an intermediate under a root with a key of type %s", (kind) => {
  let root: KeyedCertificate;
  let intermediate: string;
  beforeAll(async () => {
    root = await createMeshRoot(ROOT, kind);
    intermediate = await issueIntermediate(root, request, { ...NAMES, lifetimeMs: 30 * DAY, now: NOW });
  });

  test("is what OpenSSL accepts as a CA below that root, and as no CA below another", async () => {
    const other = await createMeshRoot(ROOT, "P-256");
    expect(opensslVerifies(intermediate, root.certificate)).toBe(true);
    expect(opensslVerifies(intermediate, other.certificate)).toBe(false);
    const certificate = new X509Certificate(intermediate);
    expect(certificate.checkIssued(new X509Certificate(root.certificate))).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
  });

  test("is a CA for workloads alone, with the identity of its mesh", () => {
    const text = openssl(["x509", "-noout", "-text"], intermediate);
    expect(text).toContain("CA:TRUE, pathlen:0");
    expect(text).toMatch(/X509v3 Key Usage: critical\s+Certificate Sign, CRL Sign/);
    expect(text).toContain(`URI:${IDENTITY}`);
    expect(text).toMatch(/Subject: CN ?= ?istiod-istio-system-cluster-1, O ?= ?Istio/);
    const { serialNumber } = new X509Certificate(intermediate);
    // Positive, and of 20 octets at most: RFC 5280 §4.1.2.2.
    expect(serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
  });

  test("counts from an hour before it was made, and is not installed where it is not valid yet", async () => {
    const [signer = ""] = await fingerprints(root.certificate);
    const problemAt = (now: number) => answerProblem({ certificate: intermediate, root: root.certificate }, { request, key, signer, now });
    const hour = 3_600_000;
    expect(await problemAt(NOW - hour)).toBe(undefined);
    expect(await problemAt(NOW - 2 * hour)).toMatch(
      /^it is not valid before 2025-12-31T22:55:00Z, and the clock of its cluster says 2025-12-31T22:00:00Z/,
    );
  });

  test("may sign workloads, and no CA that OpenSSL would accept", async () => {
    const authority = { certificate: intermediate, key };
    const workload = await issueServerCertificate(authority, { dnsNames: ["reviews"], now: NOW, lifetimeMs: DAY });
    expect(opensslVerifies(workload.certificate, root.certificate, intermediate)).toBe(true);
    const below = await issueIntermediate(authority, request, { ...NAMES, lifetimeMs: DAY, now: NOW });
    expect(opensslVerifies(below, root.certificate, intermediate)).toBe(false);
  });

  test("does not outlive its root", async () => {
    const long = await issueIntermediate(root, request, { ...NAMES, lifetimeMs: 1000 * DAY, now: NOW });
    expect(certificateFacts(long).notAfter).toBe(NOW + 365 * DAY);
  });

  test("is not issued for the identity of another mesh", async () => {
    const foreign = await createMeshRequest(key, { ...NAMES, uris: [IDENTITY, "spiffe://other/ns/istio-system/sa/istiod"] });
    const issued = issueIntermediate(root, foreign, { ...NAMES, lifetimeMs: DAY, now: NOW });
    await expect(issued).rejects.toThrow(InvalidPem);
    await expect(issued).rejects.toThrow(/asks for the identity spiffe:\/\/other\//);
  });
});

describe("the root in a Secret", () => {
  let root: KeyedCertificate;
  beforeAll(async () => {
    root = await createMeshRoot(ROOT, 2048);
  });
  const secretOf = ({ certificate, key }: KeyedCertificate) => ({ "root-cert.pem": certificate, "key.pem": key });
  const problemOf = async (data: Readonly<Record<string, string>>, now = NOW) => {
    const checked = await checkedRoot(data, now);
    return "problem" in checked ? checked.problem : undefined;
  };

  test("is used when it is one, with its key", async () => {
    expect(await problemOf(secretOf(root))).toBeUndefined();
    expect(await isKeyOf(root)).toBe(true);
  });

  test("is not used without its key, with another key, expired, not valid yet", async () => {
    const other = await createMeshRoot(ROOT, 2048);
    const curve = await createMeshRoot(ROOT, "P-256");
    expect(await problemOf({})).toMatch(/^root-cert\.pem is missing/);
    expect(await problemOf({ "root-cert.pem": root.certificate })).toMatch(/^key\.pem is missing/);
    expect(await problemOf(secretOf({ ...root, key: other.key }))).toMatch(/^key\.pem is not the private key of root-cert\.pem/);
    expect(await problemOf(secretOf({ ...root, key: curve.key }))).toMatch(/^key\.pem cannot be used: .*does not match/);
    expect(await problemOf(secretOf({ ...root, key: root.certificate }))).toMatch(/^key\.pem cannot be used/);
    expect(await problemOf(secretOf({ ...root, certificate: "nothing" }))).toMatch(/^root-cert\.pem cannot be used/);
    expect(await problemOf(secretOf(root), NOW + 366 * DAY)).toMatch(/^root-cert\.pem expired at 2027-01-01/);
    expect(await problemOf(secretOf(root), NOW - DAY)).toMatch(/^root-cert\.pem is not valid before/);
    expect(await problemOf(secretOf({ ...root, certificate: root.certificate + other.certificate }))).toMatch(/contains 2 certificates/);
  });

  test("is not used when it is no CA, or permits none below it, or is not self-signed", async () => {
    const leaf = await issueServerCertificate(root, { dnsNames: ["leaf"], now: NOW });
    expect(await problemOf(secretOf(leaf))).toMatch(/is not a CA certificate/);
    const intermediate = { certificate: await issueIntermediate(root, request, { ...NAMES, lifetimeMs: DAY, now: NOW }), key };
    expect(await problemOf(secretOf(intermediate))).toMatch(/path length of 0/);
    expect(await problemOf(opensslRoot("basicConstraints=critical,CA:TRUE", "keyUsage=digitalSignature"), Date.now() + 60_000)).toMatch(
      /keyCertSign is missing/,
    );
    expect(
      await problemOf(opensslRoot("basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=keyCertSign"), Date.now() + 60_000),
    ).toMatch(/path length of 0/);
    expect(await problemOf(opensslIntermediate(root), Date.now() + 60_000)).toMatch(/is not self-signed/);
    expect(await problemOf(opensslRoot("basicConstraints=critical,CA:TRUE", "keyUsage=keyCertSign"), Date.now() + 60_000)).toBeUndefined();
  });
});

/** Of a kind that is made at once. */
const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** A CA below another one, under which there may be more. */
function opensslIntermediate({ certificate, key }: KeyedCertificate): Readonly<Record<string, string>> {
  return inDirectory((directory) => {
    const path = (name: string, text?: string) => {
      const file = join(directory, name);
      if (text !== undefined) writeFileSync(file, text);
      return file;
    };
    const keyFile = path("key");
    const request = path("request");
    run(["req", "-new", ...NEW_KEY, "-subj", "/O=below", "-keyout", keyFile, "-out", request, "-config", configIn(directory)]);
    const extensions = path("extensions", "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n");
    const authority = ["-CA", path("ca", certificate), "-CAkey", path("caKey", key), "-CAcreateserial"];
    const issued = run(["x509", "-req", "-in", request, ...authority, "-days", "30", "-extfile", extensions]);
    return { "root-cert.pem": issued, "key.pem": run(["pkey", "-in", keyFile]) };
  });
}

/** A root as users make it. */
function opensslRoot(...extensions: readonly string[]): Readonly<Record<string, string>> {
  return inDirectory((directory) => {
    const [keyFile, file] = [join(directory, "key"), join(directory, "root")];
    const given = extensions.flatMap((extension) => ["-addext", extension]);
    const request = ["req", "-x509", ...NEW_KEY, "-subj", "/O=acme", "-keyout", keyFile, "-out", file];
    run([...request, "-config", configIn(directory), "-days", "30", ...given]);
    return { "root-cert.pem": run(["x509", "-in", file]), "key.pem": run(["pkey", "-in", keyFile]) };
  });
}

function configIn(directory: string): string {
  const file = join(directory, "config");
  writeFileSync(file, "[req]\ndistinguished_name=name\n[name]\n");
  return file;
}

function opensslVerifies(certificate: string, root: string, intermediate?: string): boolean {
  return inDirectory((directory) => {
    const files = { certificate, root, intermediate };
    const path = (name: keyof typeof files) => join(directory, name);
    for (const [name, text] of Object.entries(files)) if (text !== undefined) writeFileSync(join(directory, name), text);
    const untrusted = intermediate === undefined ? [] : ["-untrusted", path("intermediate")];
    const arguments_ = [
      "verify",
      "-x509_strict",
      "-attime",
      String(NOW / 1000 + 60),
      "-CAfile",
      path("root"),
      ...untrusted,
      path("certificate"),
    ];
    try {
      run(arguments_);
      return true;
    } catch {
      return false;
    }
  });
}

function openssl(arguments_: readonly string[], input: string): string {
  return inDirectory((directory) => {
    const file = join(directory, "input");
    writeFileSync(file, input);
    return run([...arguments_, "-in", file]);
  });
}

function run(arguments_: readonly string[]): string {
  return execFileSync("openssl", arguments_, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function inDirectory<T>(work: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-openssl-"));
  try {
    return work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
