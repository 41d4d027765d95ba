import { IssuedCertificate, type IssuedCertificateSpec, Mesh, type RequestedTrust, Secret, VirtualMesh } from "@isthmus/api";
import { type PendingTrust, type TrustMember, type TrustRequest, trustPlan } from "@isthmus/certificates";
import { displayName, equalJson, keptText, kindKeyOf, type ObjectRef, type ResourceRef, resourceKeyOf, type Snapshot } from "@isthmus/core";
import { inForceOf, memoizeRow, type Translation } from "@isthmus/translators";
import { earlierRoots } from "./earlierRoots.ts";
import { leftWorkloads } from "./leaveAnnotation.ts";
import { offeredRoot, type ReportedMember, reportedTrust } from "./offeredRoots.ts";
import { reissueAnnotation } from "./reissueAnnotation.ts";
import type { KnownRoot } from "./trustRoots.ts";

/** What is ordered of one mesh's agent. */
export interface MeshTrustRequest {
  readonly ref: ResourceRef;
  readonly virtualMesh: VirtualMesh;
  readonly spec: IssuedCertificateSpec;
  /** The Secret with the root that the CA is to be signed with. */
  readonly signWith: ObjectRef;
  /** The root has not been read since this server began: which step is in force is not known, and nothing is ordered. */
  readonly isRootUnread: boolean;
  /** Rises with each order to anybody. */
  readonly number: number;
  /** The first order of an unbroken series to this mesh: what is reported of earlier ones says nothing. */
  readonly since: number;
  /** What was ordered in this series and is not known to be followed or replaced: it may be in force at any moment. */
  readonly given: readonly GivenTrust[];
}

interface GivenTrust extends PendingTrust {
  readonly number: number;
}

/** What orders follow from, beside the translation. */
export interface TrustSources {
  /** Of the management plane. */
  readonly namespace: string;
  /** What agents report of a cluster. */
  readonly snapshotIn: (clusterName: string) => Snapshot;
  /** Names the connection of a cluster's agent; undefined while what is known of the cluster may be old. */
  readonly connectionOf: (clusterName: string) => string | undefined;
  readonly management: Snapshot;
  /** The root in a Secret, of this version where it is watched. */
  readonly rootIn: (ref: { readonly name: string; readonly namespace: string }, version: string | undefined) => KnownRoot | undefined;
  /** What was ordered last, by `resourceKeyOf`. */
  readonly ordered: ReadonlyMap<string, MeshTrustRequest>;
  /** A number that no order bears yet. */
  readonly nextNumber: () => number;
}

/** What each agent is to do for the trust of its meshes, by `resourceKeyOf` the IssuedCertificate. Made of what is there, and of nothing kept. */
export function trustRequests(world: Translation, sources: TrustSources): ReadonlyMap<string, MeshTrustRequest> {
  const orders = new Map<string, MeshTrustRequest>();
  const issued = issuedByVirtualMesh(world);
  const controlPlanes = controlPlanesByCluster(world);
  const secrets = sharedSecrets(issued);
  for (const [virtualMesh, members] of issued) {
    const offered = members.some(({ spec }) => spec.agentCa !== undefined) ? offeredRoot(reportsOf(members, sources)) : undefined;
    const target = offered === undefined ? rootOf(virtualMesh, members, sources) : offered.target;
    const plan = offered?.kept ?? planOf(virtualMesh, members, { world, sources, target });
    for (const member of members) {
      const sharing = secrets.get(secretKeyOf(member)) ?? { members: [member], problem: undefined };
      // Control planes that read the same Secret take the same step.
      const step = sharing.problem === undefined ? plan.get(nameOf((sharing.members[0] ?? member).mesh)) : undefined;
      const planes = controlPlanes.get(member.ref.clusterName) ?? [];
      orders.set(resourceKeyOf(member.ref), orderOf(member, { virtualMesh, target, step, sources, sharing, planes }));
    }
  }
  return orders;
}

