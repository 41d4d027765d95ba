import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { AUDIT_POLICY, PLANE, type PlaneAudit, planeAudit } from "./auditLog.ts";
import { type Program, startProgram } from "./childProcess.ts";
import type { Components } from "./components.ts";
import { freePorts } from "./freePorts.ts";
import { GO_ENVIRONMENT } from "./goEnvironment.ts";
import { waitFor } from "./waitFor.ts";

/** A real kube-apiserver on the loopback. */
export interface ApiServer extends PlaneAudit {
  readonly name: string;
  readonly url: string;
  /** Path of a kubeconfig of an administrator. */
  readonly kubeconfig: string;
  /** The same for our programs, so that the audit log tells what they did. */
  readonly planeKubeconfig: string;
  /** A kubeconfig, as text, of a user without any rights. */
  readonly strangerKubeconfig: string;
  /** The private key with which tokens of ServiceAccounts are signed, as a file. */
  readonly serviceAccountKey: string;
}

/** One whose process belongs to the suite. */
export interface OwnApiServer extends ApiServer {
  /** The one that runs now. */
  readonly program: Program;
  /** Stops it if it still runs, and starts it again: the same cluster at the same address. */
  restart(): Promise<void>;
}

/** How a running API server is reached, and what is read of it. Goes from the process that started it to those that use it, as JSON. */
export interface ApiServerAccess {
  readonly url: string;
  /** The certificate of its authority, PEM. */
  readonly ca: string;
  readonly tokens: { readonly admin: string; readonly plane: string; readonly stranger: string };
  /** Paths. */
  readonly serviceAccountKey: string;
  readonly auditLog: string;
  readonly log: string;
}

export interface ApiServerOptions {
  readonly components: Components;
  readonly name: string;
  readonly directory: string;
  readonly etcdUrl: string;
}

/** Starts an API server for the cluster `name`; its objects are kept in etcd below a prefix of that name. */
export async function startApiServer(options: ApiServerOptions): Promise<OwnApiServer & { readonly access: ApiServerAccess }> {
  for (let tries = 1; ; tries++) {
    try {
      return await startOnFreePort(options);
    } catch (error) {
      // Somebody else took the port between our look and its start.
      if (tries === MOST_TRIES || !String(error).includes("address already in use")) throw error;
    }
  }
}

/**
 * An API server that runs already, as the cluster `name`: its kubeconfigs are written into `directory`, which exists. Of its audit log counts what
 * comes after `from`, in bytes, about requests that it received after `since`, in milliseconds since 1970.
 */
