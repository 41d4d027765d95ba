import { type ExecFileException, execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyResource } from "@isthmus/core";
import { GO_ENVIRONMENT } from "../../harness/goEnvironment.ts";
import type { MeshParts } from "./describeMeshes.ts";
import { python } from "./python.ts";
import { type Stream, startStream } from "./stream.ts";
import { startTraffic, type Traffic } from "./traffic.ts";

/** Of most suites: two clusters. */
export const clusterNames = ["cluster-1", "cluster-2"] as const;
export type PairedCluster = (typeof clusterNames)[number];
/** Of suites about failover. */
export const threeClusterNames = [...clusterNames, "cluster-3"] as const;
export type ClusterName = (typeof threeClusterNames)[number];

/** Requests from a pod, through its sidecar. */
export interface RequestOptions {
  readonly from?: ClusterName;
  /** Service account of the pod that asks; the first pod of the cluster when absent. */
  readonly identity?: string;
  /** Deployment of the pod that asks, where it is not said by service account. */
  readonly deployment?: string;
  readonly host: string;
  readonly port?: number;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of requests. Default 20. */
  readonly count?: number;
  readonly concurrency?: number;
  /** Seconds. Default 10. */
  readonly timeoutSeconds?: number;
  /** Requests before those that count. Default 0. */
  readonly warmup?: number;
  /** Whether it asks as a pod without a sidecar would. Default: false. */
  readonly hasNoSidecar?: boolean;
}

/** One request among several. */
export type SingleRequest = Pick<RequestOptions, "host" | "port" | "path" | "method" | "headers">;

/** What became of requests. Keys of counts: HTTP status or `failed`; `cluster/deployment` that answered or `(none)`. */
export interface Answers {
  readonly status: Readonly<Record<string, number>>;
  readonly servers: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
  readonly latency_ms: { readonly p50?: number; readonly p99?: number };
  /** What the server saw of the last request that it answered. */
  readonly last?: { readonly path: string; readonly method: string; readonly headers: Readonly<Record<string, string>> };
}

/** What became of applied objects. */
export interface Applied {
  readonly ok: boolean;
  readonly synced: boolean;
  readonly objects: readonly { readonly cluster: string; readonly object: string; readonly ok: boolean; readonly error?: string }[];
  /** Proxies whose Envoy refused the result, with how often. */
  readonly xds_rejected: Readonly<Record<string, number>>;
}

/** Real Istio clusters with real proxies. */
export interface Testbed {
  readonly directory: string;
  readonly clusters: readonly ClusterName[];
  /** Of a cluster's API server, through the loopback. */
  kubeconfig(cluster: ClusterName | "management"): string;
  /** The network of a cluster's control plane, which its gateway reaches as a pod: what runs a command there, with these variables. */
  network(cluster: ClusterName): { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> };
  /** Of a cluster's API server, in that network. */
  kubeconfigInside(cluster: ClusterName): string;
  /** Makes these objects the ones that are applied; earlier ones that are not among them are deleted. Waits for the proxies. */
  apply(objects: Partial<Readonly<Record<ClusterName, readonly AnyResource[]>>>): Promise<Applied>;
  request(options: RequestOptions): Promise<Answers>;
  /** Requests from a pod (`cluster/deployment`), one after the other, from now until they are stopped. */
  traffic(pod: string, host: string): Traffic;
  /** Requests from the ready pods of the first client of a cluster, from now until they are stopped. */
  stream(from: ClusterName, host: string, requestsPerSecond?: number): Stream;
  /** What the proxies of pods (`cluster/deployment`) use now. */
  certificatesOf(pods: readonly string[]): Promise<Readonly<Record<string, ProxyCertificates>>>;
  /** Status line and headers of one answer, as text; header names in small letters. */
  answerHead(pod: string, curlArguments: readonly string[]): Promise<string>;
  /** Statuses of single requests that differ, all from one pod. */
  statuses(pod: string, requests: readonly SingleRequest[]): Promise<readonly number[]>;
  /** Makes a server ill, slow or well again: `{}` is well. */
  setServer(
    pod: string,
    control: { readonly status?: number; readonly delaySeconds?: number; readonly isStopped?: boolean },
  ): Promise<void>;
  /** Makes the machine of a pod refuse connections to its sidecar, or of a gateway those of other clusters, or take them again. */
  refuseConnections(pod: string, isRefusing: boolean): Promise<void>;
  /** The configuration that a proxy has, as its Envoy prints it. */
  proxyConfig(pod: string): Promise<string>;
  /** Sum of the counters of a pod's proxy whose names match a regular expression. */
  counter(pod: string, pattern: string): Promise<number>;
  /** What Istio's own analysis (`istioctl analyze`) finds in a cluster, from warnings up. */
  analyze(cluster: ClusterName): Promise<readonly AnalysisFinding[]>;
  stop(): Promise<void>;
}

