import { join } from "node:path";
import { startProgram } from "../harness/childProcess.ts";
import type { Components } from "../harness/components.ts";
import { freePorts } from "../harness/freePorts.ts";
import { waitFor } from "../harness/waitFor.ts";

/** A real istiod on the loopback, which reads an API server and has no cluster. */
export interface Istiod {
  /** Where proxies connect, without TLS. */
  readonly xds: string;
  /** Its debug endpoint. */
  readonly debug: string;
  stop(): Promise<void>;
}

export interface IstiodOptions {
  readonly components: Components;
  /** Where its log goes, and what it keeps. */
  readonly directory: string;
  readonly kubeconfig: string;
}

/** Starts it, and waits until it has read everything that is there. */
export async function startIstiod({ components, directory, kubeconfig }: IstiodOptions): Promise<Istiod> {
  const [http = 0, grpc = 0, monitoring = 0] = await freePorts(3);
  const program = startProgram({
    name: "istiod",
    command: components.istiod,
    args: [
      "discovery",
      `--kubeconfig=${kubeconfig}`,
      `--httpAddr=127.0.0.1:${http}`,
      "--httpsAddr=",
      `--grpcAddr=127.0.0.1:${grpc}`,
      "--secureGRPCAddr=",
      `--monitoringAddr=127.0.0.1:${monitoring}`,
      "--registries=Kubernetes",
      // Its log has a line for each proxy and push.
      "--log_output_level=default:warn",
    ],
    log: join(directory, "istiod.log"),
    cwd: directory,
    env: {
      POD_NAME: "istiod-0",
      POD_NAMESPACE: "istio-system",
      REVISION: "default",
      CLUSTER_ID: "Kubernetes",
      PILOT_CERT_PROVIDER: "istiod",
      // It is asked after each change, and nobody else writes meanwhile.
      PILOT_DEBOUNCE_AFTER: "20ms",
      // All proxies of a mesh come at once.
      PILOT_MAX_REQUESTS_PER_SECOND: "10000",
      PILOT_ENABLE_GATEWAY_API: "false",
      JWT_POLICY: "first-party-jwt",
    },
  });
  const debug = `http://127.0.0.1:${http}`;
  await Promise.race([
    waitFor(`istiod (${program.log})`, async () => (await fetch(`${debug}/ready`)).ok, { timeoutMs: 90_000 }),
    program.ended.then((code) => {
      throw new Error(`istiod ended with ${code}: ${program.output().slice(-2_000)}`);
    }),
  ]);
  return { xds: `127.0.0.1:${grpc}`, debug, stop: () => program.stop() };
}
