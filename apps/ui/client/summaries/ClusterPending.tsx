import { Facts } from "../components/Facts.tsx";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import type { KubernetesCluster } from "../data/kinds.ts";
import { t } from "../strings.ts";

/** What would be written in a cluster whose mode forbids it. */
export function ClusterPending({ cluster }: { readonly cluster: KubernetesCluster }) {
  const comparison = cluster.status?.comparison;
  return (
    <Section title={t.clusters.pending}>
      {comparison === undefined ? (
        <p className="muted">{t.clusters.pendingNone}</p>
      ) : (
        <>
          <Facts
            rows={[
              [t.clusters.mode, comparison.mode],
              [t.clusters.wouldCreate, comparison.wouldCreate],
              [t.clusters.wouldChange, comparison.wouldChange],
              [t.clusters.wouldDelete, comparison.wouldDelete],
              [t.clusters.conflicts, comparison.conflicts],
            ]}
          />
          <ul className="lines">
            {(comparison.examples ?? []).map((example) => (
              <li key={example}>
                <Name text={example} isWrapped />
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
