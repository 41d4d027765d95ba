import { type Resource, refOf } from "@isthmus/core";
import { useState } from "react";
import { Name } from "../components/Name.tsx";
import { ClusterChip, ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { useFleet } from "../data/store.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { targetsOf } from "../model/policyTargets.ts";
import { approvalStatus } from "../model/status.ts";
import { t } from "../strings.ts";
import { Problems } from "./ObjectErrors.tsx";

// A status names up to a thousand.
const PAGE = 50;

/** Where a policy is in force and where not, with the reason. */
export function Targets({ policy }: { readonly policy: Resource }) {
  const fleet = useFleet();
  const [most, setMost] = useState(PAGE);
  const targets = targetsOf(fleet, policy);
  return (
    <Section title={`${t.objects.targets} · ${targets.length}`}>
      {targets.length === 0 ? <p className="muted">{t.policies.noEffect}</p> : null}
      {targets.length === 0 ? null : (
        <PlainTable
          label={t.objects.targets}
          headers={[t.objects.target, t.columns.state, t.objects.message]}
          rows={targets.slice(0, most).map(({ key, destination, mesh, workload, state, status }) => {
            const object = destination ?? mesh ?? workload;
            return {
              key,
              cells: [
                object === undefined ? (
                  <Name key="name" text={key} isWrapped />
                ) : (
                  <span key="name" className="stack">
                    <ObjectLink to={refOf(object)} text={nameOf(object)} />
                    <ClusterChip name={clusterOf(object)} />
                  </span>
                ),
                <StatusMark key="state" status={approvalStatus(state, status.warnings?.length ?? 0)} />,
                <Problems key="problems" errors={status.errors ?? []} warnings={status.warnings ?? []} />,
              ],
            };
          })}
        />
      )}
      {targets.length > most ? (
        <button type="button" className="button" onClick={() => setMost(most + PAGE)}>
          {t.common.more(targets.length - most)}
        </button>
      ) : null}
    </Section>
  );
}

function nameOf(object: Resource): string {
  const service = (
    object as Resource & { readonly spec?: { readonly kubeService?: { readonly ref?: { name?: string; namespace?: string } } } }
  ).spec?.kubeService?.ref;
  return service?.name === undefined ? object.metadata.name : `${service.namespace ?? ""}/${service.name}`;
}
