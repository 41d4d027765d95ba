import { keyOfResource, refOf } from "@isthmus/core";
import type { ReactNode } from "react";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { Mesh, type Workload } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { policiesOn } from "../model/policyTargets.ts";
import { destinationsOf } from "../model/selection.ts";
import { approvalStatus } from "../model/status.ts";
import { t } from "../strings.ts";
import { AccessLink } from "./AccessLink.tsx";
import { GeneratedBrief } from "./GeneratedBrief.tsx";
import { Labels } from "./Labels.tsx";
import { ObjectFacts } from "./ObjectFacts.tsx";
import { SidecarSection } from "./SidecarSection.tsx";
import { TrafficTable } from "./TrafficTable.tsx";

export interface WorkloadSummaryProps {
  readonly workload: Workload;
  readonly access: ReactNode;
}

/** A workload: its identity, whom it calls and who calls it, which Destinations select it with the policies there, and which hosts its proxy knows. */
export function WorkloadSummary({ workload, access }: WorkloadSummaryProps) {
  const fleet = useFleet();
  const { kubernetes, mesh } = workload.spec ?? {};
  const controller = kubernetes?.controller;
  const destinations = destinationsOf(fleet, workload);
  return (
    <>
      <Section title={t.clusters.about}>
        <ObjectFacts
          object={workload}
          rows={[
            [
              t.workloads.controller,
              controller === undefined ? undefined : <Name key="c" text={`${controller.namespace ?? ""}/${controller.name ?? ""}`} />,
            ],
            [t.columns.serviceAccount, <Name key="sa" text={kubernetes?.serviceAccountName || "default"} />],
            [
              t.columns.mesh,
              mesh?.name === undefined ? undefined : (
                <ObjectLink
                  key="mesh"
                  to={{ ...Mesh, name: mesh.name, namespace: mesh.namespace ?? "", clusterName: "" }}
                  text={mesh.name}
                />
              ),
            ],
            [
              t.nav.access,
              controller === undefined ? undefined : (
                <AccessLink
                  key="access"
                  side="from"
                  parts={[controller.clusterName, controller.namespace, kubernetes?.serviceAccountName || "default"]}
                />
              ),
            ],
            [t.workloads.pods, workload.status?.readiness],
            [t.columns.generated, <GeneratedBrief key="generated" object={workload} />],
            [t.workloads.podLabels, <Labels key="labels" labels={kubernetes?.podLabels} />],
          ]}
        />
      </Section>
      {controller === undefined ? null : (
        <Section title={t.access.effective} note={t.access.effectiveWhy}>
          {access}
        </Section>
      )}
      <Section title={t.workloads.selectedBy}>
        {destinations.length === 0 ? <p className="muted">{t.workloads.selectedByNone}</p> : null}
        <ul className="links">
          {destinations.map((destination) => (
            <li key={keyOfResource(destination)}>
              <ObjectLink to={refOf(destination)} text={destination.spec?.kubeService?.ref?.name ?? destination.metadata.name} />
              <GeneratedBrief object={destination} />
              {policiesOn(fleet, keyOfResource(destination)).map(({ policy, status }) => (
                <span key={`${policy.kind} ${keyOfResource(policy)}`} className="inline">
                  <ObjectLink to={refOf(policy)} hasKind />
                  <StatusMark status={approvalStatus(status.state ?? "PENDING", status.warnings?.length ?? 0)} />
                </span>
              ))}
            </li>
          ))}
        </ul>
      </Section>
      <SidecarSection workload={workload} />
      <TrafficTable object={workload} />
    </>
  );
}
