import { setTimeout as sleep } from "node:timers/promises";
import { Secret } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { type InstalledProgram, isServing, startInstalled } from "../charts/installedProgram.ts";
import type { ApiServer } from "../harness/apiServer.ts";
import { anyKind } from "../harness/clusters.ts";
import type { Components } from "../harness/components.ts";
import { type RealRedis, startRedis } from "../harness/redis.ts";
import { waitFor } from "../harness/waitFor.ts";

const namespace = "gloo-mesh";
const Deployment = anyKind("apps/v1", "Deployment", "deployments");
const PROGRAMS = { "gloo-mesh-mgmt-server": "mgmt-server/bin/mgmt-server.js", "gloo-mesh-agent": "agent/bin/agent.js" } as const;
type Name = keyof typeof PROGRAMS;

/** In place of a kubelet: runs the programs of a cluster's Deployments as processes, with the tokens of their accounts. */
export interface Pods {
  /** Waits until all that is deployed runs and is ready. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export interface PodsOptions {
  readonly components: Components;
  readonly server: ApiServer;
  readonly cluster: Cluster;
  readonly directory: string;
  /** Addresses of the loopback begin with it: the first server listens on `127.1.2.1`, where its load balancer would. */
  readonly loopback: string;
}

interface Running {
  readonly version: string;
  readonly programs: readonly InstalledProgram[];
}

interface Deployed {
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly spec: { readonly volumes?: readonly { readonly secret?: { readonly secretName: string } }[] } };
  };
}

/** Follows the Deployments of a cluster until stopped. */
export function startPods({ components, server, cluster, directory, loopback }: PodsOptions): Pods {
  const running = new Map<Name, Running>();
  const ending = new AbortController();
  let redis: RealRedis | undefined;
  let isCurrent = false;
  let problem: unknown;

  async function run(name: Name, replicas: number): Promise<readonly InstalledProgram[]> {
    redis ??= name === "gloo-mesh-mgmt-server" ? await startRedis(components.redis, `${directory}/redis-${server.name}`) : undefined;
    const flags = (replica: number): readonly string[] =>
      name === "gloo-mesh-agent"
        ? []
        : [`--host=${loopback}.${replica + 1}`, "--port=9900", `--redis-address=127.0.0.1:${redis?.settings.port}`];
    const where = { server, namespace, deployment: name, bin: PROGRAMS[name], directory };
    return Promise.all(
      Array.from({ length: replicas }, (_, replica) =>
        startInstalled({ ...where, pod: `${server.name}-${name}-${replica}`, here: () => flags(replica) }),
      ),
    );
  }

  /** As the kubelet: a container starts once the Secrets exist that are mounted. */
  async function hasSecrets({ spec }: Deployed): Promise<boolean> {
    const names = (spec.template.spec.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []);
    return (await Promise.all(names.map((name) => cluster.get(Secret, { name, namespace })))).every((found) => found !== undefined);
  }

  async function follow(name: Name): Promise<boolean> {
    const deployment = await cluster.get(Deployment, { name, namespace });
    const deployed = deployment as (AnyResource & Deployed) | undefined;
    const version = deployed === undefined ? "" : `${deployed.metadata.uid}/${deployed.metadata.generation}`;
    const current = running.get(name);
    if (current !== undefined && current.version !== version) {
      await Promise.all(current.programs.map(({ program }) => program.stop()));
      running.delete(name);
    }
    if (deployed === undefined) return true;
    if (!running.has(name)) {
      if (!(await hasSecrets(deployed))) return false;
      running.set(name, { version, programs: await run(name, deployed.spec.replicas ?? 1) });
    }
    // A program that ended is started again, as after a crash.
    if (running.get(name)?.programs.some(({ program }) => !program.isRunning)) running.delete(name);
    return running.has(name);
  }

  const following = (async () => {
    while (!ending.signal.aborted) {
      try {
        const all: boolean[] = [];
        for (const name of Object.keys(PROGRAMS) as Name[]) all.push(await follow(name));
        isCurrent = all.every(Boolean);
        problem = undefined;
      } catch (error) {
        // Tried again, as a kubelet does: an account may be on its way, or a program have ended while it was started.
        problem = error;
      }
      await sleep(200);
    }
  })();

  return {
    async ready() {
      // Twice: what was just applied is seen by the next round.
      isCurrent = false;
      await waitFor(`the pods of ${server.name}`, () => {
        if (!isCurrent && problem !== undefined) throw problem;
        return isCurrent;
      });
      await Promise.all([...running.values()].flatMap(({ programs }) => programs.map((program) => isServing(program, "/readyz"))));
    },
    async stop() {
      ending.abort();
      await following;
      await Promise.all([...running.values()].flatMap(({ programs }) => programs.map(({ program }) => program.stop())));
      await redis?.stop();
    },
  };
}
