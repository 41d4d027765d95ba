import { keyOfResource, refOf } from "@isthmus/core";
import type { ReactNode } from "react";
import { Facts } from "../components/Facts.tsx";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { type Destination, Mesh, VirtualMesh } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { policiesOn } from "../model/policyTargets.ts";
import { workloadsBehind } from "../model/selection.ts";
import { isFederated } from "../model/topology/topology.ts";
import { t } from "../strings.ts";
import { AllowedCallersTable } from "./AllowedCallersTable.tsx";
import { EffectiveRouting } from "./EffectiveRouting.tsx";
import { GeneratedBrief } from "./GeneratedBrief.tsx";
import { Labels } from "./Labels.tsx";
import { ObjectFacts } from "./ObjectFacts.tsx";
import { TrafficTable } from "./TrafficTable.tsx";

export interface DestinationSummaryProps {
  readonly destination: Destination;
  readonly access: ReactNode;
}

/** A Destination: what traffic to it meets and by which policy, who may call it, where else it is reached, what is behind it. */
export function DestinationSummary({ destination, access }: DestinationSummaryProps) {
  const fleet = useFleet();
  const { spec = {}, status = {} } = destination;
  const { kubeService, externalService, mesh } = spec as typeof spec & { readonly mesh?: { name?: string; namespace?: string } };
  const workloads = workloadsBehind(fleet, destination);
  const federation = status.appliedFederation;
  const refused = policiesOn(fleet, keyOfResource(destination)).filter(({ status: its }) => its.state !== "ACCEPTED").length;
  const endpoints = (kubeService?.endpointSubsets ?? []).reduce((sum, subset) => sum + (subset.endpoints?.length ?? 0), 0);
  return (
    <>
      <Section title={t.destinations.glance}>
        <Facts
          rows={[
            [t.destinations.localHost, status.localFqdn === undefined ? undefined : <Name key="host" text={status.localFqdn} isWrapped />],
            [
              t.destinations.federatedHost,
              isFederated(destination) ? <Name key="global" text={federation?.federatedHostname ?? ""} isWrapped /> : undefined,
            ],
            [t.nav.access, kubeService === undefined ? undefined : access],
            [t.columns.workloads, kubeService === undefined ? undefined : workloads.length],
            [t.columns.generated, <GeneratedBrief key="generated" object={destination} />],
            [t.destinations.refused, refused === 0 ? undefined : t.destinations.rejectedCount(refused)],
          ]}
        />
      </Section>
      <EffectiveRouting destination={destination} />
      <AllowedCallersTable destination={destination} />
      <TrafficTable object={destination} />
      <Section title={t.destinations.federation}>
        {!isFederated(destination) ? (
          <p className="muted">{t.destinations.federationNone}</p>
        ) : (
          <Facts
            rows={[
              [
                t.columns.federated,
                <span key="meshes" className="stack">
                  {(federation?.federatedToMeshes ?? []).map(({ name = "", namespace = "" }) => (
                    <ObjectLink key={`${namespace}/${name}`} to={{ ...Mesh, name, namespace, clusterName: "" }} text={name} />
                  ))}
                </span>,
              ],
              [
                t.columns.virtualMesh,
                federation?.virtualMeshRef?.name === undefined ? undefined : (
                  <ObjectLink
                    key="vm"
                    to={{
                      ...VirtualMesh,
                      name: federation.virtualMeshRef.name,
                      namespace: federation.virtualMeshRef.namespace ?? "",
                      clusterName: "",
                    }}
                  />
                ),
              ],
            ]}
          />
        )}
      </Section>
      <Section title={t.destinations.behind}>
        {workloads.length === 0 ? <p className="muted">{t.destinations.behindNone}</p> : null}
        <ul className="links">
          {workloads.map((workload) => (
            <li key={keyOfResource(workload)}>
              <ObjectLink to={refOf(workload)} text={workload.spec?.kubernetes?.controller?.name ?? workload.metadata.name} />
              <Labels labels={workload.spec?.kubernetes?.podLabels} />
            </li>
          ))}
        </ul>
      </Section>
      <Section title={t.destinations.service}>
        <ObjectFacts
          object={destination}
          rows={[
            [
              t.columns.host,
              externalService?.hosts === undefined ? undefined : <Name key="hosts" text={externalService.hosts.join(", ")} />,
            ],
            [
              t.columns.ports,
              <Name
                key="ports"
                text={(kubeService?.ports ?? [])
                  .map(({ port, name, protocol, appProtocol }) => [port, name, appProtocol ?? protocol].filter(Boolean).join(" "))
                  .join(", ")}
              />,
            ],
            [t.destinations.endpoints, status.readiness ?? endpoints],
            [
              t.destinations.externalAddresses,
              (kubeService?.externalAddresses ?? []).map(({ dnsName, ip }) => dnsName ?? ip ?? "").join(", ") || undefined,
            ],
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
          ]}
        />
      </Section>
    </>
  );
}
