import type { TrustProgressStatus } from "@isthmus/api";
import { refOf } from "@isthmus/core";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { PlainTable } from "../components/PlainTable.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import type { VirtualMesh } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { meshFacts } from "../model/meshFacts.ts";
import { targetsOf } from "../model/policyTargets.ts";
import { approvalStatus } from "../model/status.ts";
import { t } from "../strings.ts";
import { TrustState } from "./TrustSteps.tsx";

/** How far each mesh of a VirtualMesh is: accepted, trust, gateway. */
export function MeshProgress({ virtualMesh }: { readonly virtualMesh: VirtualMesh }) {
  const fleet = useFleet();
  const targets = targetsOf(fleet, virtualMesh).filter(({ destination, key }) => destination === undefined && isMesh(virtualMesh, key));
  return (
    <PlainTable
      label={t.meshes.members}
      headers={[t.columns.mesh, t.columns.state, t.meshes.trust, t.columns.gateways, t.columns.message]}
      rows={targets.map(({ key, mesh, status, state }) => ({
        key,
        cells: [
          mesh === undefined ? <Name key="name" text={key} /> : <ObjectLink key="name" to={refOf(mesh)} text={mesh.metadata.name} />,
          <StatusMark key="state" status={approvalStatus(state, status.warnings?.length ?? 0)} />,
          <TrustState key="trust" trust={(status as { readonly trust?: TrustProgressStatus }).trust} />,
          <Name key="gateways" text={mesh === undefined ? "" : meshFacts(mesh).gateways.join(", ")} />,
          <Name key="message" text={[...(status.errors ?? []), ...(status.warnings ?? [])].join("; ")} isWrapped />,
        ],
      }))}
    />
  );
}

function isMesh({ status }: VirtualMesh, key: string): boolean {
  return Object.hasOwn(status?.meshes ?? {}, key);
}
