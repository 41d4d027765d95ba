import type { TrustProgressStatus } from "@isthmus/api";
import { refOf } from "@isthmus/core";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import type { VirtualMesh } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { meshFacts } from "../model/meshFacts.ts";
import { type MeshMember, meshMember, shortFingerprint } from "../model/meshMembers.ts";
import { targetsOf } from "../model/policyTargets.ts";
import { approvalStatus } from "../model/status.ts";
import { trustSentences } from "../model/trustSentences.ts";
import { t } from "../strings.ts";
import { sentenceList, TrustState } from "./TrustSteps.tsx";

/** How far each mesh of a VirtualMesh is: accepted, trust, gateway. */
export function MeshProgress({ virtualMesh }: { readonly virtualMesh: VirtualMesh }) {
  const fleet = useFleet();
  const targets = targetsOf(fleet, virtualMesh).filter(({ destination, key }) => destination === undefined && isMesh(virtualMesh, key));
  const members = targets.map((target) => ({ ...target, member: target.mesh === undefined ? undefined : meshMember(fleet, target.mesh) }));
  const isShared = virtualMesh.spec?.mtlsConfig?.shared !== undefined;
  const first = members.find(({ member }) => (member?.roots.length ?? 0) > 0)?.member?.roots ?? [];
  // During a rotation some have one root, and others have two; all have one in common.
  const isOther = (member: MeshMember | undefined) =>
    isShared && (member?.roots.length ?? 0) > 0 && member?.roots.every((root) => !first.includes(root)) === true;
  return (
    <PlainTable
      label={t.meshes.members}
      headers={[
        t.columns.mesh,
        t.columns.state,
        t.meshes.trust,
        t.meshes.root,
        t.columns.workloads,
        t.meshes.destinations,
        t.columns.gateways,
      ]}
      rows={members.map(({ key, mesh, status, state, member }) => ({
        key,
        below: sentenceList(sentencesOf(status)),
        cells: [
          mesh === undefined ? <Name key="name" text={key} /> : <ObjectLink key="name" to={refOf(mesh)} text={mesh.metadata.name} />,
          <StatusMark key="state" status={approvalStatus(state, status.warnings?.length ?? 0)} />,
          <TrustState key="trust" trust={trustOf(status)} />,
          <Roots key="roots" roots={member?.roots ?? []} isOther={isOther(member)} />,
          member?.workloads ?? "–",
          member?.destinations ?? "–",
          <Name key="gateways" text={mesh === undefined ? "" : meshFacts(mesh).gateways.join(", ")} />,
        ],
      }))}
    />
  );
}

type MemberStatus = ReturnType<typeof targetsOf>[number]["status"];

function trustOf(status: MemberStatus): TrustProgressStatus | undefined {
  return (status as { readonly trust?: TrustProgressStatus }).trust;
}

/** What is wrong with a mesh, and what it waits for. */
function sentencesOf(status: MemberStatus): readonly string[] {
  const messages = [...(status.errors ?? []), ...(status.warnings ?? [])];
  return [...messages, ...trustSentences(trustOf(status), messages)];
}

/** Fingerprints of roots: whole ones in the title. */
function Roots({ roots, isOther }: { readonly roots: readonly string[]; readonly isOther: boolean }) {
  if (roots.length === 0) return <span className="muted">–</span>;
  return (
    <span className="stack">
      {roots.map((root) => (
        <code key={root} title={root}>
          {shortFingerprint(root)}
        </code>
      ))}
      {isOther ? <StatusMark status={{ tone: "warning", word: t.meshes.otherRoots }} /> : null}
    </span>
  );
}

function isMesh({ status }: VirtualMesh, key: string): boolean {
  return Object.hasOwn(status?.meshes ?? {}, key);
}
