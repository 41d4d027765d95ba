import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { type Program, startProgram } from "./childProcess.ts";
import type { Components } from "./components.ts";
import { freePorts } from "./freePorts.ts";
import { waitFor } from "./waitFor.ts";

/** A real kube-apiserver on the loopback. */
export interface ApiServer {
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
  /** What our programs wrote or tried to write so far, but for Events, which say what insights begin and end; only with `audit`. */
  planeWrites(): readonly PlaneWrite[];
  /** What our programs were not allowed to do, be it to read; only with `audit`. Without repeats. */
  planeRefusals(): readonly string[];
  /** What our programs did and were allowed to do, as `group/resource verb`; only with `audit`. Without repeats. */
  planeVerbs(): readonly string[];
  /** How many watches of a resource (`virtualservices`) our programs have open; only with `audit`. */
  planeWatches(resource: string): number;
  /** The one that runs now. */
  readonly program: Program;
  /** Stops it if it still runs, and starts it again: the same cluster at the same address. */
  restart(): Promise<void>;
}

/** One request of our programs that was not merely to read. */
export interface PlaneWrite {
  /** `patch virtualservices bookinfo/reviews`, `patch trafficpolicies/status gloo-mesh/shift`. */
  readonly what: string;
  /** HTTP status of the answer. */
  readonly code: number;
}

export interface ApiServerOptions {
  readonly components: Components;
  readonly name: string;
  readonly directory: string;
  readonly etcdUrl: string;
  /** Keeps an audit log: metadata of every request of our programs, for tests that count reads and writes. */
  readonly audit?: boolean;
}

/** Starts an API server for the cluster `name`; its objects are kept in etcd below a prefix of that name. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  for (let tries = 1; ; tries++) {
    try {
      return await startOnFreePort(options);
    } catch (error) {
      // Somebody else took the port between our look and its start.
      if (tries === MOST_TRIES || !String(error).includes("address already in use")) throw error;
    }
  }
}

const MOST_TRIES = 3;

async function startOnFreePort(options: ApiServerOptions): Promise<ApiServer> {
  const { name } = options;
  const directory = join(options.directory, name);
  const [port = 0] = await freePorts(1);
  const url = `https://127.0.0.1:${port}`;
  const token = randomBytes(16).toString("hex");
  const files = writeFiles(directory, token);
  const start = () => run(options, { port, token, url, files });
  let program = await start();
  const server = { url, ca: readFileSync(files.certificate) };
  writeFileSync(files.kubeconfig, kubeconfigText(server, token), { mode: 0o600 });
  writeFileSync(files.planeKubeconfig, kubeconfigText(server, `plane-${token}`), { mode: 0o600 });
  return {
    name,
    url,
    kubeconfig: files.kubeconfig,
    planeKubeconfig: files.planeKubeconfig,
    strangerKubeconfig: kubeconfigText(server, `stranger-${token}`),
    serviceAccountKey: files.serviceAccountKey,
    planeWrites: () => writesIn(planeEvents(files.auditLog)),
    planeRefusals: () => refusalsIn(planeEvents(files.auditLog)),
    planeVerbs: () => verbsIn(planeEvents(files.auditLog)),
    planeWatches: (resource) => openWatches(planeEvents(files.auditLog), resource),
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

async function run({ components, name, etcdUrl, audit = false }: ApiServerOptions, { port, url, token, files }: Place): Promise<Program> {
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
      ...(audit ? [`--audit-log-path=${files.auditLog}`, `--audit-policy-file=${files.auditPolicy}`] : []),
    ],
    log: files.log,
  });
  await Promise.race([
    waitFor(`kube-apiserver ${name} (${program.log})`, () => isReady(url, files.certificate, token), { timeoutMs: 90_000 }),
    program.ended.then((code) => {
      throw new Error(`kube-apiserver ${name} ended with ${code}: ${program.output().slice(-2_000)}`);
    }),
  ]);
  return program;
}

function writeFiles(directory: string, token: string) {
  const certificates = join(directory, "certificates");
  mkdirSync(certificates, { recursive: true });
  const files = {
    certificates,
    /** Made by the API server itself, with its certificate authority. */
    certificate: join(certificates, "apiserver.crt"),
    serviceAccountKey: join(directory, "service-account.pem"),
    tokens: join(directory, "tokens.csv"),
    kubeconfig: join(directory, "kubeconfig"),
    planeKubeconfig: join(directory, "plane-kubeconfig"),
    auditPolicy: join(directory, "audit-policy.yaml"),
    auditLog: join(directory, "audit.log"),
    log: join(directory, "kube-apiserver.log"),
  };
  if (!existsSync(files.serviceAccountKey)) {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    writeFileSync(files.serviceAccountKey, privateKey.export({ type: "sec1", format: "pem" }), { mode: 0o600 });
  }
  writeFileSync(files.tokens, tokenTable(token), { mode: 0o600 });
  writeFileSync(files.auditPolicy, AUDIT_POLICY);
  return files;
}

