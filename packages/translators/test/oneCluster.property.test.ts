import { AccessPolicy, Destination, DestinationRule, kindOf, Mesh, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { type AnyResource, formatRef, type Resource, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { lastKnownMeshOf } from "../src/discovery/detectors/lastKnownMesh.ts";
import { statusesOf, type Translation } from "../src/index.ts";
import { distinct, HOSTILE, meshIn, type TwoWorlds, twoWorlds, type WorldOptions, worldOptions } from "./oneClusterInputs.ts";

// How many worlds; more of them, for hours: ISTHMUS_WORLDS=1000000 npx vitest run packages/translators/test/oneCluster.property.test.ts
const WORLDS = Number(process.env["ISTHMUS_WORLDS"] ?? runs(60));
const SEED = Number(process.env["ISTHMUS_SEED"] ?? Date.now() % 2 ** 31);

/**
 * The relation. Two worlds hold the same objects of the management cluster and of the clusters OTHERS, received at the same moments, and
 * differ only in what the agent of HOSTILE says, under any settings that do not let it reach further on purpose. Then these are the same:
 *
 * 1. each object that is written to a cluster of OTHERS, or to the management cluster, but for those that are about a host of HOSTILE: made
 *    of one of its Destinations, and naming no host but that one's federated name, which ends in HOSTILE and the suffix;
 *    Left out is the DestinationRule of each host at home for calls from other clusters, which is there when somebody can call;
 * 2. each discovered Mesh, Workload and Destination of OTHERS, and its status, but for HOSTILE's meshes among those it is federated to;
 * 3. the status of each policy and VirtualMesh that lives in OTHERS; of those in the management cluster, what is said of each target in OTHERS.
 *
 * Warnings are left out that are about requests from HOSTILE, or about what its users wrote for them.
 *
 * What the management cluster or OTHERS say themselves of services of HOSTILE, by name, is theirs to bear, and left out: such policies are
 * not generated (shifts to services that HOSTILE takes away, AccessPolicies that let in callers of HOSTILE by their trust domain, which
 * is that cluster's word) or are looked at apart from those Destinations. That such an AccessPolicy never opens by what HOSTILE says of
 * its trust domain is shown in packages/plane/test/accessPolicies.long.test.ts.
 */
test(
  `whatever one agent says, nothing changes but what is about its own hosts (seed ${SEED})`,
  () => {
    fc.assert(
      fc.property(twoWorlds(), worldOptions(), (worlds, options) => {
        const memory = memoryOf(worlds.honest);
        const [honest, hostile] = [worldOf(worlds.honest, options, memory), worldOf(worlds.hostile, options, memory)];
        const bearers = bearing(worlds);
        // As it was last accepted, such a policy is in force in one of them perhaps.
        const borne = new Set([honest, hostile].flatMap((world) => [...bornBy(world, bearers)]));
        expect(viewOf(hostile, bearers, borne)).toEqual(viewOf(honest, bearers, borne));
      }),
      { numRuns: WORLDS, seed: SEED },
    );
    // Minutes for a seed of some thousand worlds.
  },
  60_000 + WORLDS * 1000,
);

/**
 * What is known of each mesh by the time that the agent lies: a server remembers what it sees first. That a mesh has the trust domain of another one when it is first seen is the
 * agent's word, and normal: Istio's default is one for all (docs/decisions/0156).
 */
function memoryOf(objects: readonly AnyResource[]): readonly Resource[] {
  // Whatever the settings leave out now.
  const everything = worldOf(distinct([...objects, ...meshIn(HOSTILE)]), { settings: {}, disallowIntersectingConfig: false });
  return [...everything.discovery].flatMap(({ resource }) => lastKnownMeshOf(resource) ?? []);
}

function worldOf(
  objects: readonly AnyResource[],
  { settings, disallowIntersectingConfig }: WorldOptions,
  memory: readonly Resource[] = [],
): Translation {
  const metadata = { name: "settings", namespace: "gloo-mesh" };
  const all = [...objects, { apiVersion: "settings.mesh.gloo.solo.io/v1", kind: "Settings", metadata, spec: settings }];
  const resources = all.map((one): Resource => {
    const kind = kindOf(one.apiVersion, one.kind);
    if (kind === undefined) throw new Error(`${one.kind} is no kind in roles.ts`);
    return kind.parse(one);
  });
  return soundTranslation(snapshotOf([...resources, ...memory]), { namespace: "gloo-mesh", stage: "all", disallowIntersectingConfig });
}

/** Policies of others that send traffic to services of the hostile cluster: what becomes of them there is theirs to bear. */
function bearing({ honest }: TwoWorlds): ReadonlySet<string> {
  const own = honest.filter(({ kind, metadata }) => kind === TrafficPolicy.kind && metadata.clusterName !== HOSTILE);
  return new Set(
    own
      .filter(({ spec, status }) => JSON.stringify([spec, status]).includes(`"clusterName":"${HOSTILE}"`))
      .map((one) => resourceKeyOf(refOf(one))),
  );
}

type View = Readonly<Record<string, unknown>>;

function viewOf(world: Translation, bearers: ReadonlySet<string>, borne: ReadonlySet<string>): View {
  const view = new Map<string, unknown>();
  for (const output of world.networking) {
    const { resource, target } = output;
    const { clusterName = "" } = resource.metadata;
    if (clusterName === HOSTILE || borne.has(target) || isForCallers(resource)) continue;
    if (isOfHostile(world, target)) {
      // Whatever the agent calls its services, these are its own.
      expect(hostsOf(resource).every(isHostileHost), formatRef(refOf(resource))).toBe(true);
      continue;
    }
    view.set(formatRef(refOf(resource)), resource);
  }
  for (const { resource } of world.discovery) {
    const text = clusterOf(resource);
    if (text !== undefined && text !== HOSTILE) view.set(`discovered ${formatRef(refOf(resource))}`, resource);
  }
  for (const { ref, status } of statusesOf(world)) {
    const key = resourceKeyOf(ref);
    const name = `status ${formatRef(ref)}`;
    if (ref.kind === Destination.kind || ref.kind === Mesh.kind) {
      const found = ref.kind === Destination.kind ? world.attached.of(Destination).get(ref) : world.attached.of(Mesh).get(ref);
      const place = found && clusterOf(found);
      if (place !== undefined && place !== HOSTILE && !borne.has(key)) view.set(name, withoutHostileMesh(status));
      continue;
    }
    if (ref.kind === "Workload") continue;
    if (![TrafficPolicy.kind, AccessPolicy.kind, VirtualMesh.kind].includes(ref.kind) || ref.clusterName === HOSTILE || bearers.has(key))
      continue;
    const said = withoutHostileRequests(status);
    view.set(name, ref.clusterName !== "" && isLimited(world, ref.clusterName) && bearers.size === 0 ? said : onOthers(world, said, borne));
  }
  return Object.fromEntries([...view].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The DestinationRule of a host of OTHERS at home for the one who calls it from elsewhere: HOSTILE may be the only one. */
function isForCallers({ kind, metadata: { name, clusterName = "" } }: Resource): boolean {
  return kind === DestinationRule.kind && [".global", ".corp"].some((suffix) => name.endsWith(`.svc.${clusterName}${suffix}`));
}

function isLimited(world: Translation, clusterName: string): boolean {
  const { targets, clusters = {} } = world.cache.translationContext.settings?.spec?.workloadClusterResources ?? {};
  return (clusters[clusterName] ?? targets ?? "OWN_DESTINATIONS") === "OWN_DESTINATIONS";
}

/** Targets on which such a policy is or would be in force. */
function bornBy(world: Translation, bearers: ReadonlySet<string>): ReadonlySet<string> {
  const borne = new Set<string>();
  for (const report of world.reports)
    if (report.target !== undefined && bearers.has(resourceKeyOf(report.subject))) borne.add(resourceKeyOf(report.target));
  for (const destination of world.attached.of(Destination)) {
    const { appliedTrafficPolicies = [] } = destination.status ?? {};
    const refs = appliedTrafficPolicies.map(({ ref }) =>
      resourceKeyOf({ ...TrafficPolicy, name: "", namespace: "", clusterName: "", ...ref }),
    );
    if (refs.some((key) => bearers.has(key))) borne.add(resourceKeyOf(refOf(destination)));
  }
  return borne;
}

function clusterOf(resource: Resource): string | undefined {
  return resource.metadata.labels?.["cluster.discovery.mesh.gloo.solo.io"];
}

function isOfHostile(world: Translation, target: string): boolean {
  const inputs = world.cache.targets.row(target)?.inputs;
  if (inputs === undefined) return false;
  if ("destination" in inputs) return inputs.destination.spec?.kubeService?.ref?.clusterName === HOSTILE;
  return "mesh" in inputs && inputs.mesh.spec?.istio?.installation?.cluster === HOSTILE;
}

function hostsOf(resource: Resource): readonly string[] {
  const { hosts, host } = ((resource as AnyResource)["spec"] ?? {}) as { readonly hosts?: readonly string[]; readonly host?: string };
  return [...(hosts ?? []), ...(host === undefined ? [] : [host]), ...(hosts === undefined && host === undefined ? ["none at all"] : [])];
}

function isHostileHost(host: string): boolean {
  return /\.svc\.c\.(global|corp)$/.test(host);
}

const HOSTILE_MESH = /^istiod.*-c$/;

function withoutHostileMesh(status: object): unknown {
  return JSON.parse(JSON.stringify(status), (key, value: unknown) => {
    if (key !== "federatedToMeshes") return value;
    const left = (value as readonly { readonly name: string }[]).filter(({ name }) => name.endsWith("-b-c") || !HOSTILE_MESH.test(name));
    return left;
  });
}

/** A status without warnings about requests that start in the hostile cluster, and without how many there are. */
function withoutHostileRequests(status: object): object {
  return JSON.parse(JSON.stringify(status), (key, value: unknown) => {
    if (key === "warningCount" || (key === "message" && /^valid/.test(String(value)))) return undefined;
    if (key !== "warnings") return value;
    const texts = (value as readonly string[]).map((text) =>
      text.replace(
        /calls from (.+) fail/,
        (_, list: string) =>
          `calls from ${
            list
              .split(", ")
              .filter((name) => name !== HOSTILE)
              .join(", ") || HOSTILE
          } fail`,
      ),
    );
    const left = texts.filter((text) => !/ (to|from|in) (c|another cluster|Mesh gloo-mesh\/istiod\S*(?<!-b)-c)[ ,:;]/.test(text));
    return left.length === 0 ? undefined : left;
  }) as object;
}

/** What a status says of targets in OTHERS; whose they are is not in their names, which coincide. */
function onOthers(world: Translation, status: object, borne: ReadonlySet<string>): unknown {
  const { destinations = {}, meshes = {} } = status as { readonly destinations?: object; readonly meshes?: object };
  const isOfOthers = (resource: Resource | undefined) => resource !== undefined && clusterOf(resource) !== HOSTILE;
  const seen = Object.entries(destinations).filter(([key]) => {
    const destination = world.attached.of(Destination).row(key);
    return isOfOthers(destination) && destination !== undefined && !borne.has(resourceKeyOf(refOf(destination)));
  });
  return [seen, Object.entries(meshes).filter(([key]) => isOfOthers(world.attached.of(Mesh).row(key)))];
}
