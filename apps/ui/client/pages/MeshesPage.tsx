import { refOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { useScope } from "../components/frame/useScope.ts";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { Mesh, VirtualMesh } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { isInScope, policyClusters } from "../model/scope.ts";
import { approvalOf } from "../model/status.ts";
import { t } from "../strings.ts";
import { MeshProgress } from "../summaries/MeshProgress.tsx";
import { rowClusters, rowKey } from "./discoveredColumns.tsx";
import { MESH_COLUMNS } from "./meshColumns.tsx";
import { ObjectTable } from "./ObjectTable.tsx";
import { useDiscovered } from "./useDiscovered.ts";

/** VirtualMeshes with their progress, and all meshes. */
export function MeshesPage() {
  const fleet = useFleet();
  const scope = useScope();
  const all = [...fleet.snapshot.of(VirtualMesh)];
  const virtualMeshes = all.filter((virtualMesh) => isInScope(scope, policyClusters(fleet, virtualMesh)));
  return (
    <Page title={t.nav.meshes}>
      <p>
        <Link className="button" to="/meshes/certificates">
          {t.certificates.title}
        </Link>
      </p>
      <Section title={`${t.meshes.virtualMeshes} · ${t.common.of(virtualMeshes.length, all.length)}`}>
        {all.length === 0 ? <p className="muted">{t.meshes.virtualMeshesNone}</p> : null}
        {virtualMeshes.map((virtualMesh) => (
          <article key={`${virtualMesh.metadata.namespace}/${virtualMesh.metadata.name}`} className="card">
            <header className="card-head">
              <h3>
                <ObjectLink to={refOf(virtualMesh)} />
              </h3>
              <StatusMark status={approvalOf(virtualMesh)} />
            </header>
            <MeshProgress virtualMesh={virtualMesh} />
          </article>
        ))}
      </Section>
      <Section title={t.meshes.members}>
        <ObjectTable
          what={t.meshes.what}
          rows={useDiscovered(Mesh)}
          keyOf={rowKey}
          clustersOf={rowClusters}
          columns={MESH_COLUMNS}
          objectOf={({ object }) => object}
          empty={<Empty title={t.meshes.empty} how={t.meshes.emptyHow} command={t.meshes.emptyCommand} />}
        />
      </Section>
    </Page>
  );
}
