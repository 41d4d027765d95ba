import type { AnyResource, Kind, Resource, ResourceRef } from "@isthmus/core";
import type { ClusterImage } from "@isthmus/simulator";
import type { Fleet } from "./fleet.ts";
import type { Random } from "./random.ts";

/** One thing that happens. What `n` and `v` mean is the step's own affair. Written as `putService a 1 3`. */
export interface Step {
  readonly does: string;
  /** A workload cluster; "-" where the step is not about one. */
  readonly cluster: string;
  readonly n: number;
  readonly v: number;
}

/** A step's circumstances. What is done to clusters the oracle hears of in the same instant. */
export interface Stage {
  readonly fleet: Fleet;
  /** Somebody who is not us applies an object with its status, against whatever others say. What a cluster refuses is not done. */
  put(clusterName: string, resource: AnyResource, who: string): void;
  /** Somebody replaces an object. */
  replace(clusterName: string, resource: AnyResource): void;
  remove(clusterName: string, ref: ResourceRef): void;
  /** A kind vanishes from a cluster's API server, or is there again. */
  setServed(clusterName: string, kind: Kind, isServed: boolean): void;
  /** A kind's CRD is deleted in a cluster, and with it all objects of the kind; or it is put there again. */
  setDefined(clusterName: string, kind: Kind, isDefined: boolean): void;
  /** One of the objects of ours in a cluster, the `n`th as it were; undefined when there is none. */
  ours(clusterName: string, n: number): AnyResource | undefined;
  /** Something that ought to be in a cluster. */
  wanted(clusterName: string, n: number): Resource | undefined;
  /** An object as it stands in its cluster. */
  object(ref: ResourceRef): AnyResource | undefined;
  /** An object as it ought to be, if it ought to be. */
  wantedAs(ref: ResourceRef): Resource | undefined;
  /** The shop's namespace of a cluster is marked for deletion; it goes when it is empty. */
  terminate(clusterName: string): void;
  /** All that is in it goes, if it is marked. */
  empty(clusterName: string): void;
  /** It is there again, if it has gone. */
  found(clusterName: string): void;
  /** Somebody lets go what a cluster holds back. */
  resume(clusterName: string): void;
  /** What a cluster held when all was last at rest. */
  restedAt(clusterName: string): ClusterImage;
  /** A cluster holds again what it held then, with revisions that go on from `bump` above all that were; 0: they come again. */
  restore(clusterName: string, bump: number): void;
  /** Everything is mended and gets its time; then the clusters must be as they ought to be. */
  rest(): Promise<void>;
}

/** One kind of step. */
export interface StepKind {
  /** How often it is drawn, among the weights of all. */
  readonly weight: number;
  /** Bounds of `n` and `v`, excluded. Default: 1. */
  readonly n?: number;
  readonly v?: number;
  readonly isAboutCluster?: boolean;
  readonly act: (stage: Stage, step: Step) => void | Promise<void>;
}

export type StepKinds = Readonly<Record<string, StepKind>>;

export function drawStep(kinds: StepKinds, clusters: readonly string[], random: Random): Step {
  const names = Object.keys(kinds);
  const total = names.reduce((sum, name) => sum + (kinds[name]?.weight ?? 0), 0);
  let left = random.next() * total;
  const does = names.find((name) => {
    left -= kinds[name]?.weight ?? 0;
    return left < 0;
  });
  const kind = kinds[does ?? ""];
  if (does === undefined || kind === undefined) throw new RangeError("no step to draw");
  const { n = 1, v = 1, isAboutCluster = false } = kind;
  return { does, cluster: isAboutCluster ? random.pick(clusters) : "-", n: random.int(n), v: random.int(v) };
}

export function formatStep({ does, cluster, n, v }: Step): string {
  return `${does} ${cluster} ${n} ${v}`;
}

/** Throws RangeError for a text that is no step. */
export function parseStep(text: string): Step {
  const [does = "", cluster = "-", n = "0", v = "0"] = text.trim().split(/\s+/);
  if (does === "") throw new RangeError("an empty step");
  return { does, cluster, n: Number(n), v: Number(v) };
}
