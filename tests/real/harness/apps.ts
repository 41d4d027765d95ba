import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApiServer } from "./apiServer.ts";
import { type Program, startProgram } from "./childProcess.ts";
import { freePorts } from "./freePorts.ts";
import { waitFor } from "./waitFor.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** One of our programs, in a process of its own. */
export interface App {
  readonly program: Program;
  /** Of metrics, health and pages. */
  readonly adminUrl: string;
  /** Waits until it says that it is ready. */
  ready(): Promise<void>;
  /** Starts it again with the same settings, after it has ended. */
  restart(): Promise<void>;
}

interface Where {
  readonly server: Pick<ApiServer, "planeKubeconfig">;
  readonly directory: string;
  /** More of its command line. */
  readonly more?: readonly string[];
  /** The file that is run. Default: that of this checkout. */
  readonly bin?: string;
}

export interface ManagementServerOptions extends Where {
  /** Of its log. */
  readonly name?: string;
}

export interface ManagementServer {
  readonly app: App;
  /** Where agents connect. */
  readonly relayAddress: string;
  /** Where metrics and health are. */
  readonly adminUrl: string;
}

/** The management server of the cluster that `server` is. */
export async function startManagementServer({
  server,
  directory,
  more = [],
  name = "mgmt-server",
  bin = join(root, "apps/mgmt-server/bin/mgmt-server.js"),
}: ManagementServerOptions): Promise<ManagementServer> {
  const [port = 0, adminPort = 0] = await freePorts(2);
  const args = [
    `--kubeconfig=${server.planeKubeconfig}`,
    "--host=127.0.0.1",
    `--port=${port}`,
    "--admin-host=127.0.0.1",
    `--admin-port=${adminPort}`,
    ...more,
  ];
  const app = start({ name, bin, args, adminPort, directory });
  return { app, relayAddress: `127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` };
}

export interface AgentOptions extends Where {
  readonly cluster: string;
  /** Undefined: for certificates alone, in a cluster that the server connects to. */
  readonly relayAddress: string | undefined;
  /** Whether `bin` is of the version before, which has no port for proxies. */
  readonly isEarlier?: boolean;
  /** Of its log. Default: after its cluster. */
  readonly name?: string;
}

/** The agent of the cluster that `server` is. */
export async function startAgent({
  server,
  cluster,
  relayAddress,
  directory,
  name = `agent-${cluster}`,
  more = [],
  bin = join(root, "apps/agent/bin/agent.js"),
  isEarlier = false,
}: AgentOptions): Promise<App> {
  const [adminPort = 0] = await freePorts(1);
  const args = [
    `--cluster=${cluster}`,
    `--kubeconfig=${server.planeKubeconfig}`,
    relayAddress === undefined ? "--standard" : `--relay-address=${relayAddress}`,
    "--admin-host=127.0.0.1",
    `--admin-port=${adminPort}`,
    ...(isEarlier ? [] : ["--workload-host=127.0.0.1", "--workload-port=0"]),
    ...more,
  ];
  return start({ name, bin, args, adminPort, directory });
}

interface Start {
  readonly name: string;
  readonly bin: string;
  readonly args: readonly string[];
  readonly adminPort: number;
  readonly directory: string;
}

function start({ name, bin, args, adminPort, directory }: Start): App {
  const run = () => startProgram({ name, command: process.execPath, args: [bin, ...args], log: join(directory, `${name}.log`) });
  let program = run();
  return {
    get program() {
      return program;
    },
    adminUrl: `http://127.0.0.1:${adminPort}`,
    ready: () => isReady(program, adminPort),
    async restart() {
      await program.ended;
      program = run();
      await isReady(program, adminPort);
    },
  };
}

async function isReady(program: Program, adminPort: number): Promise<void> {
  await Promise.race([
    waitFor(`${program.name} to be ready (${program.log})`, async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).ok, {
      timeoutMs: 60_000,
    }),
    program.ended.then((code) => {
      throw new Error(`${program.name} ended with ${code}: ${program.output().slice(-2_000)}`);
    }),
  ]);
}
