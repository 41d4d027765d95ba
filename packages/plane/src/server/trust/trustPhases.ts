import { IssuedCertificate, Mesh, type TrustProgressStatus, type VirtualMesh } from "@isthmus/api";
import { type Condition, displayName, type ResourceRef } from "@isthmus/core";
import { isAbout, NOT_REPORTED, type Translation, trustBlocker } from "@isthmus/translators";
import type { SnapshotStore } from "../../snapshots/snapshotStore.ts";
import { issuedByVirtualMesh, type Member } from "./trustRequests.ts";

/** How far a mesh is, but for the time. */
export type MeshPhase = Omit<TrustProgressStatus, "since">;

/** How far the meshes of a VirtualMesh are from its root. */
export interface TrustPhases {
  /** By `name.namespace.` of the mesh, as statuses name it. Undefined: nothing is reported since this server started, and what is written stays. */
  readonly meshes: ReadonlyMap<string, MeshPhase | undefined>;
  /** Of these meshes nothing is reported at the moment: their phase is not the word of an agent. */
  readonly unreported: ReadonlySet<string>;
  readonly condition: Condition;
}

export interface PhaseSources {
  readonly translation: Translation | undefined;
  readonly store: Pick<SnapshotStore, "clusters" | "snapshotIn">;
  /** Why a mesh gets no CA, by its IssuedCertificate: this does not depend on the word of its agent. */
  readonly refusalOf: (ref: ResourceRef) => string | undefined;
}

/** The phases of each VirtualMesh whose trust we keep, by `namespace/name`; those of workload clusters are left out. */
export function trustPhases({ translation, store, refusalOf }: PhaseSources): ReadonlyMap<string, TrustPhases> {
  const found = new Map<string, TrustPhases>();
  if (translation === undefined) return found;
  const clusters = new Map([...translation.attached.of(Mesh)].map((mesh) => [displayName(mesh.metadata), clusterOf(mesh)]));
  for (const [virtualMesh, members] of issuedByVirtualMesh(translation)) {
    if ((virtualMesh.metadata.clusterName ?? "") !== "") continue;
    const own = new Map(members.map((member) => [displayName(member.mesh.metadata), member]));
    const names = namesIn(virtualMesh);
    const meshes = names.map((name): readonly [string, MeshPhase | undefined] => {
      const member = own.get(name);
      return [name, member === undefined ? phaseWithout(clusters.get(name)) : phaseOf(member, { store, refusalOf, clusters })];
    });
    const byKey = meshes.map(([name, phase]): readonly [string, MeshPhase | undefined] => [keyOfStatus(name), phase]);
    const unreported = names.filter((name) => !isReported(own.get(name), store)).map(keyOfStatus);
    found.set(displayName(virtualMesh.metadata), {
      meshes: new Map(byKey),
      unreported: new Set(unreported),
      condition: conditionOf(meshes),
    });
  }
  return found;
}

function isReported(member: Member | undefined, store: PhaseSources["store"]): boolean {
  return member !== undefined && store.snapshotIn(member.ref.clusterName).of(IssuedCertificate).get(member.ref)?.status !== undefined;
}

function namesIn({ metadata, spec }: VirtualMesh): readonly string[] {
  const refs = spec?.meshes ?? [];
  return [...new Set(refs.map(({ name = "", namespace = "" }) => `${namespace || (metadata.namespace ?? "")}/${name}`))];
}

/** As the status of a user resource names its targets. */
function keyOfStatus(name: string): string {
  const [namespace = "", own = ""] = name.split("/");
  return `${own}.${namespace}.`;
}

function clusterOf({ spec }: Mesh): string {
  return spec?.istio?.installation?.cluster ?? "";
}

function phaseWithout(cluster: string | undefined): MeshPhase {
  const blockedBy =
    cluster === undefined
      ? "the mesh is not discovered: remove it from spec.meshes, or check the agent of its cluster"
      : `no agent runs in cluster ${cluster} that could make a key there: install the agent`;
  return { state: "PENDING", blockedBy };
}

