import { fullKeyOf, type Resource, refOf } from "@isthmus/core";
import { Empty } from "../components/Empty.tsx";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { useFleet } from "../data/store.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { generatedFor } from "../model/parents.ts";
import { t } from "../strings.ts";
import { Labels } from "../summaries/Labels.tsx";

// What a translation writes of a Sidecar.
interface Sidecar extends Resource {
  readonly spec?: {
    readonly workloadSelector?: { readonly labels?: Readonly<Record<string, string>> };
    readonly egress?: readonly { readonly hosts?: readonly string[] }[];
  };
}

/** Which hosts the proxies of the workloads of a ServiceDependency know, by the Sidecars that are generated of it. */
export function KnownHosts({ dependency }: { readonly dependency: Resource }) {
  const { generated } = useFleet();
  const sidecars = generatedFor(generated, refOf(dependency)).filter((one): one is Sidecar => one.kind === "Sidecar");
  if (sidecars.length === 0) return <Empty title={t.effect.notLimited} />;
  return (
    <Section title={t.effect.knownHosts} note={t.effect.knownHostsWhy}>
      <PlainTable
        label={t.effect.knownHosts}
        headers={[t.columns.cluster, t.workloads.podLabels, t.effect.hosts, t.effect.written]}
        rows={sidecars.map((sidecar) => ({
          key: fullKeyOf(sidecar),
          cells: [
            <Name key="cluster" text={clusterOf(sidecar)} />,
            <Labels key="labels" labels={sidecar.spec?.workloadSelector?.labels} />,
            <span key="hosts" className="stack">
              {(sidecar.spec?.egress ?? [])
                .flatMap(({ hosts = [] }) => hosts)
                .map((host) => (
                  <Name key={host} text={host} isWrapped />
                ))}
            </span>,
            <ObjectLink key="sidecar" to={refOf(sidecar)} />,
          ],
        }))}
      />
    </Section>
  );
}
