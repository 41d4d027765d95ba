import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kindOf, parseOffline } from "@isthmus/api";
import { type AnyResource, InvalidResource, type Resource } from "@isthmus/core";
import { demoClusters, demoPolicies } from "@isthmus/simulator";
import { readDocuments, readInput } from "@isthmus/testing";
import { readCases } from "../conformance/cases.ts";
import { kubernetesClusters, meshRef, settings, virtualMesh } from "../real/dataplane/harness/resources.ts";
import { writeFailoverTopology, writePlaneTopology, writeTopology, writeTrustTopology } from "../real/dataplane/harness/topology.ts";
import { inManagement, reportedCluster } from "./fleets/reportedCluster.ts";
import { testbedClusters } from "./fleets/testbedClusters.ts";
import type { Fleet } from "./found.ts";

/** One fleet of many, by its name. */
export interface Input extends Fleet {
  readonly name: string;
  /** What translation is known to say of it, where a golden file lists that. */
  readonly reports?: readonly string[];
}

const goldens = fileURLToPath(new URL("../../packages/translators/testdata", import.meta.url));

/** The inputs of the translators' golden files. */
export function goldenInputs(): readonly Input[] {
  const files = readdirSync(goldens, { recursive: true, encoding: "utf8" }).sort();
  return files.flatMap((file) => {
    if (!file.endsWith(".in.yaml")) return [];
    const name = file.slice(0, -".in.yaml".length);
    const { options, resources } = readInput(readFileSync(join(goldens, file), "utf8"));
    const { unread: _, offline = [], ...given } = options as { readonly unread?: unknown; readonly offline?: readonly string[] };
    const stage = file.startsWith("discovery/") ? "all" : "networking";
    const reports = readDocuments(readFileSync(join(goldens, `${name}.out.yaml`), "utf8")).flatMap(textsIn);
    return { name: `golden/${name}`, resources, options: { stage, ...given, offline: new Set(offline) }, reports };
  });
}

/** Every text of a value, at any depth. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The published product's own cases. */
export function referenceInputs(shared: string): readonly Input[] {
  const folder = join(shared, "reference-cases");
  if (!existsSync(folder)) return [];
  return readCases(folder).map(({ name, stage, input }) => ({
    name: `reference/${name}`,
    resources: input.flatMap(parsed),
    options: { stage: stage === "discovery" ? "all" : "networking" },
  }));
}

function parsed(document: AnyResource): readonly Resource[] {
  const kind = kindOf(document.apiVersion, document.kind);
  try {
    return kind === undefined ? [] : [parseOffline(kind, document)];
  } catch (error) {
    if (error instanceof InvalidResource) return [];
    throw error;
  }
}

/** The demo's fleet as it comes up, and with all that its keys apply. */
export async function demoInputs(): Promise<readonly Input[]> {
  const clusters = demoClusters();
  const reported = await Promise.all(Object.entries(clusters).map(([name, resources]) => reportedCluster(name, resources)));
  const registered = [...reported.flat(), ...kubernetesClusters(["cluster-1", "cluster-2"]).map(inManagement)];
  const { virtualMesh: mesh, ...policies } = demoPolicies;
  return [
    { name: "demo/alone", resources: registered },
    { name: "demo/joined", resources: [...registered, mesh] },
    { name: "demo/policies", resources: [...registered, mesh, ...Object.values(policies)] },
  ];
}

const TOPOLOGIES = [
  { name: "plain", of: "topology.json", write: writeTopology },
  { name: "failover", of: "topology-three.json", write: writeFailoverTopology },
  { name: "trust", of: "topology-trust.json", write: writeTrustTopology },
  { name: "plane", of: "topology.json", write: (_: string, file: string) => writePlaneTopology(file) },
];

/** The clusters in which the suites for real proxies run, joined as there. */
export async function testbedInputs(shared: string): Promise<readonly Input[]> {
  const folder = join(shared, "testbed");
  if (!existsSync(join(folder, "topology.json"))) return [];
  const scratch = mkdtempSync(join(tmpdir(), "insights-"));
  try {
    return await Promise.all(
      TOPOLOGIES.map(async ({ name, of, write }) => {
        write(join(folder, of), join(scratch, name));
        const clusters = testbedClusters(readFileSync(join(scratch, name), "utf8"));
        const names = [...clusters.keys()] as Parameters<typeof meshRef>[0][];
        const reported = await Promise.all([...clusters].map(([cluster, objects]) => reportedCluster(cluster, objects)));
        const written = [...kubernetesClusters(names), settings(), virtualMesh({ meshes: names.map(meshRef) })].map(inManagement);
        return { name: `testbed/${name}`, resources: [...reported.flat(), ...written] };
      }),
    );
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
