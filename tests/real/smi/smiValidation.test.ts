import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { readDocuments } from "@isthmus/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { namespace } from "../harness/istioInstallation.ts";
import { applyAll, installCrds } from "../harness/manifests.ts";
import { osmCrds } from "../harness/osmInstallation.ts";
import { type Judge, judgeOf } from "../istioValidation/dryRun.ts";

const goldens = fileURLToPath(new URL("../../../packages/translators/testdata/osm", import.meta.url));

/** An object of a golden output. */
interface Generated {
  readonly source: string;
  readonly object: AnyResource;
}

// The schemas of OSM's own CRDs, with strict field validation by a real API server.
describeReal("the API server of an Open Service Mesh", (components) => {
  let fleet: Fleet<"cluster-1"> | undefined;
  let judge: Judge | undefined;
  let cluster: Cluster | undefined;
  const crds = osmCrds(components);

  beforeAll(async () => {
    fleet = await startFleet(components, ["cluster-1"]);
    const { "cluster-1": server } = fleet.servers;
    cluster = clusterOf(server, "cluster-1");
    await installCrds(cluster, crds);
    const names = new Set(generated().map(({ object }) => object.metadata.namespace ?? "default"));
    await applyAll(
      cluster,
      [...names].map((name) => namespace(name)),
    );
    judge = judgeOf(server.kubeconfig);
  });
  afterAll(async () => {
    judge?.close();
    await fleet?.stop();
  });

  it("serves the versions that we write for OSM 0.7 and later, and no others", () => {
    const served = crds.flatMap((crd) => versionsOf(crd).flatMap(({ name, served }) => (served ? [`${groupOf(crd)}/${name}`] : [])));
    expect(new Set(served)).toEqual(new Set(["access.smi-spec.io/v1alpha3", "specs.smi-spec.io/v1alpha4", "split.smi-spec.io/v1alpha2"]));
  });

  it("takes every object of the golden outputs that are for OSM 0.7 and later", async () => {
    const current = generated().filter(({ source }) => !isForOlder(source));
    expect(new Set(current.map(({ object }) => object.kind))).toEqual(
      new Set(["HTTPRouteGroup", "TCPRoute", "TrafficSplit", "TrafficTarget"]),
    );
    expect(await refusals(current)).toEqual([]);
  });

  it("has no place for the port of an older TrafficTarget: it would be dropped", async () => {
    const [target] = generated().filter(({ source, object }) => isForOlder(source) && JSON.stringify(object["spec"]).includes('"port"'));
    if (target === undefined) throw new Error("no golden output has a TrafficTarget with a port");
    const written = { ...target, object: { ...target.object, apiVersion: "access.smi-spec.io/v1alpha3" } };
    expect((await refusals([written])).join()).toContain("spec.destination.port");
  });

  it("takes the others where it serves the versions that OSM 0.6 served", async () => {
    if (cluster === undefined) throw new Error("the cluster did not start");
    const older = generated().filter(({ source }) => isForOlder(source));
    expect(new Set(older.map(({ object }) => object.kind))).toEqual(new Set(["HTTPRouteGroup", "TrafficTarget"]));
    expect(await refusals(older)).not.toEqual([]);
    await installCrds(cluster, crds.map(allServed));
    expect(await refusals(older)).toEqual([]);
  });

  async function refusals(objects: readonly Generated[]): Promise<readonly string[]> {
    const texts = objects.map(async ({ source, object }) => {
      const verdict = await judge?.judge(object);
      if (verdict === undefined) throw new Error("the cluster did not start");
      return verdict.refusal === undefined ? [] : [`${source}: ${object.kind} ${object.metadata.name}: ${verdict.refusal}`];
    });
    return (await Promise.all(texts)).flat();
  }
});

function generated(): readonly Generated[] {
  const files = readdirSync(goldens).filter((file) => file.endsWith(".out.yaml"));
  return files.flatMap((source) =>
    readDocuments(readFileSync(join(goldens, source), "utf8"))
      .map((object) => ({ source, object: object as AnyResource }))
      .filter(({ object }) => object.apiVersion?.includes(".smi-spec.io/") === true && "spec" in object),
  );
}

/** Whether a golden output is for a mesh before OSM 0.7. */
function isForOlder(source: string): boolean {
  const input = readFileSync(join(goldens, source.replace(".out.yaml", ".in.yaml")), "utf8");
  return /^ +version: v0\.[0-6]\./m.test(input);
}

interface CrdSpec {
  readonly group: string;
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

function versionsOf(crd: AnyResource): CrdSpec["versions"] {
  return (crd["spec"] as unknown as CrdSpec).versions;
}

function groupOf(crd: AnyResource): string {
  return (crd["spec"] as unknown as CrdSpec).group;
}

function allServed(crd: AnyResource): AnyResource {
  const versions = versionsOf(crd).map((version) => ({ ...version, served: true }));
  return { ...crd, spec: { ...(crd["spec"] as object), versions } } as AnyResource;
}
