import { type AnyResource, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { isTheirs, THEIRS } from "../objects.ts";
import type { Stage, StepKinds } from "../step.ts";

// What is published is written again within a second, unless the API server is not reached for a while.
const PUT_BACK_MS = 10_000;

type Meddling = (stage: Stage, cluster: string, ref: ResourceRef) => void;

const MEDDLINGS: readonly Meddling[] = [
  /** Another object of the name takes the place of ours, or stands where ours was to be. */
  (stage, cluster, ref) => {
    const object = stage.object(ref) ?? stage.wantedAs(ref);
    if (object !== undefined) replaceByForeign(stage, cluster, object);
  },
  (stage, cluster, ref) => takeOver(stage, cluster, stage.object(ref)),
  (stage, cluster, ref) => {
    const object = stage.object(ref);
    if (object !== undefined) stage.put(cluster, edited(object, "somebody"), "somebody");
  },
  (stage, cluster, ref) => stage.remove(cluster, ref),
];

function replaceByForeign(stage: Stage, cluster: string, object: Resource): void {
  stage.remove(cluster, refOf(object));
  const { name, namespace = "" } = object.metadata;
  stage.put(cluster, { ...edited(object, "theirs"), metadata: { name, namespace, labels: { [THEIRS]: "yes" } } }, "somebody");
}

/** Somebody makes an object of ours their own by taking our labels off. */
function takeOver(stage: Stage, cluster: string, object: AnyResource | undefined): void {
  if (object === undefined) return;
  const { labels: _, ...metadata } = object.metadata;
  stage.replace(cluster, { ...object, metadata });
}

/** The object with another value in the first field of its spec; a field of their own beside ours would be none of our business. */
function edited(object: Resource, text: string): AnyResource {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace = "" } = metadata;
  const fields = Object.entries((object as AnyResource)["spec"] ?? {}).slice(0, 1);
  const spec = Object.fromEntries(fields.map(([field, value]) => [field, Array.isArray(value) ? [] : text]));
  return { apiVersion, kind, metadata: { name, namespace }, spec };
}

/** Others who meddle with what we write, or stand in its way. */
export const meddlingSteps: StepKinds = {
  /** Somebody is faster: right after one of our processes has looked at an object, and before it does anything about it. */
  meddleInBetween: {
    weight: 5,
    n: 5,
    v: MEDDLINGS.length,
    isAboutCluster: true,
    act(stage, { cluster, n, v }) {
      stage.fleet.calls.afterRead(cluster, n, (ref) => MEDDLINGS[v]?.(stage, cluster, ref));
    },
  },
  /** Somebody takes the name of an object that is about to be made. */
  occupy: {
    weight: 2,
    n: 2,
    isAboutCluster: true,
    act(stage, { cluster, n }) {
      const wait = (left: number) =>
        stage.fleet.calls.afterRead(cluster, 0, (ref) => {
          const ought = stage.object(ref) === undefined ? stage.wantedAs(ref) : undefined;
          if (ought !== undefined && left === 0) replaceByForeign(stage, cluster, ought);
          else wait(ought === undefined ? left : left - 1);
        });
      wait(n);
    },
  },
  editOurs: {
    weight: 3,
    n: 24,
    isAboutCluster: true,
    act(stage, { cluster, n }) {
      const object = stage.ours(cluster, n);
      if (object !== undefined) stage.put(cluster, edited(object, "somebody"), "somebody");
    },
  },
  deleteOurs: {
    weight: 3,
    n: 24,
    isAboutCluster: true,
    act(stage, { cluster, n }) {
      const object = stage.ours(cluster, n);
      if (object !== undefined) stage.remove(cluster, refOf(object));
    },
  },
  /**
   * Somebody deletes a published object of discovery, and the server puts it back. Only while it can, and until it has: published objects
   * are the memory of clusters that are offline (docs/decisions/0011), and a server that ends before has lost it.
   */
  deletePublished: {
    weight: 2,
    n: 24,
    async act(stage, { n }) {
      const { fleet } = stage;
      const object = fleet.leader()?.server.translation === undefined || fleet.isTroubled("") ? undefined : stage.ours("", n);
      if (object === undefined) return;
      stage.remove("", refOf(object));
      const end = fleet.clock.now() + PUT_BACK_MS;
      do await fleet.clock.advance(100);
      while (stage.object(refOf(object)) === undefined && fleet.clock.now() < end);
    },
  },
  takeOver: { weight: 2, n: 24, isAboutCluster: true, act: (stage, { cluster, n }) => takeOver(stage, cluster, stage.ours(cluster, n)) },
  /** Somebody has an object of the name that one of ours has, or ought to have. */
  foreign: {
    weight: 3,
    n: 24,
    isAboutCluster: true,
    act(stage, { cluster, n }) {
      const object = stage.wanted(cluster, n);
      if (object !== undefined) replaceByForeign(stage, cluster, object);
    },
  },
  /** Somebody has copied an object of ours, labels and all, under a name of their own. */
  copyOurs: {
    weight: 2,
    n: 24,
    isAboutCluster: true,
    act(stage, { cluster, n }) {
      const object = stage.ours(cluster, n);
      if (object === undefined || isTheirs(object)) return;
      const { name, namespace = "", labels } = object.metadata;
      const metadata = { name: `${name}-copy`, namespace, labels: { ...labels, [THEIRS]: "yes" } };
      stage.put(cluster, { ...edited(object, "copied"), metadata }, "somebody");
    },
  },
  /** Whatever of somebody else's stands in our way goes. */
  clearTheWay: {
    weight: 1,
    isAboutCluster: true,
    act(stage, { cluster }) {
      for (const object of stage.fleet.clusters.get(cluster)?.objects() ?? []) {
        if (isTheirs(object)) stage.remove(cluster, refOf(object));
      }
    },
  },
};
