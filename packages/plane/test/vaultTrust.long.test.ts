import { X509Certificate } from "node:crypto";
import { IssuedCertificate, Secret, VirtualMesh } from "@isthmus/api";
import { createMeshKey, createMeshRequest } from "@isthmus/certificates";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { secretOf, secretTexts } from "../src/identity/secretData.ts";
import { HttpError, type HttpRequest } from "../src/index.ts";
import { bookinfoMesh, demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { type IstiodDouble, istiodDouble } from "./istiodDouble.ts";
import { newRoot, refusal, signed, VAULT, type VaultDouble, vaultDouble } from "./vaultDouble.ts";
import { clock, quiet } from "./virtualTime.ts";

let fleet: Fleet;
let vault: VaultDouble;
let istiods: Record<string, IstiodDouble>;
const CLUSTERS = ["cluster-1", "cluster-2"] as const;
const servers = [VAULT];

beforeEach(async () => {
  fleet = demoFleet();
  vault = await vaultDouble();
  await register(fleet);
  fleet.startServer();
  istiods = {};
  for (const name of CLUSTERS) {
    await clusterOf(name).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "gloo-mesh" } });
    startAgent(name);
  }
  await quiet(10_000);
  for (const name of CLUSTERS) istiods[name] = await istiodDouble(clusterOf(name));
});
afterEach(() => fleet.stop());

