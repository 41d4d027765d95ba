import { randomInt } from "node:crypto";
import type { AnyResource } from "@isthmus/core";
import { isNight } from "@isthmus/testing/atNight";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { namespace } from "../harness/istioInstallation.ts";
import { compared } from "./comparison.ts";
import { engineOf, type Installation, meshConfigMap, translated, writtenRules } from "./engineVerdicts.ts";
import { type Istiod, startIstiod } from "./istiod.ts";
import { surroundingsOf } from "./meshVariants.ts";
import { plainForm } from "./plainRules.ts";
import type { ProxyPod } from "./proxies.ts";
import { FEATURES, worldForms, worldOf } from "./randomFleets.ts";
import { listenersIn, write } from "./runningMesh.ts";
import { WITHOUT } from "./withoutRules.ts";

// Of each mesh.
const [RANDOM_WORLDS, PLAIN_WORLDS] = [10, 8];
const MESHES = isNight ? 50 : 10;

describeReal("who may call whom, by the engine and by a real istiod", (components) => {
  const seed = Number(process.env["ISTHMUS_SEED"] ?? randomInt(2 ** 31));
  const installations = variedInstallations(seed);
  let fleet: Fleet<"one">;
  let istiod: Istiod;
  /** What the proxies of each got. */
  const known = new Map<Installation, ReadonlyMap<ProxyPod, unknown>>();

  beforeAll(async () => {
    fleet = await startFleet(components, ["one"], { crds: "istio" });
    const cluster = clusterOf(fleet.servers.one, "one");
    const roots = installations.map(({ surroundings }) => namespace(surroundings.rootNamespace));
    await write(cluster, [
      namespace("istio-system"),
      ...roots,
      ...installations.flatMap(({ worlds }) => worlds.flatMap(({ objects }) => objects.filter(({ kind }) => kind === "Namespace"))),
    ]);
    await write(cluster, [meshConfigMap("{}"), ASKED, ...installations.flatMap(({ worlds }) => worlds.flatMap(({ objects }) => objects))]);
    istiod = await startIstiod({ components, directory: fleet.directory, kubeconfig: fleet.servers.one.kubeconfig });
  });
  afterAll(async () => {
    await istiod?.stop();
    await fleet?.stop();
  });

  it("agree in every question about every world", { timeout: 300_000 }, async () => {
    const cluster = clusterOf(fleet.servers.one, "one");
    const counts = new Map<string, number>();
    for (const installation of installations) {
      const translation = translated(installation);
      const listeners = await listenersIn(installation, { cluster, istiod, rules: writtenRules(translation) });
      known.set(installation, listeners);
      const results = compared(installation, { engine: engineOf(translation), listeners });
      for (const { ours } of results) counts.set(ours, (counts.get(ours) ?? 0) + 1);
      const [first] = results.flatMap(({ difference }) => difference ?? []);
      expect(first, `seed ${seed}`).toBeUndefined();
    }
    // Else they would agree about nothing.
    for (const verdict of ["ALLOWED", "DENIED", "RESTRICTED", "UNKNOWN"]) expect(counts.get(verdict) ?? 0, verdict).toBeGreaterThan(FEWEST);
  });

  it("are asked about worlds in which each feature occurs often enough", () => {
    expect(rareFeatures(installations)).toEqual([]);
  });

  it.each(Object.entries(WITHOUT))("differ where the engine knows nothing of %s", (_, without) => {
    const isNoticed = installations.some((installation) => {
      const listeners = known.get(installation);
      const engine = engineOf(translated(without(installation)));
      return listeners !== undefined && compared(installation, { engine, listeners }).some(({ ours, theirs }) => ours !== theirs);
    });
    expect(isNoticed, `seed ${seed}`).toBe(true);
  });
});

/** In how many worlds each feature is, at least. */
const FEWEST = 10;

/** Whom rules of action CUSTOM ask. */
const ASKED = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "asked", namespace: "istio-system" },
  spec: { ports: [{ name: "grpc", port: 9000 }] },
} as unknown as AnyResource;

/** How many seeds are tried, from the given one: by chance a feature may be too rare in the worlds of one. */
const MOST_SEEDS = 20;

/** Those of the first seed in which each feature occurs often enough. */
function variedInstallations(seed: number): readonly Installation[] {
  let installations = installationsOf(seed);
  for (let i = 1; i < MOST_SEEDS && rareFeatures(installations).length > 0; i++) installations = installationsOf(seed + i);
  return installations;
}

/** The features that occur in too few worlds, with their number. */
function rareFeatures(installations: readonly Installation[]): readonly (readonly [string, number])[] {
  const worlds = installations.flatMap((one) => one.worlds);
  const counts = FEATURES.map((feature) => [feature, worlds.filter(({ features }) => features.has(feature)).length] as const);
  return counts.filter(([, count]) => count < FEWEST);
}

function installationsOf(seed: number): readonly Installation[] {
  const forms = fc.sample(worldForms(), { numRuns: MESHES * RANDOM_WORLDS, seed });
  return Array.from({ length: MESHES }, (_, mesh): Installation => {
    const about = surroundingsOf(mesh);
    const random = forms.slice(mesh * RANDOM_WORLDS, (mesh + 1) * RANDOM_WORLDS);
    const plain = Array.from({ length: PLAIN_WORLDS }, (_, i) => plainForm(mesh * PLAIN_WORLDS + i));
    const first = mesh * (RANDOM_WORLDS + PLAIN_WORLDS);
    return { ...about, worlds: [...random, ...plain].map((form, i) => worldOf(form, first + i, about.surroundings)) };
  });
}
