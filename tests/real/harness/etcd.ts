import { join } from "node:path";
import { type Program, startProgram } from "./childProcess.ts";
import type { Components } from "./components.ts";
import { freePorts } from "./freePorts.ts";
import { GO_ENVIRONMENT } from "./goEnvironment.ts";

export interface Etcd {
  readonly url: string;
  readonly program: Program;
}

/** One etcd on the loopback, for several clusters. */
export async function startEtcd({ etcd }: Components, directory: string): Promise<Etcd> {
  const [clientPort, peerPort] = await freePorts(2);
  const url = `http://127.0.0.1:${clientPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const program = startProgram({
    name: "etcd",
    command: etcd,
    args: [
      `--data-dir=${join(directory, "etcd")}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=default=${peerUrl}`,
      // Its data lives as long as the suite.
      "--unsafe-no-fsync",
      "--log-level=warn",
    ],
    log: join(directory, "etcd.log"),
    env: GO_ENVIRONMENT,
  });
  return { url, program };
}
