import { Lease } from "@isthmus/api";
import type { AnyResource, Resource } from "@isthmus/core";
import { problemsAtRest } from "./atRest.ts";
import { type FleetImage, startFleet } from "./fleet.ts";
import {
  cilium,
  DEFINED_KINDS,
  definition,
  gateway,
  istiod,
  kubernetesCluster,
  meshConfig,
  namespaces,
  networkPolicy,
  secret,
  service,
  trafficPolicy,
  virtualMesh,
  workload,
} from "./objects.ts";
import { AGENT_LEASE, SERVER_LEASE } from "./processes.ts";
import { silentLog } from "./silentLog.ts";
import { trustProblems } from "./trust/atRest.ts";
import { prepareTrust } from "./trust/prepare.ts";
import { keysTaken } from "./trust/promptCrypto.ts";
import { TrueStates } from "./truth.ts";

const CLUSTERS = ["a", "b", "c"];

/** A fleet at rest. */
export interface Base {
  readonly image: FleetImage;
  readonly states: TrueStates;
  /** How many RSA keys are in it. */
  readonly keys: number;
}

/** How the meshes of a fleet are at rest: each with a CA of its own, or all below the root of their VirtualMesh. Undefined: they have no certificates. */
export type TrustAtStart = "own" | "shared" | undefined;

const bases = new Map<string, Promise<Base>>();

/** A fleet of `size` clusters that has come to rest: every schedule begins there. */
export function baseOf(size: number, trust?: TrustAtStart): Promise<Base> {
  const key = `${size} ${trust}`;
  const base = bases.get(key) ?? settled(CLUSTERS.slice(0, size), trust);
  bases.set(key, base);
  return base;
}

async function settled(clusters: readonly string[], trust: TrustAtStart): Promise<Base> {
  const fleet = startFleet({
    clusters,
    seed: 0,
    log: silentLog,
    hasTrust: trust !== undefined,
    watcher: {
      wrote: () => undefined,
      sent: () => undefined,
      told: () => undefined,
      failedToRead: () => undefined,
      modes: { started: () => undefined, noticed: () => undefined, answered: () => undefined },
      crashed(process, error) {
        throw new Error(`${process} crashed`, { cause: error });
      },
    },
  });
  const management = [
    ...namespaces(),
    ...clusters.map((name) => kubernetesCluster(name)),
    virtualMesh(clusters, 0),
    trafficPolicy("p0", 0),
  ];
  await put(fleet.management, [...management, secret(), releasedLease(SERVER_LEASE)]);
  for (const [name, cluster] of fleet.clusters) {
    await put(cluster, [
      ...namespaces(),
      ...DEFINED_KINDS.map(definition),
      secret(),
      meshConfig(0),
      istiod(name, 0),
      gateway(name, 0),
      service("s0", 1),
      releasedLease(AGENT_LEASE),
    ]);
    // The clusters differ in that, as in what they run.
    if (name !== "b") await put(cluster, [...cilium(0), networkPolicy(0), service("s1", 0), ...workload("s1", 0)]);
  }
  fleet.startServer();
  for (const name of clusters) fleet.startAgent(name, "1");
  await fleet.clock.advance(30_000);
  if (trust !== undefined) await prepareTrust(fleet, trust);
  const states = new TrueStates(fleet.management, fleet.clusters);
  states.observe(new Set());
  const trustMissing = fleet.trust === undefined ? [] : trustProblems(fleet.trust, fleet, states.now.places);
  const problems = [...problemsAtRest(fleet, states.now), ...trustMissing];
  if (problems.length > 0) throw new Error(`the fleet does not come to rest:\n${problems.join("\n")}`);
  const image = fleet.image();
  await fleet.stop();
  return { image, states, keys: keysTaken() };
}

/** As processes leave it that end in order: the first one that starts leads at once. */
function releasedLease(place: { readonly name: string; readonly namespace: string }): AnyResource {
  const spec = { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 1, renewTime: "2025-01-01T00:00:00.000000Z" };
  return { apiVersion: Lease.apiVersion, kind: Lease.kind, metadata: place, spec };
}

async function put(
  cluster: {
    apply: (resource: Resource, how: { fieldManager: string }) => Promise<unknown>;
    applyStatus: (resource: AnyResource, how: { fieldManager: string }) => Promise<unknown>;
  },
  resources: readonly Resource[],
): Promise<void> {
  for (const resource of resources) {
    const { status, ...body } = resource as AnyResource;
    await cluster.apply(body, { fieldManager: "user" });
    if (status !== undefined) await cluster.applyStatus(resource as AnyResource, { fieldManager: "user" });
  }
}
