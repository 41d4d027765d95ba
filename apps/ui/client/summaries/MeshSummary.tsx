import { keyOfResource } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { type Mesh, VirtualMesh } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { formatFilter } from "../model/lines/tokens.ts";
import { meshFacts } from "../model/meshFacts.ts";
import { approvalStatus } from "../model/status.ts";
import { t } from "../strings.ts";
import { Problems } from "./ObjectErrors.tsx";
import { ObjectFacts } from "./ObjectFacts.tsx";

/** A mesh: where it runs, its trust, its gateways, the VirtualMesh that it is in. */
export function MeshSummary({ mesh }: { readonly mesh: Mesh }) {
  const { snapshot } = useFleet();
  const { type, installation, gateways } = meshFacts(mesh);
  const { istio, cilium } = mesh.spec ?? {};
  const { userObjects = [] } = mesh.status ?? {};
  const ref = mesh.status?.appliedVirtualMesh?.ref;
  const virtualMesh =
    ref === undefined ? undefined : { ...VirtualMesh, name: ref.name ?? "", namespace: ref.namespace ?? "", clusterName: "" };
  const here = virtualMesh && snapshot.of(VirtualMesh).get(virtualMesh)?.status?.meshes?.[keyOfResource(mesh)];
  const q = formatFilter({ tokens: [{ key: "cluster", values: [clusterOf(mesh)] }], words: [] });
  return (
    <>
      <Section title={t.meshes.installation}>
        <ObjectFacts
          object={mesh}
          rows={[
            [t.columns.type, type],
            [t.columns.version, installation?.version === undefined ? undefined : <Name key="version" text={installation.version} />],
            [t.columns.namespace, installation?.namespace === undefined ? undefined : <Name key="ns" text={installation.namespace} />],
            [t.meshes.region, installation?.region],
            [t.columns.trustDomain, istio?.trustDomain === undefined ? undefined : <Name key="trust" text={istio.trustDomain} />],
            [t.meshes.gatewaysApplied, gateways.length === 0 ? t.meshes.gatewaysNone : <Name key="gateways" text={gateways.join(", ")} />],
            [
              t.meshes.cilium,
              cilium === undefined ? undefined : (
                <Link key="cilium" to="/access/cilium" search={{ q }}>
                  <Name text={[cilium.version, cilium.enforcement].filter(Boolean).join(" · ") || t.meshes.cilium} />
                </Link>
              ),
            ],
            [
              t.meshes.userObjects,
              userObjects.length === 0 ? undefined : (
                <span key="users" className="inline">
                  {userObjects.map(({ group = "", kind = "", count = 0 }) => (
                    <Link key={`${group}/${kind}`} to="/debug/$group/$kind" params={{ group: group || "_", kind }} title={group}>
                      <Name text={`${kind} ${count}`} />
                    </Link>
                  ))}
                </span>
              ),
            ],
            [
              t.meshes.destinations,
              <Link key="destinations" to="/destinations" search={{ q }}>
                {t.nav.destinations}
              </Link>,
            ],
          ]}
        />
      </Section>
      {virtualMesh === undefined ? null : (
        <Section title={t.columns.virtualMesh}>
          <p className="inline">
            <ObjectLink to={virtualMesh} />
            {here === undefined ? null : <StatusMark status={approvalStatus(here.state ?? "PENDING", here.warnings?.length ?? 0)} />}
          </p>
          {here === undefined ? null : <Problems errors={here.errors ?? []} warnings={here.warnings ?? []} />}
        </Section>
      )}
    </>
  );
}