function tokenTable(token: string): string {
  const users = [
    `${token},admin,admin,"system:masters"`,
    `plane-${token},${PLANE},${PLANE},"system:masters"`,
    `stranger-${token},stranger,stranger`,
  ];
  return `${users.join("\n")}\n`;
}

const PLANE = "plane";
/** Of our programs alone: nobody looks at what tests, controllers and the API server itself do. */
const AUDIT_POLICY = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "Metadata", users: [PLANE] },
    { level: "Metadata", userGroups: ["system:serviceaccounts:gloo-mesh"] },
    { level: "None" },
  ],
});
/** Our programs, as themselves or by an account that registration made. */
const OURS = /^(plane|system:serviceaccount:gloo-mesh:.*)$/;
const READS = new Set(["get", "list", "watch"]);
const FORBIDDEN = 403;

interface AuditEvent {
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code: number };
}

function planeEvents(auditLog: string): readonly AuditEvent[] {
  return readFileSync(auditLog, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ user }) => OURS.test(user.username));
}

function writesIn(events: readonly AuditEvent[]): readonly PlaneWrite[] {
  return events
    .filter(({ stage, verb, objectRef }) => stage === "ResponseComplete" && !READS.has(verb) && objectRef?.resource !== "events")
    .map((event) => ({ what: requestOf(event), code: event.responseStatus?.code ?? 0 }));
}

function refusalsIn(events: readonly AuditEvent[]): readonly string[] {
  return [...new Set(events.filter(({ responseStatus }) => responseStatus?.code === FORBIDDEN).map(requestOf))];
}

function verbsIn(events: readonly AuditEvent[]): readonly string[] {
  const allowed = events.filter(({ objectRef, responseStatus }) => objectRef !== undefined && responseStatus?.code !== FORBIDDEN);
  return [
    ...new Set(
      allowed.map(({ verb, objectRef: { apiGroup = "", resource, subresource } = { resource: "" } }) => {
        return `${apiGroup}/${resource}${subresource === undefined ? "" : `/${subresource}`} ${verb}`;
      }),
    ),
  ];
}

function openWatches(events: readonly AuditEvent[], resource: string): number {
  const open = new Set<string>();
  for (const { auditID, stage, verb, objectRef } of events) {
    if (verb !== "watch" || objectRef?.resource !== resource) continue;
    if (stage === "ResponseStarted") open.add(auditID);
    else open.delete(auditID);
  }
  return open.size;
}

function requestOf({ verb, objectRef }: AuditEvent): string {
  const { resource = "", subresource, namespace, name = "" } = objectRef ?? {};
  const place = `${namespace === undefined ? "" : `${namespace}/`}${name}`;
  return `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`} ${place}`;
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

function kubeconfigText({ url, ca }: { readonly url: string; readonly ca: Buffer }, token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "test", cluster: { server: url, "certificate-authority-data": ca.toString("base64") } }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  });
}