export function apiServerAt(
  { url, ca, tokens, serviceAccountKey, auditLog }: ApiServerAccess,
  {
    name,
    directory,
    from = 0,
    since = 0,
  }: { readonly name: string; readonly directory: string; readonly from?: number; readonly since?: number },
): ApiServer {
  const kubeconfig = join(directory, "kubeconfig");
  const planeKubeconfig = join(directory, "plane-kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText({ url, ca }, tokens.admin), { mode: 0o600 });
  writeFileSync(planeKubeconfig, kubeconfigText({ url, ca }, tokens.plane), { mode: 0o600 });
  return {
    name,
    url,
    kubeconfig,
    planeKubeconfig,
    strangerKubeconfig: kubeconfigText({ url, ca }, tokens.stranger),
    serviceAccountKey,
    ...planeAudit({ path: auditLog, from, since }),
  };
}

const MOST_TRIES = 3;

async function startOnFreePort(options: ApiServerOptions): Promise<OwnApiServer & { readonly access: ApiServerAccess }> {
  const { name } = options;
  const directory = join(options.directory, name);
  const [port = 0] = await freePorts(1);
  const url = `https://127.0.0.1:${port}`;
  const token = randomBytes(16).toString("hex");
  const tokens = { admin: token, plane: `plane-${token}`, stranger: `stranger-${token}` };
  const files = writeFiles(directory, tokens);
  const start = () => run(options, { port, token, url, files });
  let program = await start();
  const { serviceAccountKey, auditLog, log } = files;
  const access = { url, ca: readFileSync(files.certificate, "utf8"), tokens, serviceAccountKey, auditLog, log };
  return {
    ...apiServerAt(access, { name, directory }),
    access,
    get program() {
      return program;
    },
    async restart() {
      await program.stop();
      program = await start();
    },
  };
}

interface Place {
  readonly port: number;
  readonly url: string;
  readonly token: string;
  readonly files: ReturnType<typeof writeFiles>;
}

async function run({ components, name, etcdUrl }: ApiServerOptions, { port, url, token, files }: Place): Promise<Program> {
  const program = startProgram({
    name: `kube-apiserver ${name}`,
    command: components.kubeApiserver,
    args: [
      `--etcd-servers=${etcdUrl}`,
      `--etcd-prefix=/${name}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${files.certificates}`,
      `--service-account-key-file=${files.serviceAccountKey}`,
      `--service-account-signing-key-file=${files.serviceAccountKey}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--token-auth-file=${files.tokens}`,
      "--authorization-mode=RBAC",
      "--service-cluster-ip-range=10.96.0.0/16",
      "--disable-admission-plugins=ServiceAccount",
      "--endpoint-reconciler-type=none",
      // etcd 3.4 cannot serve what this asks of it.
      "--feature-gates=SizeBasedListCostEstimate=false",
      `--audit-log-path=${files.auditLog}`,
      `--audit-policy-file=${files.auditPolicy}`,
      // MB. What a tenant reads begins at a position of one file.
      "--audit-log-maxsize=10000",
    ],
    log: files.log,
    env: GO_ENVIRONMENT,
  });
  await Promise.race([
    waitFor(`kube-apiserver ${name} (${program.log})`, () => isReady(url, files.certificate, token), { timeoutMs: 90_000 }),
    program.ended.then((code) => {
      throw new Error(`kube-apiserver ${name} ended with ${code}: ${program.output().slice(-2_000)}`);
    }),
  ]);
  return program;
}

function writeFiles(directory: string, tokens: ApiServerAccess["tokens"]) {
  const certificates = join(directory, "certificates");
  mkdirSync(certificates, { recursive: true });
  const files = {
    certificates,
    /** Made by the API server itself, with its certificate authority. */
    certificate: join(certificates, "apiserver.crt"),
    serviceAccountKey: join(directory, "service-account.pem"),
    tokens: join(directory, "tokens.csv"),
    auditPolicy: join(directory, "audit-policy.yaml"),
    auditLog: join(directory, "audit.log"),
    log: join(directory, "kube-apiserver.log"),
  };
  if (!existsSync(files.serviceAccountKey)) {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    writeFileSync(files.serviceAccountKey, privateKey.export({ type: "sec1", format: "pem" }), { mode: 0o600 });
  }
  writeFileSync(files.tokens, tokenTable(tokens), { mode: 0o600 });
  writeFileSync(files.auditPolicy, AUDIT_POLICY);
  // The API server makes it with the first request that it logs.
  writeFileSync(files.auditLog, "", { flag: "a" });
  return files;
}

function tokenTable({ admin, plane, stranger }: ApiServerAccess["tokens"]): string {
  const users = [`${admin},admin,admin,"system:masters"`, `${plane},${PLANE},${PLANE},"system:masters"`, `${stranger},stranger,stranger`];
  return `${users.join("\n")}\n`;
}

/**
 * Whether it serves, and has made what it makes of itself: its Service comes last, some time after it calls itself ready,
 * and a test that looks at all objects before and after a command would find it among the new ones.
 */
async function isReady(url: string, certificate: string, token: string): Promise<true | undefined> {
  if (!existsSync(certificate)) return undefined;
  const ca = readFileSync(certificate);
  for (const path of ["/readyz", "/api/v1/namespaces/default/services/kubernetes"]) {
    if ((await statusOf(`${url}${path}`, { ca, token })) !== 200) return undefined;
  }
  return true;
}

function statusOf(url: string, { ca, token }: { readonly ca: Buffer; readonly token: string }): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { ca, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

function kubeconfigText({ url, ca }: { readonly url: string; readonly ca: string }, token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server: url, "certificate-authority-data": btoa(ca) } }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  });
}
