import type { ConsoleCertificate } from "@isthmus/console/wire";
import { refOf } from "@isthmus/core";
import { useMemo } from "react";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { useScope } from "../components/frame/useScope.ts";
import { Name } from "../components/Name.tsx";
import { ClusterChip, ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { Until, useServerNow } from "../components/Times.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { ResourceTable } from "../components/table/ResourceTable.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import { VirtualMesh } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { certificateStatus, certificateUse, knownCertificates } from "../model/certificateRows.ts";
import { registrationOf } from "../model/clusters/registrations.ts";
import { targetsOf } from "../model/policyTargets.ts";
import { isInScope, policyClusters } from "../model/scope.ts";
import { trustSentences } from "../model/trustSentences.ts";
import { t } from "../strings.ts";
import { sentenceList, TrustState, TrustSteps } from "../summaries/TrustSteps.tsx";
import { CertificateTimeline } from "./CertificateTimeline.tsx";
import { useOpenObject } from "./useOpenObject.ts";

const clustersOf = ({ cluster }: ConsoleCertificate) => [cluster];
const keyOf = ({ kind, cluster, name }: ConsoleCertificate) => `${kind} ${cluster} ${name}`;

const COLUMNS: readonly Column<ConsoleCertificate>[] = [
  {
    id: "use",
    title: t.certificates.use,
    width: [9, 0.8],
    token: "use",
    text: certificateUse,
    cell: (row) => <Name text={certificateUse(row)} />,
  },
  {
    id: "name",
    title: t.columns.name,
    width: [9, 2.4],
    isLong: true,
    text: ({ name }) => name,
    cell: (row) => <OwnerLink certificate={row} />,
  },
  {
    id: "cluster",
    title: t.columns.cluster,
    width: [6.5, 0.3],
    spare: 1,
    token: "cluster",
    text: ({ cluster }) => cluster || t.common.management,
    cell: ({ cluster }) => <Name text={cluster || t.common.management} />,
  },
  {
    id: "state",
    title: t.columns.state,
    width: [6, 0.8],
    token: "state",
    text: ({ state = "" }) => state,
    cell: (row) => <State certificate={row} />,
  },
  {
    id: "ends",
    title: t.certificates.left,
    width: [5, 0.7],
    text: ({ notAfter = "" }) => notAfter,
    cell: ({ notAfter }) => <Until time={notAfter} />,
  },
  {
    id: "next",
    title: t.certificates.next,
    width: [12, 5],
    isLong: true,
    text: ({ next = "" }) => next,
    cell: ({ next }) => <Name text={next ?? "–"} />,
  },
];

/** A certificate of a cluster leads to that cluster. */
function OwnerLink({ certificate: { cluster, name } }: { readonly certificate: ConsoleCertificate }) {
  const registration = registrationOf(useFleet(), cluster);
  return registration === undefined ? <Name text={name} /> : <ObjectLink to={refOf(registration)} text={name} />;
}

function State({ certificate }: { readonly certificate: ConsoleCertificate }) {
  return <StatusMark status={certificateStatus(certificate, useServerNow())} />;
}

/** How far rotations of roots are, and every certificate with its end and what happens next. */
export function CertificatesPage() {
  const fleet = useFleet();
  const open = useOpenObject();
  const scope = useScope();
  const { certificates, isOfServer } = useMemo(() => knownCertificates(fleet), [fleet]);
  // As the table below, which is filtered by the clusters that are chosen.
  const inScope = certificates.filter((certificate) => isInScope(scope, clustersOf(certificate)));
  return (
    <Page title={t.certificates.title}>
      <Rotations />
      <Section title={t.overview.certificates} note={isOfServer ? undefined : t.certificates.notOfServer}>
        {certificates.length === 0 ? null : <CertificateTimeline certificates={inScope} />}
        <ResourceTable
          what={t.certificates.what}
          rows={certificates}
          keyOf={keyOf}
          clustersOf={clustersOf}
          columns={COLUMNS}
          open={({ cluster }) => {
            const registration = registrationOf(fleet, cluster);
            if (registration !== undefined) open(registration);
          }}
          empty={<Empty title={t.certificates.empty} how={t.certificates.emptyHow} command={t.certificates.emptyCommand} />}
        />
      </Section>
    </Page>
  );
}

/** VirtualMeshes with a common root, mesh by mesh. */
function Rotations() {
  const fleet = useFleet();
  const scope = useScope();
  const shared = [...fleet.snapshot.of(VirtualMesh)].filter(
    (virtualMesh) => virtualMesh.spec?.mtlsConfig?.shared !== undefined && isInScope(scope, policyClusters(fleet, virtualMesh)),
  );
  return (
    <Section title={t.certificates.rotations} note={shared.length === 0 ? t.certificates.rotationsNone : t.certificates.rotationsWhy}>
      {shared.map((virtualMesh) => (
        <article key={`${virtualMesh.metadata.namespace}/${virtualMesh.metadata.name}`} className="card">
          <h3>
            <ObjectLink to={refOf(virtualMesh)} hasKind />
          </h3>
          <PlainTable
            label={virtualMesh.metadata.name}
            headers={[t.columns.mesh, t.certificates.steps, t.columns.state, t.certificates.left]}
            rows={targetsOf(fleet, virtualMesh)
              .filter(({ key }) => Object.hasOwn(virtualMesh.status?.meshes ?? {}, key))
              .map(({ key, mesh, status }) => {
                const { trust } = status as { readonly trust?: Parameters<typeof TrustSteps>[0]["trust"] };
                const cluster = mesh?.spec?.istio?.installation?.cluster ?? "";
                return {
                  key,
                  below: sentenceList(trustSentences(trust)),
                  cells: [
                    <span key="mesh" className="inline">
                      {mesh === undefined ? <Name text={key} /> : <ObjectLink to={refOf(mesh)} text={mesh.metadata.name} />}
                      {cluster === "" ? null : <ClusterChip name={cluster} />}
                    </span>,
                    <TrustSteps key="steps" trust={trust} />,
                    <TrustState key="state" trust={trust} />,
                    <MeshCertificate key="left" cluster={cluster} />,
                  ],
                };
              })}
          />
        </article>
      ))}
    </Section>
  );
}

/** How long the CA of a mesh is valid yet. */
function MeshCertificate({ cluster }: { readonly cluster: string }) {
  const { certificates } = knownCertificates(useFleet());
  return <Until time={certificates.find((one) => one.kind === "meshIntermediate" && one.cluster === cluster)?.notAfter} />;
}