function phaseOf(
  { ref, spec, mesh }: Member,
  { store, refusalOf, clusters }: Pick<PhaseSources, "store" | "refusalOf"> & { readonly clusters: ReadonlyMap<string, string> },
): MeshPhase | undefined {
  const reported = store.snapshotIn(ref.clusterName).of(IssuedCertificate).get(ref);
  const { phase = "unknown" } = store.clusters.get(ref.clusterName) ?? {};
  if (reported === undefined && phase === "unknown") return undefined;
  const refusal = refusalOf(ref);
  const { state: told = "PENDING", error } = reported?.status ?? {};
  // Of an earlier order it says nothing about this one.
  const known = told === "FINISHED" && reported !== undefined && !isAbout(spec, reported) ? "PENDING" : told;
  // Its pods have what they had; who starts now gets no certificate.
  const gone = mesh.spec?.held?.reason;
  const state = refusal !== undefined ? "FAILED" : gone !== undefined && known === "FINISHED" ? "PENDING" : known;
  const { step, waitsFor = [] } = reported?.spec?.trust ?? {};
  const offline = (cluster: string) => store.clusters.get(cluster)?.connected !== true;
  const waiting = waitsFor.map((mesh) => ({ mesh, cluster: clusters.get(mesh) ?? "", offline: offline(clusters.get(mesh) ?? "") }));
  const ofReport = reported?.status === undefined ? unreported(ref.clusterName) : trustBlocker(reported);
  const blocker = state === "FAILED" ? (refusal ?? error) : (gone ?? ofReport);
  return {
    state,
    ...(step === undefined ? {} : { step }),
    ...(waiting.length === 0 ? {} : { waitsFor: waiting }),
    ...(blocker === undefined || state === "FINISHED" ? {} : { blockedBy: blocker }),
  };
}

function unreported(cluster: string): string {
  return (
    `the agent of cluster ${cluster} has reported nothing: check that it is connected; in a cluster that is connected without an agent, that an agent ` +
    "for certificates runs there (value mode: standard of its chart)"
  );
}

function conditionOf(meshes: readonly (readonly [string, MeshPhase | undefined])[]): Condition {
  const type = "TrustInForce";
  const known = meshes.flatMap(([name, phase]): readonly (readonly [string, MeshPhase])[] => (phase === undefined ? [] : [[name, phase]]));
  if (known.length < meshes.length) {
    const unknown = meshes.filter(([, phase]) => phase === undefined).map(([name]) => name);
    const message = `nothing is reported of ${unknown.slice(0, MOST_NAMED).join(", ")} since the server started`;
    return { type, status: "Unknown", reason: NOT_REPORTED, message };
  }
  const unfinished = known.filter(([, { state, step }]) => state !== "FINISHED" || (step !== undefined && step !== "KEEP"));
  // Of many the first are named: those that need a person.
  const open = [...unfinished].sort((one, other) => Number(isFailed(other)) - Number(isFailed(one)));
  if (open.length === 0) {
    return {
      type,
      status: "True",
      reason: "RootInForce",
      message: `the proxies of all ${meshes.length} meshes use certificates of the root`,
    };
  }
  const reason = open.some(isFailed) ? "Failed" : open.some(isHeld) ? "ClusterOffline" : "RootChanging";
  const named = open.slice(0, MOST_NAMED).map(([name, phase]) => sentenceOf(name, phase));
  const more = open.length > MOST_NAMED ? [`and ${open.length - MOST_NAMED} more: see status.meshes`] : [];
  return { type, status: "False", reason, message: [...named, ...more].join("; ") };
}

function isFailed([, { state }]: readonly [string, MeshPhase]): boolean {
  return state === "FAILED";
}

function isHeld([, { waitsFor = [] }]: readonly [string, MeshPhase]): boolean {
  return waitsFor.some(({ offline }) => offline === true);
}

function sentenceOf(name: string, { state, step, waitsFor = [], blockedBy }: MeshPhase): string {
  const others = waitsFor.filter(({ mesh }) => mesh !== name);
  const waiting = others.map(
    ({ mesh, cluster, offline }) => `${mesh} of ${cluster || "no known cluster"}${offline === true ? " (offline)" : ""}`,
  );
  const cause = blockedBy ?? (waiting.length === 0 ? undefined : `it waits for ${waiting.slice(0, MOST_NAMED).join(", ")}`);
  return `Mesh ${name} is ${state}${step === undefined ? "" : ` at step ${step}`}${cause === undefined ? "" : `: ${cause}`}`;
}

const MOST_NAMED = 3;
