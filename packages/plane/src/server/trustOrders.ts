import { IssuedCertificate, type IssuedCertificateSpec, Mesh, type RequestedTrust, Secret, VirtualMesh } from "@isthmus/api";
import { type MeshTrust, type TrustMember, type TrustOrder, trustPlan } from "@isthmus/certificates";
import { equalJson, kindKeyOf, type ObjectRef, type ResourceRef, resourceKeyOf, type Snapshot } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import type { KnownRoot } from "./trustRoots.ts";

/** What is ordered of one mesh's agent. */
export interface MeshOrder {
  readonly ref: ResourceRef;
  readonly virtualMesh: VirtualMesh;
  readonly spec: IssuedCertificateSpec;
}

/** What orders follow from, beside the translation. */
export interface TrustSources {
  /** What agents report of a cluster. */
  readonly snapshotIn: (clusterName: string) => Snapshot;
  /** Names the connection of a cluster's agent; undefined while what is known of the cluster may be old. */
  readonly termOf: (clusterName: string) => string | undefined;
  readonly management: Snapshot;
  readonly rootIn: (secret: Secret) => KnownRoot | undefined;
  /** What was ordered last, by `resourceKeyOf`. */
  readonly ordered: ReadonlyMap<string, MeshOrder>;
}

/** What each agent is to do for the trust of its meshes, by `resourceKeyOf` the IssuedCertificate. Made of what is there, and of nothing kept. */
export function trustOrders(world: Translation, sources: TrustSources): ReadonlyMap<string, MeshOrder> {
  const orders = new Map<string, MeshOrder>();
  for (const [virtualMesh, members] of issuedByVirtualMesh(world)) {
    const target = rootOf(members, sources);
    const plan = planOf(virtualMesh, members, { world, sources, target });
    for (const { ref, spec, mesh } of members) {
      const key = resourceKeyOf(ref);
      const term = sources.termOf(ref.clusterName);
      const controlPlaneLabels = mesh.spec?.istio?.installation?.podLabels ?? {};
      const step = plan.get(nameOf(mesh));
      const trust: RequestedTrust = {
        controlPlaneLabels,
        ...(term === undefined ? {} : { term }),
        ...(target !== undefined && "problem" in target ? { problem: target.problem } : {}),
        ...(step === undefined ? {} : step),
      };
      orders.set(key, { ref, virtualMesh, spec: { ...spec, trust } });
    }
  }
  return orders;
}

interface Member {
  readonly ref: ResourceRef;
  readonly mesh: Mesh;
  readonly spec: IssuedCertificateSpec;
}

/** Where the roots of VirtualMeshes are to be, with the VirtualMeshes that have theirs generated. */
export function generatedRoots(world: Translation): readonly { readonly ref: ObjectRef; readonly virtualMesh: VirtualMesh }[] {
  return [...issuedByVirtualMesh(world)].flatMap(([virtualMesh, [first]]) => {
    const { name = "", namespace = "" } = first?.spec.glooMeshCa?.signingCertificateSecret ?? {};
    const isGiven = virtualMesh.spec?.mtlsConfig?.shared?.rootCertificateAuthority?.secret !== undefined;
    return isGiven || name === "" ? [] : [{ ref: { name, namespace }, virtualMesh }];
  });
}

/** The IssuedCertificates that this server signs, by their VirtualMesh. */
function issuedByVirtualMesh({ attached, networking }: Translation): ReadonlyMap<VirtualMesh, readonly Member[]> {
  const found = new Map<VirtualMesh, Member[]>();
  for (const mesh of attached.of(Mesh)) {
    const ref = refOfIssued(mesh);
    const output = networking.get(ref);
    if (output === undefined) continue;
    const { spec = {} } = output.resource as IssuedCertificate;
    const [parent] = output.parents.filter((one) => kindKeyOf(one) === kindKeyOf(VirtualMesh));
    const virtualMesh = parent === undefined ? undefined : attached.of(VirtualMesh).get(parent);
    if (virtualMesh === undefined || spec.glooMeshCa === undefined) continue;
    found.set(virtualMesh, [...(found.get(virtualMesh) ?? []), { ref, mesh, spec }]);
  }
  return found;
}

function refOfIssued({ metadata, spec }: Mesh): ResourceRef {
  return {
    apiVersion: IssuedCertificate.apiVersion,
    kind: IssuedCertificate.kind,
    name: metadata.name,
    namespace: spec?.agentInfo?.agentNamespace ?? "",
    clusterName: spec?.istio?.installation?.cluster ?? "",
  };
}

function rootOf([first]: readonly Member[], { management, rootIn }: TrustSources): KnownRoot | undefined {
  const { name = "", namespace = "" } = first?.spec.glooMeshCa?.signingCertificateSecret ?? {};
  const secret = management.of(Secret).get({ name, namespace, clusterName: "" });
  return secret === undefined ? undefined : rootIn(secret);
}

function planOf(
  virtualMesh: VirtualMesh,
  members: readonly Member[],
  { world, sources, target }: { readonly world: Translation; readonly sources: TrustSources; readonly target: KnownRoot | undefined },
): ReadonlyMap<string, TrustOrder> {
  if (target === undefined || "problem" in target) return new Map();
  const known = members.map((member): TrustMember => ({ name: nameOf(member.mesh), ...reportOf(member, sources) }));
  return trustPlan([...known, ...missing(virtualMesh, world)], target.root);
}

/** Meshes of which nothing is known: what they trust can't be known either. Those that can have no certificates of ours are left out. */
function missing({ spec, metadata }: VirtualMesh, { attached }: Translation): readonly TrustMember[] {
  const refs = (spec?.meshes ?? []).map(({ name = "", namespace = "" }) => ({ name, namespace: namespace || (metadata.namespace ?? "") }));
  const absent = refs.filter((ref) => attached.of(Mesh).get({ ...ref, clusterName: "" }) === undefined);
  return absent.map(({ name, namespace }) => ({ name: `${namespace}/${name}`, trust: undefined, isConnected: false }));
}

function nameOf({ metadata }: Mesh): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

/** Facts count when they were reported in this connection, and after what was ordered last. */
function reportOf({ ref }: Member, { snapshotIn, termOf, ordered }: TrustSources): Omit<TrustMember, "name"> {
  const reported = snapshotIn(ref.clusterName).of(IssuedCertificate).get(ref);
  const trust = trustIn(reported);
  const term = termOf(ref.clusterName);
  const last = ordered.get(resourceKeyOf(ref));
  const isAnswered = term !== undefined && reported?.spec?.trust?.term === term && equalJson(demandOf(reported.spec), demandOf(last?.spec));
  return { trust, isConnected: isAnswered };
}

/** What is demanded: that others are waited for is no other demand, and changes with each answer. */
function demandOf(spec: IssuedCertificateSpec | undefined): object | undefined {
  const { waitsFor: _, ...trust } = spec?.trust ?? {};
  return spec === undefined ? undefined : { ...spec, trust };
}

function trustIn(reported: IssuedCertificate | undefined): MeshTrust | undefined {
  const { installed, inForce } = reported?.status ?? {};
  const { rootCertificates, roots, signer } = installed ?? {};
  const { trusted, signers } = inForce ?? {};
  if (rootCertificates === undefined || roots === undefined || signer === undefined) return undefined;
  if (trusted === undefined || signers === undefined) return undefined;
  return { installed: { rootCertificates, roots, signer }, inForce: { trusted, signers } };
}