/** Of one proxy. */
export interface ProxyCertificates {
  readonly leaf: { readonly issuer: string; readonly serial: string } | null;
  /** Those that signed it, nearest first. */
  readonly chain: readonly { readonly subject: string; readonly serial: string; readonly sha256: string }[];
  /** SHA-256 of each root that it trusts, hex. */
  readonly roots: readonly string[];
}

export interface AnalysisFinding {
  /** Source: istio.io/latest/docs/reference/config/analysis. */
  readonly code: string;
  readonly level: string;
  readonly message: string;
  /** Kind, namespace and name. */
  readonly origin: string;
}

export interface TestbedOptions {
  readonly parts: MeshParts;
  /** A file of the testbed's folder. Default: the one for so many clusters. */
  readonly topologyName?: string;
  /** Writes the topology file. */
  readonly topology: (ofTestbed: string, file: string) => void;
  /** Default: two. */
  readonly clusters?: readonly ClusterName[];
  /** Whether each control plane begins with a CA of its own. Default: all have one root. */
  readonly hasOwnRoots?: boolean;
  /** With an API server of its own for a management plane. Default: false. */
  readonly management?: boolean;
  /** Whether control planes and proxies take over several roots while they run. Default: false. */
  readonly isMultiRoot?: boolean;
}

const PODS_DISTURBED = "dictionary changed size during iteration";

