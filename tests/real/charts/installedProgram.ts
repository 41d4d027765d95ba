import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Secret } from "@isthmus/api";
import type { ApiServer } from "../harness/apiServer.ts";
import { type Program, startProgram } from "../harness/childProcess.ts";
import { anyKind, clusterAt } from "../harness/clusters.ts";
import { freePorts } from "../harness/freePorts.ts";
import { tokenFor } from "../harness/serviceAccount.ts";
import { waitFor } from "../harness/waitFor.ts";
import { withMounts } from "./installedFiles.ts";
import { type Container, type ContainerVariable, podsIn } from "./rendered.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const Deployment = anyKind("apps/v1", "Deployment", "deployments");

/** An API server whose Deployments are started. */
export type InstalledServer = Pick<ApiServer, "name" | "url" | "kubeconfig">;

/** The network of a pod, where it is not this machine's. */
export interface PodNetwork {
  /** What runs a command in it. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How the API server is reached from it. */
  readonly apiServerUrl: string;
}

export interface InstalledOptions {
  readonly server: InstalledServer;
  readonly namespace: string;
  readonly deployment: string;
  /** Its program, below `apps`. */
  readonly bin: "agent/bin/agent.js" | "mgmt-server/bin/mgmt-server.js" | "ui/bin/ui.js";
  readonly pod: string;
  readonly directory: string;
  /** What cannot be as in a pod: addresses of this machine. */
  readonly here: (ports: readonly [number, number]) => readonly string[];
  /** Default: this machine's, on its loopback and with free ports. In a network of its own the program listens as in its pod. */
  readonly network?: PodNetwork;
}

export interface InstalledProgram {
  readonly program: Program;
  /** Of its two free ports, the first: what agents connect to, or browsers. */
  readonly relayAddress: string;
  readonly adminUrl: string;
}

/** A kubeconfig file with a token of a ServiceAccount, as a pod has one. */
export async function accountKubeconfig(
  server: InstalledServer,
  directory: string,
  account: { readonly name: string; readonly namespace: string; readonly apiServerUrl?: string },
): Promise<string> {
  const token = await tokenFor(server, account.name, ["https://kubernetes.default.svc"], account.namespace);
  const kubeconfig = JSON.parse(readFileSync(server.kubeconfig, "utf8")) as KubeconfigFields;
  const [{ name: user }] = kubeconfig.users;
  kubeconfig.users = [{ name: user, user: { token } }];
  kubeconfig.clusters[0].cluster.server = account.apiServerUrl ?? server.url;
  const file = join(directory, `${server.name}-${account.name}-kubeconfig`);
  writeFileSync(file, JSON.stringify(kubeconfig), { mode: 0o600 });
  return file;
}

interface KubeconfigFields {
  users: readonly [{ readonly name: string; readonly user?: { readonly token: string } }];
  readonly clusters: readonly [{ readonly cluster: { server: string } }];
}

/** Starts what a Deployment of a cluster says, as the kubelet would: its arguments, its variables, the token of its ServiceAccount. */
export async function startInstalled(options: InstalledOptions): Promise<InstalledProgram> {
  const { server, namespace, deployment, bin, pod, directory, here, network } = options;
  const cluster = clusterAt(server.kubeconfig, "");
  const found = await cluster.get(Deployment, { name: deployment, namespace });
  const [spec] = podsIn(found === undefined ? [] : [found]).map((rendered) => rendered.spec);
  const container = spec?.containers[0];
  if (spec?.serviceAccountName === undefined || container === undefined) throw new Error(`no Deployment ${namespace}/${deployment}`);
  const account = { name: spec.serviceAccountName, namespace, ...(network === undefined ? {} : { apiServerUrl: network.apiServerUrl }) };
  // A pod without the token of its ServiceAccount has none.
  const hasToken = spec.automountServiceAccountToken !== false;
  const kubeconfig = hasToken ? [`--kubeconfig=${await accountKubeconfig(server, directory, account)}`] : [];
  const [port = 0, adminPort = 0] = await freePorts(2);
  const rendered = await withMounts(spec, container, { cluster, namespace, directory: join(directory, `${pod}-volumes`) });
  // The last one of a flag wins.
  const workloadPort = bin === "agent/bin/agent.js" ? ["--workload-host=127.0.0.1", "--workload-port=0"] : [];
  const loopback = network === undefined ? ["--admin-host=127.0.0.1", `--admin-port=${adminPort}`, ...workloadPort] : [];
  const node = [process.execPath, join(root, "apps", bin), ...rendered, ...kubeconfig, ...loopback];
  const [command = "", ...args] = [...(network?.command ?? []), ...node, ...here([port, adminPort])];
  const program = startProgram({
    name: pod,
    command,
    args,
    env: { ...network?.env, ...(await variablesOf(container, options)) },
    log: join(directory, `${pod}.log`),
  });
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  return { program, relayAddress: `127.0.0.1:${port}`, adminUrl };
}

/** Waits until it serves its health, and what `path` says is good. */
export async function isServing({ program, adminUrl }: InstalledProgram, path: "/healthz" | "/readyz"): Promise<void> {
  await Promise.race([
    waitFor(`${path} of ${program.name}`, async () => (await fetch(`${adminUrl}${path}`)).ok),
    program.ended.then((code) => {
      throw new Error(`${program.name} ended with ${code}: ${program.output().slice(-2_000)}`);
    }),
  ]);
}

async function variablesOf(
  { env = [] }: Container,
  { server, namespace, pod }: InstalledOptions,
): Promise<Readonly<Record<string, string>>> {
  const cluster = clusterAt(server.kubeconfig, "");
  async function resolved({ name, value, valueFrom }: ContainerVariable): Promise<string | undefined> {
    const { fieldRef, secretKeyRef } = valueFrom ?? {};
    if (fieldRef !== undefined) return { "metadata.namespace": namespace, "metadata.name": pod }[fieldRef.fieldPath];
    if (secretKeyRef === undefined) return value;
    const encoded = (await cluster.get(Secret, { name: secretKeyRef.name, namespace }))?.data?.[secretKeyRef.key];
    // The kubelet would not start the container.
    if (encoded === undefined && secretKeyRef.optional !== true)
      throw new Error(`${name}: Secret ${secretKeyRef.name} lacks ${secretKeyRef.key}`);
    return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString();
  }
  const pairs = await Promise.all(env.map(async (variable) => [variable.name, await resolved(variable)] as const));
  return Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
}
