import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "@isthmus/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubeconfigOfSecret, kubernetesCluster } from "../src/index.ts";

const directory = mkdtempSync(join(tmpdir(), "isthmus-kubeconfig-of-secret-"));
afterAll(() => rmSync(directory, { recursive: true }));

let certificate: string;
let key: string;
beforeAll(() => {
  const [keyFile, certFile] = ["key.pem", "cert.pem"].map((name) => join(directory, name));
  const subject = ["-subj", "/CN=test", "-days", "2", "-nodes"];
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", ...subject];
  execFileSync("openssl", [...args, "-keyout", keyFile ?? "", "-out", certFile ?? ""], { stdio: "ignore" });
  [certificate, key] = [certFile, keyFile].map((file) => execFileSync("base64", ["-w0", file ?? ""]).toString()) as [string, string];
});

type Fields = Readonly<Record<string, unknown>>;

function kubeconfig(cluster: Fields, user: Fields, config: Fields = {}): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    clusters: [{ name: "one", cluster: { server: "https://one.example:6443/", ...cluster } }],
    users: [{ name: "ann", user }],
    contexts: [{ name: "c", context: { cluster: "one", user: "ann", namespace: "default" } }],
    ...config,
  });
}

describe("a kubeconfig in a Secret", () => {
  it("says where the API server is, what to expect of it, and whom to be", async () => {
    const ca = { "certificate-authority-data": certificate, "tls-server-name": "inner.example" };
    const { server, credentials } = kubeconfigOfSecret(kubeconfig(ca, { token: "t.o-k_en" }));
    expect(server).toBe("https://one.example:6443");
    const pem = Buffer.from(certificate, "base64").toString();
    expect(await credentials(true)).toEqual({
      headers: { authorization: "Bearer t.o-k_en" },
      tls: { ca: pem, servername: "inner.example" },
    });
  });

  it("may hold a client certificate, and be YAML", async () => {
    const text = `apiVersion: v1
kind: Config
current-context: c
clusters:
- name: one
  cluster:
    server: https://10.0.0.1/k8s/clusters/c-1
    extensions: []
    insecure-skip-tls-verify: false
contexts:
- {name: c, context: {cluster: one, user: ann}}
- {name: other, context: {cluster: one, user: other}}
users:
- name: other
  user: {exec: {command: never-run}}
- name: ann
  user:
    client-certificate-data: ${certificate}
    client-key-data: ${key}
`;
    const { server, credentials } = kubeconfigOfSecret(text);
    expect(server).toBe("https://10.0.0.1/k8s/clusters/c-1");
    expect(Object.keys((await credentials(false)).tls)).toEqual(["cert", "key"]);
  });

  it("starts no program and reads no file, the one who asks", async () => {
    const marker = join(directory, "ran");
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "touch", args: [marker], interactiveMode: "Never" };
    expect(() => kubeconfigOfSecret(kubeconfig({}, { exec, token: "t" }))).toThrow(
      "user.exec is refused: it would run a program in the management server: remove it (supported fields: token, client-certificate-data, client-key-data)",
    );
    expect(existsSync(marker)).toBe(false);
  });

  it.each([
    ["user", "auth-provider", { name: "gcp", config: { "cmd-path": "/bin/sh" } }],
    ["user", "tokenFile", "/var/run/secrets/kubernetes.io/serviceaccount/token"],
    ["user", "client-certificate", "/tls.crt"],
    ["user", "client-key", "/tls.key"],
    ["user", "username", "bob"],
    ["user", "password", "pw"],
    ["user", "as", "system:admin"],
    ["user", "as-uid", "1"],
    ["user", "as-groups", ["system:masters"]],
    ["user", "as-user-extra", { a: ["b"] }],
    ["user", "constructor", "x"],
    ["cluster", "certificate-authority", "/etc/passwd"],
    ["cluster", "proxy-url", "http://evil.example"],
    ["cluster", "insecure-skip-tls-verify", true],
  ])("refuses %s.%s", (what, field, value) => {
    const [cluster, user] = what === "cluster" ? [{ [field]: value }, { token: "t" }] : [{}, { token: "t", [field]: value }];
    expect(() => kubeconfigOfSecret(kubeconfig(cluster, user))).toThrow(new RegExp(`^${what}\\.${field} is refused: .*remove it`));
  });

  it.each([
    ["http://one.example", "https is required"],
    ["file:///etc/passwd", "https is required"],
    ["unix:/var/run/docker.sock", "https is required"],
    ["https://169.254.169.254", "link-local"],
    ["https://2852039166", "link-local"],
    ["https://[fe80::1]", "link-local"],
    ["https://[::ffff:169.254.169.254]", "link-local"],
    ["https://[fd00:ec2::254]", "link-local"],
    ["https://ann:pw@one.example", "https://HOST"],
    ["https://one.example?a=b", "https://HOST"],
    ["one.example", "is not a URL"],
    ["//one", "is not a URL"],
  ])("refuses the server %s", (server, problem) => {
    expect(() => kubeconfigOfSecret(kubeconfig({ server }, { token: "t" }))).toThrow(problem);
  });

  it("is refused where a field is not what it must be, with the field's name, and never ends a program", () => {
    const text = (value: string) => Buffer.from(value).toString("base64");
    const pem = (label: string) => text(`-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`);
    const cases: readonly (readonly [string, string])[] = [
      [kubeconfig({}, {}), "user: has neither token"],
      [kubeconfig({}, { token: "a\r\nx-evil: 1" }), "user.token"],
      [kubeconfig({}, { token: "t".repeat(9_000) }), "user.token"],
      [kubeconfig({}, { token: 1 }), "user.token: must be a string"],
      [kubeconfig({ "tls-server-name": "a b" }, { token: "t" }), "cluster.tls-server-name"],
      [kubeconfig({ "certificate-authority-data": text("no PEM") }, { token: "t" }), "cluster.certificate-authority-data"],
      [kubeconfig({ "certificate-authority-data": pem("CERTIFICATE") }, { token: "t" }), "its certificates cannot be used"],
      [kubeconfig({ "certificate-authority-data": key }, { token: "t" }), "must contain only certificates"],
      [kubeconfig({}, { "client-certificate-data": certificate }), "must be set together"],
      [
        kubeconfig({}, { "client-certificate-data": certificate, "client-key-data": pem("PRIVATE KEY") }),
        "its certificates cannot be used",
      ],
      [kubeconfig({}, { token: "t" }, { "current-context": "x" }), "contexts: context x, which the current-context uses, not found"],
      [kubeconfig({}, { token: "t" }, { clusters: {} }), "clusters: must be a list"],
      [kubeconfig({}, { token: "t" }, { users: [null] }), "users: must be an object"],
      ["", "is not a kubeconfig"],
      ["- ".repeat(1_000), "is nested deeper than 64 levels"],
      [`# ${"x".repeat(65_536)}`, "is larger than 64 KiB"],
      ["[", "is not a kubeconfig"],
    ];
    for (const [config, problem] of cases) {
      expect(() => kubeconfigOfSecret(config)).toThrow(problem);
      expect(() => kubeconfigOfSecret(config)).toThrow(UsageError);
    }
  });

  it("is a cluster like any other", async () => {
    const config = kubeconfigOfSecret(kubeconfig({ server: "https://127.0.0.1:1" }, { token: "t" }));
    const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };
    await expect(kubernetesCluster({ name: "one", kubeconfig: config, clock, random: Math.random }).servedKinds()).rejects.toThrow(
      "cannot reach the API server https://127.0.0.1:1",
    );
  });
});