/** Starts the clusters; about 14 s. */
export async function startTestbed(options: TestbedOptions): Promise<Testbed> {
  const { parts, topology, clusters = clusterNames, management = false, hasOwnRoots = false, isMultiRoot = false } = options;
  const { topologyName = clusters.length > 2 ? "topology-three.json" : "topology.json" } = options;
  const { components, testbed } = parts;
  const directory = mkdtempSync(join(tmpdir(), "isthmus-testbed-"));
  const program = join(testbed, "testbed.py");
  const topologyFile = join(directory, "topology.json");
  topology(join(testbed, topologyName), topologyFile);
  const state = join(directory, "state");
  const env: Readonly<Record<string, string | undefined>> = {
    ...process.env,
    // What it imports is beside the project, and stays as it is.
    PYTHONDONTWRITEBYTECODE: "1",
    ETCD: components.etcd,
    KUBE_APISERVER: writeWithGo(components.kubeApiserver, join(directory, "kube-apiserver"), isMultiRoot ? WITH_POLICIES : ""),
    PILOT_DISCOVERY: writeWithGo(components.istiod, join(directory, "pilot-discovery")),
    PILOT_AGENT: components.istioAgent,
    ENVOY: writeEnvoyInOwnGroup(components.envoy, join(directory, "envoy")),
    ISTIO_CRDS: join(components.istio, "manifests/charts/base/files/crd-all.gen.yaml"),
    ENVOY_BOOTSTRAP_TEMPLATE: join(components.istio, "tools/packaging/common/envoy_bootstrap.json"),
    TESTBED_STATE: state,
    TESTBED_TOPOLOGY: topologyFile,
    // Names of network namespaces begin with it: several test runs don't meet.
    TESTBED_PREFIX: `i${process.pid.toString(36)}`,
  };
  const run = (...args: readonly string[]) => execute(python(), [program, ...args], env);
  const clearAway = () => {
    execFileSync(python(), [program, "down"], { env, stdio: "ignore" });
    if (process.env["KEEP_REAL_FILES"] !== "1") rmSync(directory, { recursive: true, force: true });
  };
  // Nothing that we started outlives the test run, however it ends.
  process.once("exit", clearAway);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(1));

  async function stop(): Promise<void> {
    process.removeListener("exit", clearAway);
    clearAway();
  }

  const flags = [management ? ["--mgmt"] : [], hasOwnRoots ? ["--cacerts", "none"] : [], isMultiRoot ? ["--multiroot"] : []].flat();
  let { code, err } = await run("up", ...flags);
  // The testbed's threads start pods at once, and may disturb each other: then all that runs is ended, and it begins from nothing.
  for (let again = 0; again < 2 && code !== 0 && err.includes(PODS_DISTURBED); again++) {
    await run("down");
    ({ code, err } = await run("up", ...flags));
  }
  if (code !== 0) {
    await stop();
    throw new Error(`the testbed did not start: ${err.slice(-2_000)}`);
  }

  return {
    directory,
    clusters,
    kubeconfig: (cluster) => join(state, cluster, "kubeconfig-host"),
    kubeconfigInside: (cluster) => join(state, cluster, "kubeconfig"),
    network: (cluster) => ({
      command: [python(), program, "exec", cluster.replace("cluster-", "cp-"), "--"],
      env: Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("TESTBED_")) as [string, string][]),
    }),
    stop,
    async apply(objects) {
      const folders = clusters.map((cluster) => {
        const folder = join(directory, "applied", cluster);
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, "objects.json"), JSON.stringify(objects[cluster] ?? []));
        return folder;
      });
      return JSON.parse((await run("apply", ...folders)).out) as Applied;
    },
    async request(options) {
      const { out, err, code } = await run("request", ...requestArguments(options));
      if (code !== 0) throw new Error(err);
      return JSON.parse(out) as Answers;
    },
    traffic: (pod, host) => startTraffic({ host, command: [python(), program, "exec", pod, "--"], env, directory }),
    stream: (from, host, requestsPerSecond) => startStream({ from, host, requestsPerSecond, testbed, env, directory }),
    async certificatesOf(pods) {
      const { out, err, code } = await run("certs-of", ...pods);
      if (code !== 0) throw new Error(err);
      return JSON.parse(out) as Readonly<Record<string, ProxyCertificates>>;
    },
    async answerHead(pod, curlArguments) {
      const { out, err, code } = await run(
        "exec",
        pod,
        "--",
        "curl",
        "-sS",
        "-m",
        "10",
        "--retry",
        "3",
        "--retry-all-errors",
        "-o",
        "/dev/null",
        "-D",
        "-",
        ...curlArguments,
      );
      if (code !== 0) throw new Error(err);
      return out;
    },
    async statuses(pod, requests) {
      const { out, err } = await run("exec", pod, "--", "curl", ...requests.flatMap(curlArgumentsOf));
      const statuses = out.trim().split("\n").map(Number);
      if (statuses.length !== requests.length) throw new Error(`curl gave ${statuses.length} of ${requests.length} answers: ${err}`);
      return statuses;
    },
    async setServer(pod, { status, delaySeconds, isStopped }) {
      const args = [
        ...(status === undefined ? [] : ["--status", String(status)]),
        ...(delaySeconds === undefined ? [] : ["--delay", String(delaySeconds)]),
        ...(isStopped === undefined ? [] : [isStopped ? "--stop" : "--start"]),
      ];
      const { code, err } = await run("app", pod, ...(args.length === 0 ? ["--ok"] : args));
      if (code !== 0) throw new Error(err);
    },
    async refuseConnections(pod, isRefusing) {
      const { code, err } = await run("exec", pod, "--", "nft", isRefusing ? REFUSE_INBOUND : "delete table ip refuse");
      if (code !== 0) throw new Error(err);
    },
    async analyze(cluster) {
      const kubeconfig = join(state, cluster, "kubeconfig-host");
      const { out, err } = await execute(components.istioctl, ["analyze", "--kubeconfig", kubeconfig, "-A", "-o", "json"], env);
      if (!out.startsWith("[")) throw new Error(`istioctl analyze: ${err}`);
      return (JSON.parse(out) as readonly AnalysisFinding[]).filter(({ level }) => level !== "Info");
    },
    async proxyConfig(pod) {
      const { out, err, code } = await run("envoy", pod, "/config_dump");
      if (code !== 0) throw new Error(err);
      return out;
    },
    async counter(pod, pattern) {
      const { out, err, code } = await run("envoy", pod, `/stats?usedonly&filter=${pattern}`);
      if (code !== 0) throw new Error(err);
      return out.split("\n").reduce((sum, line) => sum + (Number(/: (\d+)$/.exec(line)?.[1]) || 0), 0);
    },
  };
}

