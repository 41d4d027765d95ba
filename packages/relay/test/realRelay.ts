import type { Clock } from "@isthmus/core";
import {
  type CredentialStore,
  createServerIdentity,
  type GrpcServer,
  grpcConnector,
  type JoinTokens,
  type Registered,
  type Registrations,
  type RelayCredentials,
  type ServerIdentity,
  startGrpcServer,
} from "../src/index.ts";
import { recordingLog, type TestAgent, type TestAgentOptions, type TestServer, testAgent, testServer } from "./sessionFleet.ts";

const realClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const aborted = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", aborted);
        resolve();
      }, ms);
      signal?.addEventListener("abort", aborted, { once: true });
    }),
};

/** An agent by this clock retries at once what it would wait seconds for. */
export const hasty: Clock = { ...realClock, sleep: (ms, signal) => realClock.sleep(ms / 50, signal) };

export const TOKEN = "correct horse battery staple";

/** Registrations in memory. */
export function registrationsOf(known: Map<string, string> = new Map()): Registrations & {
  readonly known: Map<string, string>;
  /** What else is recorded of a cluster. */
  readonly more: Map<string, Omit<Registered, "uid">>;
} {
  const more = new Map<string, Omit<Registered, "uid">>();
  const find = async (clusterName: string) => {
    const uid = known.get(clusterName);
    return uid === undefined ? undefined : { uid, ...more.get(clusterName) };
  };
  return {
    known,
    more,
    find,
    lastKnown: find,
    async past(clusterName, clusterUid) {
      const others = [...known].filter(([name, uid]) => name !== clusterName && uid === clusterUid);
      return { wasRegistered: known.has(clusterName), others: others.map(([name]) => ({ name, isRegistered: true })) };
    },
    sharedTokenOpens: async () => "NEW_NAMES",
    remember: async () => undefined,
    async register({ clusterName, clusterUid, key }) {
      known.set(clusterName, clusterUid);
      if (key !== undefined) more.set(clusterName, { ...more.get(clusterName), key });
    },
  };
}

export function credentialsIn(initial?: RelayCredentials): CredentialStore & { current: RelayCredentials | undefined; saves: number } {
  return {
    current: initial,
    saves: 0,
    async load() {
      return this.current;
    },
    async save(credentials) {
      this.current = credentials;
      this.saves++;
    },
  };
}

export interface RealServer extends TestServer {
  readonly grpc: GrpcServer;
  readonly identity: ServerIdentity;
  readonly registrations: ReturnType<typeof registrationsOf>;
  readonly grpcLog: ReturnType<typeof recordingLog>;
  readonly address: string;
}

export interface RealServerOptions {
  readonly identity?: ServerIdentity;
  readonly registrations?: ReturnType<typeof registrationsOf>;
  readonly port?: number;
  readonly clientCertificates?: boolean;
  readonly agentCertificateLifetimeMs?: () => number;
  readonly heartbeatMs?: number;
  readonly token?: string;
  readonly joinTokens?: JoinTokens;
  readonly reflection?: boolean;
}

export async function realServer(options: RealServerOptions = {}): Promise<RealServer> {
  const {
    identity = await createServerIdentity({ now: Date.now() }),
    registrations = registrationsOf(),
    port = 0,
    heartbeatMs,
    token = TOKEN,
    ...rest
  } = options;
  const server = testServer({ clock: realClock, ...(heartbeatMs === undefined ? {} : { heartbeatMs }) });
  const grpcLog = recordingLog();
  const grpc = await startGrpcServer({
    host: "127.0.0.1",
    port,
    identity,
    accept: server.link.accept,
    registrations,
    token: () => token,
    clock: realClock,
    log: grpcLog,
    ...rest,
  });
  return {
    ...server,
    grpc,
    identity,
    registrations,
    grpcLog,
    address: `127.0.0.1:${grpc.port}`,
    async stop() {
      await server.stop();
      await grpc.close();
    },
  };
}

export interface RealAgentOptions extends Partial<Omit<TestAgentOptions, "connector">> {
  readonly address: string;
  readonly root: string;
  readonly token?: string | undefined;
  readonly authority?: string;
  readonly clusterUid?: string;
  readonly credentials?: CredentialStore | undefined;
  readonly verifiesServer?: boolean;
}

export function realAgent(options: RealAgentOptions): TestAgent & { readonly connectorLog: ReturnType<typeof recordingLog> } {
  const { address, root, authority, clusterName = "cluster-1", clusterUid = `uid-of-${clusterName}`, ...rest } = options;
  const connectorLog = recordingLog();
  const connector = grpcConnector({
    address,
    clusterName,
    clusterUid,
    root: async () => root,
    token: async () => ("token" in options ? options.token : TOKEN),
    credentials: "credentials" in options ? options.credentials : credentialsIn(),
    clock: realClock,
    random: () => 0,
    log: connectorLog,
    ...(options.verifiesServer === undefined ? {} : { verifiesServer: options.verifiesServer }),
    ...(authority === undefined ? {} : { authority }),
  });
  return { ...testAgent({ clock: realClock, ...rest, clusterName, connector }), connectorLog };
}

// Finds what never comes; a busy machine may take most of it. The long tests run behind others in CI, and may take ten times as long.
const LOST_MS = process.env["ISTHMUS_FULL_RUNS"] === undefined ? 100_000 : 1_000_000;

/** Waits until something is so. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const end = Date.now() + LOST_MS;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
