import { setTimeout as sleep } from "node:timers/promises";
import type { Kind } from "@isthmus/core";
import type { Cluster, ClusterError } from "@isthmus/ports";
import { afterEach } from "vitest";
import { kubernetesCluster } from "../src/index.ts";
import { type Script, type ScriptedApiServer, scriptedApiServer } from "./scriptedApiServer.ts";

const clock = { now: () => Date.now(), sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, signal ? { signal } : {}) };

export interface Settings {
  readonly silenceMs?: number;
  readonly watchGraceMs?: number;
  readonly now?: () => number;
  readonly keepsLastWriter?: (kind: Kind) => boolean;
}

const servers: ScriptedApiServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A server that is closed after the test. */
export async function serve(script: Script): Promise<ScriptedApiServer> {
  const server = await scriptedApiServer(script);
  servers.push(server);
  return server;
}

export function clusterAt({ kubeconfig }: Pick<ScriptedApiServer, "kubeconfig">, options: Settings = {}): Cluster {
  const { now = clock.now, ...settings } = options;
  return kubernetesCluster({ name: "a", kubeconfig, clock: { ...clock, now }, random: () => 0.5, ...settings });
}

export async function clusterThat(script: Script, options: Settings = {}): Promise<Cluster> {
  return clusterAt(await serve(script), options);
}

/** What a call that must fail fails with. */
export function errorOf(work: Promise<unknown>): Promise<ClusterError> {
  return work.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: ClusterError) => error,
  );
}