function curlArgumentsOf(
  { host, port = 9080, path = "/", method = "GET", headers = {} }: SingleRequest,
  position: number,
): readonly string[] {
  return [
    ...(position === 0 ? [] : ["--next"]),
    ...["-sS", "-m", "10", "--retry", "3", "--retry-all-errors", "-o", "/dev/null", "-w", "%{http_code}\n", "-X", method],
    ...Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
    `http://${host}:${port}${path}`,
  ];
}

// Inbound traffic is redirected to the first port of the sidecar; at the second one, gateways take that of other clusters.
const REFUSE_INBOUND = [
  "add table ip refuse",
  "add chain ip refuse input { type filter hook input priority 0; }",
  "add rule ip refuse input tcp dport { 15006, 15443 } reject with tcp reset",
].join("; ");

function requestArguments(options: RequestOptions): readonly string[] {
  const { from = "cluster-1", identity, deployment, host, port = 9080, path = "/", method = "GET", headers = {} } = options;
  const { count = 20, concurrency = 1, timeoutSeconds = 10, warmup = 0 } = options;
  return [
    ...["--from", from, "--host", host, "--port", String(port), "--path", path, "--method", method, "--verbose"],
    ...["-n", String(count), "--concurrency", String(concurrency), "--timeout", String(timeoutSeconds), "--warmup", String(warmup)],
    ...(identity === undefined ? [] : ["--identity", identity]),
    ...(options.hasNoSidecar === true ? ["--bypass-sidecar"] : []),
    ...(deployment === undefined ? [] : ["--pod", deployment]),
    ...Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}:${value}`]),
  ];
}

/**
 * The testbed signals process groups; a kubelet signals the first process of a container, here Istio's agent, which then drains its
 * Envoy. An Envoy that got the signal as well would end at once, before its callers can have heard that it does.
 */
function writeEnvoyInOwnGroup(envoy: string, file: string): string {
  writeFileSync(file, `#!/bin/sh\nexec setpriv --pdeathsig KILL setsid '${envoy}' "$@"\n`, { mode: 0o755 });
  return file;
}

/** MutatingAdmissionPolicies: by one, pods of istiod show the variable that it has. */
const WITH_POLICIES = "--feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1beta1=true";

/** Writes a program that starts a program of Go with the variables of `GO_ENVIRONMENT`: the testbed gives those that it starts few of its own. */
function writeWithGo(program: string, file: string, flags = ""): string {
  const variables = Object.entries(GO_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
  writeFileSync(file, `#!/bin/sh\nexec env ${variables.join(" ")} '${program}' "$@" ${flags}\n`, { mode: 0o755 });
  return file;
}

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function execute(program: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<Run> {
  return new Promise((resolve) => {
    execFile(program, args, { env, maxBuffer: 1 << 28 }, (error: ExecFileException | null, out, err) => {
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 1, out, err });
    });
  });
}