describe("a VirtualMesh with Vault", () => {
  it("comes below Vault's root in three steps, renews there, and moves when Vault has another root; keys and tokens stay where they are", async () => {
    await fleet.management.create(trusting({ kubernetesAuth: { role: "istio" } }));
    await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    for (let round = 0; round < 3; round++) await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const first = vault.root.certificate;
    expect(await installed("root-cert.pem")).toEqual([first, first]);
    const ca = new X509Certificate((await installed("ca-cert.pem"))[0] ?? "");
    expect(ca.checkIssued(new X509Certificate(first))).toBe(true);
    expect(ca.subjectAltName).toBe("URI:spiffe://cluster-1.example/ns/istio-system/sa/istiod");

    const roots = () =>
      fleet
        .server()
        .certificates()
        .filter(({ use }) => use === "externalRoot");
    const ends = new Date(new X509Certificate(first).validTo).toISOString();
    expect(roots().map(({ cluster, state, notAfter, next }) => [cluster, state, notAfter, next])).toEqual(
      CLUSTERS.map((name) => [name, "VALID", ends, `replace it before it expires: in Vault ${VAULT}`]),
    );

    await change(trusting({ kubernetesAuth: { role: "istio" } }, { ttlDays: 30 }));
    await eventually(async () => expect(await daysLeft()).toEqual([30, 30]));
    expect(await installed("root-cert.pem")).toEqual([first, first]);

    vault.root = await newRoot("second");
    await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    for (let round = 0; round < 3; round++) await restartAll();
    await eventually(async () => expect(await installed("root-cert.pem")).toEqual([vault.root.certificate, vault.root.certificate]));
    expect(roots().map(({ certificate }) => certificate)).toEqual([vault.root.certificate, vault.root.certificate]);

    vault.fault = () => {
      throw new HttpError("Unreachable", "connection refused");
    };
    await eventually(() => expect(roots().every(({ next }) => next.includes("; read before, and not now: Vault"))).toBe(true));
    expect(roots().map(({ certificate, next }) => [certificate, next])).toEqual(
      CLUSTERS.map(() => [vault.root.certificate, expect.stringMatching(/cannot be reached from this cluster: connection refused/)]),
    );
    expect(statesNow()).toEqual(["FINISHED", "FINISHED"]);
    vault.fault = undefined;
    await eventually(() => expect(roots().every(({ next }) => next === `replace it before it expires: in Vault ${VAULT}`)).toBe(true));

    const { infos, warnings, steps } = fleet.log;
    const told = JSON.stringify([reported(), infos, warnings, steps, fleet.server().certificates(), fleet.management.objects()]);
    for (const secret of ["token-of-login", ...(await installed("ca-key.pem")).map((key) => key?.split("\n")[1] ?? "")]) {
      expect(secret.length).toBeGreaterThan(10);
      expect(told).not.toContain(secret);
    }
    expect(told).not.toContain('"account"');
  });

  it("says on the VirtualMesh why Vault signs nothing, with mesh, server and remedy, while the running trust stays", async () => {
    await fleet.management.create(trusting({ kubernetesAuth: { role: "istio" } }));
    for (let round = 0; round < 3; round++) await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const running = await Promise.all([installed("ca-cert.pem"), installed("root-cert.pem")]);
    const foreign = await createMeshRequest(await createMeshKey(2048), NAMES);
    const another = await newRoot("another");
    const wrong = {
      root: await signedBy(another),
      key: await signedBy(vault.root, { csr: foreign }),
    };
    const isSigning = ({ url }: HttpRequest) => url.endsWith("/sign-intermediate");
    const cases: readonly (readonly [VaultDouble["fault"], RegExp])[] = [
      [
        (request) => (isSigning(request) ? refusal(403, "permission denied") : undefined),
        /answers 403 .*permission denied: give the role or token .* a policy/,
      ],
      [(request) => (isSigning(request) ? refusal(400, "bad ttl", "bad csr") : undefined), /answers 400 .*bad ttl; bad csr: correct/],
      [
        (request) => (isSigning(request) ? refusal(503, "Vault is sealed") : undefined),
        /is sealed or not ready: Vault is sealed: unseal it/,
      ],
      [(request) => (isSigning(request) ? { status: 307, body: "" } : undefined), /redirects are not followed: name the active server/],
      [(request) => (isSigning(request) ? { status: 200, body: "<html>" } : undefined), /is none of Vault's: check vault\.server/],
      [thrown("TimedOut", "no answer within 10 s"), /does not answer: no answer within 10 s: check the server/],
      [thrown("TooLarge", "the answer is longer"), /gives no answer of Vault: the answer is longer/],
      [thrown("Untrusted", "self-signed certificate"), /does not verify: self-signed certificate: correct vault\.caBundle/],
      [certificate(wrong.root, another.certificate), /not used: it is below another root/],
      [certificate(wrong.root), /not used: it is not signed by the authorities/],
      [certificate(wrong.key), /not used: it is for another key/],
      [certificate(vault.root.certificate), /not used: its path length is not 0/],
      [withOtherIdentity, /not used: it is for the identities .*spiffe:\/\/other/],
    ];
    for (const [i, [fault, message]] of cases.entries()) {
      vault.fault = fault;
      // Other options: nothing is remembered of the case before.
      await change(trusting({ kubernetesAuth: { role: "istio" }, csrPath: `case-${i}` }, { ttlDays: 100 + i }));
      for (const name of CLUSTERS) {
        await eventually(async () => {
          const said = await saidOf(name);
          expect(said).toMatch(message);
          expect(said).toContain(`Mesh gloo-mesh/istiod-istio-system-${name}`);
          expect(said).toContain(`Vault ${VAULT}`);
        });
      }
      expect(await Promise.all([installed("ca-cert.pem"), installed("root-cert.pem")])).toEqual(running);
    }
    // It is asked again, and not at once.
    const before = vault.requests.length;
    await quiet(600_000);
    expect(vault.requests.length - before).toBeLessThan(60);
    vault.fault = undefined;
    await quiet(600_000);
    await eventually(async () => expect(await daysLeft()).toEqual([112, 112]));
  });

  it("is not left by one agent that is offered another root: all keep what they have, and say so", async () => {
    await fleet.management.create(trusting({ kubernetesAuth: { role: "istio" } }));
    for (let round = 0; round < 3; round++) await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const running = await installed("root-cert.pem");
    await fleet.stopAgent("cluster-2");
    const other = await vaultDouble();
    startAgent("cluster-2", other);
    await eventually(async () =>
      expect(await trustInForce()).toMatch(/Vault offers different roots to the agents of Mesh .*cluster-1 .* Mesh .*cluster-2/),
    );
    await quiet(120_000);
    expect(stepsNow()).toEqual(["KEEP", "KEEP"]);
    expect(await installed("root-cert.pem")).toEqual(running);
    // The first one renews as before.
    await change(trusting({ kubernetesAuth: { role: "istio" } }, { ttlDays: 30 }));
    await eventually(async () => expect((await daysLeft())[0]).toBe(30));
    expect(await installed("root-cert.pem")).toEqual(running);
  });

  it.each([
    ["a token in a Secret of its own cluster", { tokenSecretRef: { name: "vault-token", namespace: "gloo-mesh" } }, undefined],
    [
      "a token of another namespace",
      { tokenSecretRef: { name: "vault-token", namespace: "kube-system" } },
      /uses tokens of its own namespace alone/,
    ],
    [
      "another Secret of the agent",
      { tokenSecretRef: { name: "relay-identity-token-secret", namespace: "gloo-mesh" } },
      /names begin with vault-/,
    ],
    ["no login", {}, /needs a login: set kubernetesAuth\.role or tokenSecretRef/],
    [
      "a ServiceAccount",
      { kubernetesAuth: { role: "istio", serviceAccountRef: { name: "a", namespace: "b" } } },
      /serviceAccountRef and mountedSaPath are not supported/,
    ],
    [
      "a server that the agent may not call",
      { server: "https://169.254.169.254", kubernetesAuth: { role: "istio" } },
      /none of the servers that this agent may call: add it to/,
    ],
    ["a path of another kind", { caPath: "pki/../sys/raw", kubernetesAuth: { role: "istio" } }, /caPath .* is not a path in Vault/],
  ])("with %s", async (_, source, message) => {
    for (const name of CLUSTERS)
      await clusterOf(name).create(secretOf({ name: "vault-token", namespace: "gloo-mesh" }, { token: "token-of-secret" }));
    await fleet.management.create(trusting(source));
    if (message === undefined || /login|namespace|begin|supported/.test(message.source))
      for (let round = 0; round < 1; round++) await restartAll();
    if (message !== undefined) {
      await eventually(async () => expect(await saidOf("cluster-1")).toMatch(message));
      expect(JSON.stringify(vault.requests)).not.toMatch(/token-of|169\.254|sys\/raw/);
      return;
    }
    await eventually(() => expect(stepsNow()).toEqual(["REISSUE", "REISSUE"]));
    await eventually(async () => expect(await daysLeft()).toEqual([365, 365]));
    expect(JSON.stringify(reported())).not.toContain("token-of-secret");
  });
});

const NAMES = { commonName: "m", organization: "Istio", uris: ["spiffe://cluster.local/ns/istio-system/sa/istiod"] };

async function signedBy(root: VaultDouble["root"], content: Readonly<Record<string, string>> = {}): Promise<string> {
  const csr = await createMeshRequest(await createMeshKey(2048), { ...NAMES, uris: [content["uri_sans"] ?? NAMES.uris[0] ?? ""] });
  return signed(root, { csr, common_name: "m", organization: "Istio", uri_sans: NAMES.uris[0] ?? "", ttl: "2400h", ...content });
}

function certificate(text: string, issuer?: string): VaultDouble["fault"] {
  return ({ url }) => {
    if (!url.endsWith("/sign-intermediate")) return undefined;
    return { status: 200, body: JSON.stringify({ data: { certificate: text, issuing_ca: issuer ?? vault.root.certificate } }) };
  };
}

/** The right CA, and one identity more. */
const withOtherIdentity: VaultDouble["fault"] = ({ url, body = "{}" }) => {
  if (!url.endsWith("/sign-intermediate")) return undefined;
  const content = JSON.parse(body) as Readonly<Record<string, string>>;
  const uris = `${content["uri_sans"]},spiffe://other/ns/istio-system/sa/istiod`;
  return signed(vault.root, { ...content, uri_sans: uris }).then((text) => ({
    status: 200,
    body: JSON.stringify({ data: { certificate: text, issuing_ca: vault.root.certificate } }),
  }));
};

function thrown(code: HttpError["code"], message: string): VaultDouble["fault"] {
  return ({ url }) => {
    if (url.endsWith("/sign-intermediate")) throw new HttpError(code, message);
    return undefined;
  };
}

function startAgent(name: string, { http } = vault): void {
  fleet.startAgent(name, { vault: { http, servers, accountToken: async () => "account" } });
}

function trusting(source: object, options: object = {}): VirtualMesh {
  const at = { server: VAULT, caPath: "pki/root/sign-intermediate", csrPath: "pki_int/intermediate/generate/exported", ...source };
  const shared = { intermediateCertificateAuthority: { vault: at }, intermediateCertOptions: { rsaKeySizeBytes: 2048, ...options } };
  return { ...bookinfoMesh, spec: { ...bookinfoMesh.spec, mtlsConfig: { shared } } };
}

async function change(next: VirtualMesh): Promise<void> {
  const known = await fleet.management.get(VirtualMesh, { name: "bookinfo", namespace: "gloo-mesh" });
  await fleet.management.update({ ...next, metadata: { ...next.metadata, resourceVersion: known?.metadata.resourceVersion ?? "" } });
}

/** Lets time pass until `holds` does not throw. Keys take real time. */
async function eventually(holds: () => void | Promise<void>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; ; await new Promise((resolve) => setTimeout(resolve, 2))) {
    await clock.advance(200);
    try {
      return await holds();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}

const PATIENCE_MS = 60_000;

function clusterOf(name: string) {
  const cluster = fleet.clusters[name];
  if (cluster === undefined) throw new Error(`no cluster ${name}`);
  return cluster;
}

function reportOf(name: string): IssuedCertificate | undefined {
  const ref = { name: `istiod-istio-system-${name}`, namespace: "gloo-mesh", clusterName: name };
  return fleet.server().store.snapshotIn(name).of(IssuedCertificate).get(ref);
}

const reported = () => CLUSTERS.map((name) => [...fleet.server().store.snapshotIn(name).collections().values()].map((all) => [...all]));
const stepsNow = () => CLUSTERS.map((name) => reportOf(name)?.spec?.trust?.step);
const statesNow = () => CLUSTERS.map((name) => reportOf(name)?.status?.state);

/** A text of each mesh's Secret. */
function installed(key: string): Promise<readonly (string | undefined)[]> {
  return Promise.all(
    CLUSTERS.map(async (name) => {
      const secret = await clusterOf(name).get(Secret, { name: "cacerts", namespace: "istio-system" });
      return secret === undefined ? undefined : secretTexts(secret)[key];
    }),
  );
}

async function daysLeft(): Promise<readonly number[]> {
  return (await installed("ca-cert.pem")).map((pem) =>
    Math.round((Date.parse(new X509Certificate(pem ?? "").validTo) - clock.now()) / 86_400_000),
  );
}

async function saidOf(name: string): Promise<string> {
  const { meshes = {} } = (await statusOf(fleet, bookinfoMesh)) as { readonly meshes?: Readonly<Record<string, object>> };
  return JSON.stringify(Object.entries(meshes).find(([key]) => key.includes(name))?.[1] ?? {});
}

async function trustInForce(): Promise<string> {
  const { conditions = [] } = await statusOf(fleet, bookinfoMesh);
  return conditions.find(({ type }) => type === "TrustInForce")?.message ?? "";
}

/** The control planes first; the proxies once it is known that they get what is new. */
async function restartAll(): Promise<void> {
  for (const name of CLUSTERS) {
    await eventually(() => expect(reportOf(name)?.status?.isControlPlaneOutdated).toBe(true));
    await quiet(10_000);
    await istiods[name]?.restart();
    await eventually(() => expect(reportOf(name)?.status?.isControlPlaneOutdated).toBeUndefined());
    await quiet(10_000);
    await istiods[name]?.restartProxies();
  }
}