function orderOf(
  { ref, mesh, spec }: Member,
  {
    virtualMesh,
    target,
    step,
    sources,
    sharing,
    planes,
  }: {
    readonly virtualMesh: VirtualMesh;
    readonly target: KnownRoot | undefined;
    readonly step: TrustRequest | undefined;
    readonly sources: TrustSources;
    readonly sharing: SharedSecret;
    readonly planes: NonNullable<RequestedTrust["controlPlanes"]>;
  },
): MeshTrustRequest {
  const last = sources.ordered.get(resourceKeyOf(ref));
  const connection = sources.connectionOf(ref.clusterName);
  const { roots = [], ...asked } = step ?? {};
  // An authority outside signs below its present root alone.
  const earlier = step?.step === "TRUST_BOTH" && spec.agentCa === undefined ? earlierRootOf(virtualMesh, step.signer, sources) : undefined;
  const reissue = reissueOf(virtualMesh, sharing.members);
  const leave = leaveOf(virtualMesh, sharing.members, target);
  const hosts = [...new Set(sharing.members.flatMap((member) => member.spec.hosts ?? []))];
  const problem = sharing.problem ?? (target !== undefined && "problem" in target ? target.problem : undefined);
  const asOf = (number: number): IssuedCertificateSpec => {
    const trust: RequestedTrust = {
      controlPlaneLabels: mesh.spec?.istio?.installation?.podLabels ?? {},
      ...(connection === undefined ? {} : { term: termOf(connection, number) }),
      ...(planes.length === 0 ? {} : { controlPlanes: planes }),
      ...(problem === undefined ? {} : { problem }),
      ...asked,
      ...(earlier === undefined ? {} : { isRenewable: true }),
      ...(reissue === undefined ? {} : { reissue }),
      ...(leave.length === 0 ? {} : { leave: [...leave] }),
    };
    return { ...spec, hosts, trust };
  };
  const isSame = last !== undefined && equalJson(demandOf(asOf(last.number)), demandOf(last.spec));
  const number = isSame ? last.number : sources.nextNumber();
  const { since = number, given = [] } = last ?? {};
  const open = step === undefined ? given : withOrder(given, { roots, signer: step.signer, number });
  const answered = answeredNumber(ref, sources) ?? 0;
  const signWith = earlier ?? signingSecretOf(spec);
  const isRootUnread = target === undefined && step === undefined && problem === undefined && spec.agentCa === undefined;
  return {
    ref,
    virtualMesh,
    spec: asOf(number),
    signWith,
    isRootUnread,
    number,
    since,
    given: open.filter((one) => one.number > answered),
  };
}

/** The Secret with the root that a mesh is to leave, where it is known and may still sign. */
function earlierRootOf(virtualMesh: VirtualMesh, signer: string, { namespace, management, rootIn }: TrustSources): ObjectRef | undefined {
  return earlierRoots(virtualMesh, namespace, management).find((ref) => {
    const known = rootIn(ref, management.of(Secret).get({ ...ref, clusterName: "" })?.metadata.resourceVersion);
    return known !== undefined && "root" in known && known.root.fingerprint === signer;
  });
}

function signingSecretOf({ glooMeshCa }: IssuedCertificateSpec): ObjectRef {
  const { name = "", namespace = "" } = glooMeshCa?.signingCertificateSecret ?? {};
  return { name, namespace };
}

/** A Secret that several control planes read, such as revisions of istiod in one namespace. */
interface SharedSecret {
  /** In the order of their names. */
  readonly members: readonly Member[];
  /** Why nothing can be ordered. */
  readonly problem: string | undefined;
}

function sharedSecrets(issued: ReadonlyMap<VirtualMesh, readonly Member[]>): ReadonlyMap<string, SharedSecret> {
  const found = new Map<string, { readonly member: Member; readonly virtualMesh: VirtualMesh }[]>();
  for (const [virtualMesh, members] of issued) {
    for (const member of members) {
      const key = secretKeyOf(member);
      found.set(key, [...(found.get(key) ?? []), { member, virtualMesh }]);
    }
  }
  const shared = [...found].map(([key, users]): [string, SharedSecret] => {
    const sorted = [...users].sort((a, b) => (nameOf(a.member.mesh) < nameOf(b.member.mesh) ? -1 : 1));
    return [key, { members: sorted.map(({ member }) => member), problem: sharingProblem(sorted) }];
  });
  return new Map(shared);
}

