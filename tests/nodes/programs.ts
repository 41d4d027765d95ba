import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NodePlan } from "./names.ts";

/** Where what build.sh made is, and the project. */
export interface Built {
  readonly folder: string;
  readonly project: string;
}

/** Writes what the programs of a node are started with: a script for each, and their configurations. */
export function writePrograms(plan: NodePlan, built: Built): void {
  mkdirSync(join(plan.state, "programs"), { recursive: true });
  write(plan, "pods.conflist", JSON.stringify(podNetwork(plan)));
  write(plan, "containerd.toml", CONTAINERD);
  write(plan, "kubelet.json", JSON.stringify(kubelet(plan)));
  write(plan, "proxy.json", JSON.stringify(proxy(plan)));
  for (const [program, command] of Object.entries(commandsOf(plan, built))) {
    const path = `${join(built.folder, "bin")}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
    const lines = ["#!/bin/sh", `cd ${quoted(built.project)}`, `export PATH=${quoted(path)}`, `exec ${command.map(quoted).join(" ")}`];
    writeFileSync(join(plan.state, "programs", program), `${lines.join("\n")}\n`, { mode: 0o755 });
  }
}

function write({ state }: NodePlan, name: string, text: string): void {
  writeFileSync(join(state, name), text);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function podNetwork({ pods }: NodePlan) {
  const bridge = { type: "bridge", bridge: "cni0", isGateway: true, isDefaultGateway: true, ipMasq: false, hairpinMode: true };
  return {
    cniVersion: "0.4.0",
    name: "pods",
    plugins: [
      { ...bridge, ipam: { type: "host-local", ranges: [[{ subnet: pods }]] } },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  };
}

// Limits above the shell's own need a capability that is not everywhere.
const CONTAINERD = `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/node:1"
  restrict_oom_score_adj = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`;

function kubelet({ pki, dns, pods }: NodePlan) {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: "0.0.0.0",
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: join(pki, "ca.crt") } },
    authorization: { mode: "Webhook" },
    tlsCertFile: join(pki, "kubelet-server.crt"),
    tlsPrivateKeyFile: join(pki, "kubelet-server.key"),
    cgroupDriver: "cgroupfs",
    failCgroupV1: false,
    failSwapOn: false,
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    clusterDNS: [dns],
    clusterDomain: "cluster.local",
    resolvConf: "/etc/resolv.conf",
    podCIDR: pods,
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
    imageGCHighThresholdPercent: 100,
    maxPods: 200,
    nodeStatusUpdateFrequency: "10s",
    // Settings of the kernel are the machine's, not a node's to change.
    featureGates: { KubeletInUserNamespace: true },
  };
}

function proxy({ pods, state, name }: NodePlan) {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    clusterCIDR: pods,
    clientConnection: { kubeconfig: join(state, "proxy.kubeconfig") },
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
    hostnameOverride: name,
  };
}

function commandsOf(plan: NodePlan, built: Built): Readonly<Record<string, readonly string[]>> {
  const { name, address, state, services } = plan;
  const bin = (program: string) => join(built.folder, "bin", program);
  const pki = (file: string) => join(plan.pki, file);
  const config = (user: string) => join(state, `${user}.kubeconfig`);
  const delegated = (user: string) =>
    ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"].map((flag) => `--${flag}=${config(user)}`);
  const etcd = "http://127.0.0.1:2379";
  const peer = "http://127.0.0.1:2380";
  return {
    containerd: ["containerd", "--config", join(state, "containerd.toml")],
    etcd: [
      ...["etcd", "--name", name, "--data-dir", join(state, "etcd"), "--listen-client-urls", etcd, "--advertise-client-urls", etcd],
      ...["--listen-peer-urls", peer, "--unsafe-no-fsync", "--logger", "zap", "--log-level", "warn"],
    ],
    "kube-apiserver": [
      bin("kube-apiserver"),
      ...[`--advertise-address=${address}`, "--secure-port=6443", `--etcd-servers=${etcd}`, `--service-cluster-ip-range=${services}`],
      ...[
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        "--endpoint-reconciler-type=lease",
      ],
      ...[`--client-ca-file=${pki("ca.crt")}`, `--tls-cert-file=${pki("apiserver.crt")}`, `--tls-private-key-file=${pki("apiserver.key")}`],
      ...[`--kubelet-client-certificate=${pki("apiserver-kubelet.crt")}`, `--kubelet-client-key=${pki("apiserver-kubelet.key")}`],
      ...[`--kubelet-certificate-authority=${pki("ca.crt")}`, "--kubelet-preferred-address-types=InternalIP"],
      ...[`--service-account-key-file=${pki("sa.pub")}`, `--service-account-signing-key-file=${pki("sa.key")}`],
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      ...[`--proxy-client-cert-file=${pki("front-proxy.crt")}`, `--proxy-client-key-file=${pki("front-proxy.key")}`],
      ...[`--requestheader-client-ca-file=${pki("ca.crt")}`, "--requestheader-allowed-names=front-proxy-client"],
      ...["--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group"],
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    ],
    "kube-controller-manager": [
      bin("kube-controller-manager"),
      ...delegated("controller-manager"),
      ...[
        `--service-account-private-key-file=${pki("sa.key")}`,
        `--root-ca-file=${pki("ca.crt")}`,
        "--use-service-account-credentials=true",
      ],
      ...[
        `--cluster-signing-cert-file=${pki("ca.crt")}`,
        `--cluster-signing-key-file=${pki("ca.key")}`,
        "--leader-elect=false",
        `--cluster-name=${name}`,
      ],
    ],
    "kube-scheduler": [bin("kube-scheduler"), ...delegated("scheduler"), "--leader-elect=false"],
    kubelet: [
      ...[
        bin("kubelet"),
        `--config=${join(state, "kubelet.json")}`,
        `--kubeconfig=${config("kubelet")}`,
        `--hostname-override=${name}`,
        `--node-ip=${address}`,
      ],
      `--node-labels=topology.kubernetes.io/region=${name},topology.kubernetes.io/zone=${name}-a`,
    ],
    "kube-proxy": [bin("kube-proxy"), `--config=${join(state, "proxy.json")}`],
    cloud: [process.execPath, "tools/run.mjs", "tests/nodes/cloud/main.ts", name, join(state, "..")],
  };
}
