import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyResource, Resource } from "@isthmus/core";
import type { Components } from "../harness/components.ts";
import { objectsIn } from "../harness/manifests.ts";

/** A pod that calls or is called. */
export interface CiliumPod {
  readonly name: string;
  readonly namespace?: string;
  readonly serviceAccount?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Cilium's name of its cluster; absent for the one of the policies. */
  readonly cluster?: string;
  /** An identity that is no pod's, such as `host`. */
  readonly reserved?: string;
}

/** One cluster with Cilium, and who may ask for which ports in it. */
export interface CiliumWorld {
  readonly clusterName: string;
  readonly policies: readonly Resource[];
  readonly pods: readonly CiliumPod[];
  readonly ports: readonly number[];
}

/** What Cilium makes of it; policies are `namespace/name`. */
export interface CiliumJudgement {
  readonly refused: Readonly<Record<string, string>>;
  readonly selected: Readonly<Record<string, readonly string[]>>;
  /** Connections that are let in: `from to port`. */
  readonly admitted: readonly string[];
}

const LARGEST_ANSWER = 256 * 1024 * 1024;

/** What Cilium's own policy engine makes of each world. */
export function ciliumJudgements({ cilium }: Components, worlds: readonly CiliumWorld[]): readonly CiliumJudgement[] {
  const input = JSON.stringify(worlds.map((world) => ({ ...world, policies: world.policies.map(withoutCluster) })));
  const answer = execFileSync(cilium, { input, maxBuffer: LARGEST_ANSWER, timeout: 120_000 });
  return JSON.parse(answer.toString()) as readonly CiliumJudgement[];
}

/** Cilium's own CRDs. */
export function ciliumCrds({ cilium }: Components): readonly AnyResource[] {
  const folder = mkdtempSync(join(tmpdir(), "cilium-crds-"));
  try {
    execFileSync(cilium, ["crds", folder], { timeout: 60_000 });
    return readdirSync(folder).flatMap((file) => objectsIn(readFileSync(join(folder, file), "utf8")));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What Cilium leaves in a cluster, as far as it is found by it: the DaemonSet of its agents. */
export function ciliumInstallation(): AnyResource {
  const labels = { "k8s-app": "cilium" };
  const containers = [{ name: "cilium-agent", image: "quay.io/cilium/cilium:v1.20.2" }];
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "cilium", namespace: "kube-system", labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  } as AnyResource;
}

/** As it is in its cluster. */
function withoutCluster(resource: Resource): Resource {
  const { clusterName: _, ...metadata } = resource.metadata;
  return { ...resource, metadata };
}