function sharingProblem(users: readonly { readonly member: Member; readonly virtualMesh: VirtualMesh }[]): string | undefined {
  const [first, ...others] = users;
  if (first === undefined || others.every(({ virtualMesh }) => virtualMesh === first.virtualMesh)) return undefined;
  const { name, namespace } = first.member.spec.issuedCertificateSecret ?? {};
  const named = users.map(({ member, virtualMesh }) => `Mesh ${nameOf(member.mesh)} of VirtualMesh ${displayName(virtualMesh.metadata)}`);
  return (
    `Secret ${namespace}/${name} of ${first.member.ref.clusterName} is read by several control planes whose roots differ: ${named.join(", ")}: ` +
    "list these meshes in one VirtualMesh, or install each control plane in its own namespace"
  );
}

function secretKeyOf({ ref, spec }: Member): string {
  const { name = ref.name, namespace = "" } = spec.issuedCertificateSecret ?? {};
  return `${ref.clusterName}/${namespace}/${name}`;
}

function controlPlanesByCluster({ attached }: Translation): ReadonlyMap<string, NonNullable<RequestedTrust["controlPlanes"]>> {
  const found = new Map<string, NonNullable<RequestedTrust["controlPlanes"]>>();
  for (const { metadata, spec } of attached.of(Mesh)) {
    if (spec?.istio === undefined) continue;
    const { cluster = "", namespace = "", podLabels = {} } = spec.istio.installation ?? {};
    found.set(cluster, [...(found.get(cluster) ?? []), { name: metadata.name, namespace, labels: podLabels }]);
  }
  return found;
}

/** The last demand for any of the meshes: they share the CA. */
function reissueOf({ metadata }: VirtualMesh, members: readonly Member[]): string | undefined {
  const demands = members.flatMap(({ mesh }) => metadata.annotations?.[reissueAnnotation(mesh.metadata.name)] ?? []);
  const [last] = demands.sort().slice(-1);
  return last === undefined ? undefined : keptText(last, LONGEST_DEMAND);
}

/** What users leave out of the change to this very root, of any of the meshes: they share the CA, and the pods that are waited for. */
function leaveOf(virtualMesh: VirtualMesh, members: readonly Member[], target: KnownRoot | undefined): readonly string[] {
  if (target === undefined || "problem" in target) return [];
  const found = members.flatMap(({ mesh }) => leftWorkloads(virtualMesh, mesh.metadata.name) ?? []);
  return [...new Set(found.filter(({ root }) => root === target.root.fingerprint).flatMap(({ workloads }) => workloads))].sort();
}

/** Of several orders for the same trust the last one counts: it is answered last. */
function withOrder(given: readonly GivenTrust[], order: GivenTrust): readonly GivenTrust[] {
  const { number: _, ...trust } = order;
  return [...given.filter(({ number, ...one }) => !equalJson(one, trust)), order];
}

function termOf(connection: string, number: number): string {
  return `${termPrefix(connection)}${number}`;
}

function termPrefix(connection: string): string {
  return `${connection}/`;
}

/** A mesh whose CA this server orders. */
export interface Member {
  readonly ref: ResourceRef;
  readonly mesh: Mesh;
  readonly spec: IssuedCertificateSpec;
}

/** Where the roots of VirtualMeshes are to be, with the VirtualMeshes that have theirs generated. */
export function generatedRoots(world: Translation): readonly { readonly ref: ObjectRef; readonly virtualMesh: VirtualMesh }[] {
  return [...issuedByVirtualMesh(world)].flatMap(([virtualMesh, [first]]) => {
    const ref = signingSecretOf(first?.spec ?? {});
    return hasGivenRoot(virtualMesh) || ref.name === "" ? [] : [{ ref, virtualMesh }];
  });
}

