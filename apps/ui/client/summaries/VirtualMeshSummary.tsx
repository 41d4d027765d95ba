import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Facts } from "../components/Facts.tsx";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import { AccessPolicy, type VirtualMesh } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { valueText } from "../model/effect.ts";
import { formatFilter } from "../model/lines/tokens.ts";
import { titled } from "../model/status.ts";
import { t } from "../strings.ts";
import { Conditions } from "./Conditions.tsx";
import { GatewayList } from "./GatewayList.tsx";
import { MeshProgress } from "./MeshProgress.tsx";
import { ObjectErrors } from "./ObjectErrors.tsx";
import { ObjectFacts } from "./ObjectFacts.tsx";
import { Targets } from "./Targets.tsx";

/** A VirtualMesh: how far its meshes are, its trust, federation and access, its Destinations. */
export function VirtualMeshSummary({ virtualMesh, access }: { readonly virtualMesh: VirtualMesh; readonly access: ReactNode }) {
  const { spec = {}, status } = virtualMesh;
  const { snapshot } = useFleet();
  const { mtlsConfig, federation, globalAccessPolicy = "MESH_DEFAULT" } = spec;
  return (
    <>
      <ObjectErrors object={virtualMesh} />
      <Section title={t.meshes.members}>
        <MeshProgress virtualMesh={virtualMesh} />
        <Facts
          rows={[
            [t.meshes.trust, mtlsConfig === undefined ? t.meshes.notShared : <Name key="trust" text={valueText(mtlsConfig)} isWrapped />],
            [
              t.meshes.federation,
              federation === undefined ? t.common.none : <Name key="federation" text={valueText(federation)} isWrapped />,
            ],
            [t.meshes.gatewaysApplied, <GatewayList key="gateways" virtualMesh={virtualMesh} />],
            [t.columns.federated, `${status?.acceptedCount ?? 0}/${status?.targetCount ?? 0} ${t.destinations.what}`],
            [
              t.meshes.access,
              <span key="access" className="inline">
                {titled(globalAccessPolicy)}
                <Link to="/policies" search={{ q: formatFilter({ tokens: [{ key: "kind", values: [AccessPolicy.kind] }], words: [] }) }}>
                  {t.meshes.accessPolicies(snapshot.of(AccessPolicy).size)}
                </Link>
                <Link to="/access">{t.meshes.whoMayCall}</Link>
              </span>,
            ],
            [t.access.nobodyMayCall, access],
          ]}
        />
      </Section>
      <Conditions object={virtualMesh} />
      <Targets policy={virtualMesh} />
      <Section title={t.clusters.about}>
        <ObjectFacts object={virtualMesh} />
      </Section>
    </>
  );
}
