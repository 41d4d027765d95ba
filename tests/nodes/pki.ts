import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./commands.ts";
import type { NodePlan } from "./names.ts";

interface Certificate {
  readonly name: string;
  readonly subject: string;
  readonly usage?: "serverAuth";
  readonly alternatives?: readonly string[];
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** The certificates of a cluster, as kubeadm lays them out, and a kubeconfig for each of its programs. Source: kubernetes.io/docs/setup/best-practices/certificates. */
export function makePki(plan: NodePlan): void {
  const { pki, name, address } = plan;
  mkdirSync(pki, { recursive: true });
  const file = (end: string) => join(pki, end);
  if (!existsSync(file("ca.crt"))) {
    const constraints = ["-addext", "keyUsage=critical,keyCertSign,cRLSign"];
    run([
      "openssl",
      "req",
      "-x509",
      ...KEY,
      "-keyout",
      file("ca.key"),
      "-out",
      file("ca.crt"),
      "-days",
      "30",
      "-subj",
      `/CN=${name}-ca`,
      ...constraints,
    ]);
    run(["openssl", "genrsa", "-out", file("sa.key"), "2048"]);
    run(["openssl", "rsa", "-in", file("sa.key"), "-pubout", "-out", file("sa.pub")]);
  }
  const names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "localhost", name];
  const addresses = [address, plan.apiServer, "127.0.0.1"];
  const node = `/O=system:nodes/CN=system:node:${name}`;
  const certificates: readonly Certificate[] = [
    {
      name: "apiserver",
      subject: "/CN=kube-apiserver",
      usage: "serverAuth",
      alternatives: [...names.map((one) => `DNS:${one}`), ...addresses.map((one) => `IP:${one}`)],
    },
    { name: "kubelet-server", subject: node, usage: "serverAuth", alternatives: [`DNS:${name}`, `IP:${address}`] },
    { name: "admin", subject: "/O=system:masters/CN=admin" },
    { name: "apiserver-kubelet", subject: "/O=system:masters/CN=kube-apiserver-kubelet-client" },
    { name: "front-proxy", subject: "/CN=front-proxy-client" },
    { name: "kubelet", subject: node },
    { name: "controller-manager", subject: "/CN=system:kube-controller-manager" },
    { name: "scheduler", subject: "/CN=system:kube-scheduler" },
    { name: "proxy", subject: "/CN=system:kube-proxy" },
  ];
  for (const certificate of certificates) issue(plan, certificate);
  for (const user of ["kubelet", "controller-manager", "scheduler", "proxy"]) {
    writeKubeconfig(plan, user, join(plan.state, `${user}.kubeconfig`), "https://127.0.0.1:6443");
  }
  writeKubeconfig(plan, "admin", plan.kubeconfig, `https://${address}:6443`);
}

function issue({ pki }: NodePlan, { name, subject, usage, alternatives = [] }: Certificate): void {
  const file = (end: string) => join(pki, `${name}.${end}`);
  if (existsSync(file("crt"))) return;
  const names = alternatives.length === 0 ? "" : `subjectAltName=${alternatives.join(",")}\n`;
  writeFileSync(file("ext"), `extendedKeyUsage=${usage ?? "clientAuth"}\n${names}`);
  run(["openssl", "req", "-new", ...KEY, "-keyout", file("key"), "-out", file("csr"), "-subj", subject]);
  const authority = ["-CA", join(pki, "ca.crt"), "-CAkey", join(pki, "ca.key"), "-CAcreateserial"];
  run(["openssl", "x509", "-req", "-in", file("csr"), ...authority, "-days", "30", "-out", file("crt"), "-extfile", file("ext")]);
}

function writeKubeconfig({ name, pki }: NodePlan, user: string, path: string, server: string): void {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server, "certificate-authority": join(pki, "ca.crt") } }],
    users: [{ name: `${name}-admin`, user: { "client-certificate": join(pki, `${user}.crt`), "client-key": join(pki, `${user}.key`) } }],
    contexts: [{ name, context: { cluster: name, user: `${name}-admin` } }],
  };
  writeFileSync(path, JSON.stringify(config, null, 1), { mode: 0o600 });
}