/** The IssuedCertificates that this server orders, by their VirtualMesh: found once for each translation, though several ask. */
export const issuedByVirtualMesh: (world: Translation) => ReadonlyMap<VirtualMesh, readonly Member[]> = memoizeRow(membersByVirtualMesh);

function membersByVirtualMesh(world: Translation): ReadonlyMap<VirtualMesh, readonly Member[]> {
  const { attached, networking } = world;
  const found = new Map<VirtualMesh, Member[]>();
  for (const mesh of attached.of(Mesh)) {
    const ref = refOfIssued(mesh);
    const output = networking.get(ref);
    if (output === undefined) continue;
    const { spec = {} } = output.resource as IssuedCertificate;
    const [parent] = output.parents.filter((one) => kindKeyOf(one) === kindKeyOf(VirtualMesh));
    const virtualMesh = parent === undefined ? undefined : inForceOf(world, parent);
    if (virtualMesh === undefined || (spec.glooMeshCa ?? spec.agentCa) === undefined) continue;
    const members = found.get(virtualMesh) ?? [];
    found.set(virtualMesh, members);
    members.push({ ref, mesh, spec });
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

function rootOf(virtualMesh: VirtualMesh, [first]: readonly Member[], { management, rootIn }: TrustSources): KnownRoot | undefined {
  const { name, namespace } = signingSecretOf(first?.spec ?? {});
  const secret = management.of(Secret).get({ name, namespace, clusterName: "" });
  // One that is generated comes to be by itself. One of the user may be where the server watches nothing.
  return secret === undefined && !hasGivenRoot(virtualMesh) ? undefined : rootIn({ name, namespace }, secret?.metadata.resourceVersion);
}

function hasGivenRoot({ spec }: VirtualMesh): boolean {
  return spec?.mtlsConfig?.shared?.rootCertificateAuthority?.secret !== undefined;
}

function planOf(
  virtualMesh: VirtualMesh,
  members: readonly Member[],
  { world, sources, target }: { readonly world: Translation; readonly sources: TrustSources; readonly target: KnownRoot | undefined },
): ReadonlyMap<string, TrustRequest> {
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

/** Also those of agents that are offline: what they were offered is all that is known. */
function reportsOf(members: readonly Member[], { snapshotIn }: TrustSources): readonly ReportedMember[] {
  return members.map(({ ref, mesh }) => ({ name: nameOf(mesh), reported: snapshotIn(ref.clusterName).of(IssuedCertificate).get(ref) }));
}

/** Facts count when they were reported in this connection. What was ordered since is added to them. */
function reportOf(member: Member, sources: TrustSources): Omit<TrustMember, "name"> {
  const trust = reportedTrust(sources.snapshotIn(member.ref.clusterName).of(IssuedCertificate).get(member.ref));
  const answered = answeredNumber(member.ref, sources);
  const { given = [] } = sources.ordered.get(resourceKeyOf(member.ref)) ?? {};
  return { trust, isConnected: answered !== undefined, ordered: given.filter(({ number }) => number > (answered ?? 0)) };
}

/** The order that the last report is about; undefined where it is none of this connection. */
function answeredNumber(ref: ResourceRef, { snapshotIn, connectionOf, ordered }: TrustSources): number | undefined {
  const term = snapshotIn(ref.clusterName).of(IssuedCertificate).get(ref)?.spec?.trust?.term;
  const connection = connectionOf(ref.clusterName);
  const last = ordered.get(resourceKeyOf(ref));
  if (term === undefined || connection === undefined || last === undefined || !term.startsWith(termPrefix(connection))) return undefined;
  const number = Number(term.slice(termPrefix(connection).length));
  return number >= last.since && number <= last.number ? number : undefined;
}

/** What is demanded: that others are waited for is no other demand, and changes with each answer. */
function demandOf({ trust, ...spec }: IssuedCertificateSpec): object {
  const { waitsFor: _, ...demanded } = trust ?? {};
  return { ...spec, trust: demanded };
}

const LONGEST_DEMAND = 64;
