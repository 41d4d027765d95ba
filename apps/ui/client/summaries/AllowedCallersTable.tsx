import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { AccessPolicy, type Destination } from "../data/kinds.ts";
import { allowedCallers } from "../model/callers.ts";
import { t } from "../strings.ts";
import { AccessLink } from "./AccessLink.tsx";

/** Who may call a Destination, by the AccessPolicies that apply to it. */
export function AllowedCallersTable({ destination }: { readonly destination: Destination }) {
  const callers = allowedCallers(destination);
  const ref = destination.spec?.kubeService?.ref;
  return (
    <Section title={t.destinations.callers}>
      {callers.length === 0 ? (
        <p className="muted">{t.destinations.callersNone}</p>
      ) : (
        <PlainTable
          label={t.destinations.callers}
          headers={[t.destinations.fromSources, t.destinations.methods, t.destinations.paths, t.columns.ports, t.destinations.by]}
          rows={callers.map(({ policy, sources, methods, paths, ports }) => ({
            key: `${policy.namespace}/${policy.name}/${policy.clusterName}`,
            cells: [
              <Name key="sources" text={sources ?? t.common.all} isWrapped />,
              <Name key="methods" text={methods ?? t.common.all} isWrapped />,
              <Name key="paths" text={paths ?? t.common.all} isWrapped />,
              ports ?? t.common.all,
              <ObjectLink key="policy" to={{ ...AccessPolicy, ...policy }} />,
            ],
          }))}
        />
      )}
      {ref?.name === undefined ? null : (
        <p>
          <AccessLink side="to" parts={[ref.clusterName, ref.namespace, ref.name]} />
        </p>
      )}
    </Section>
  );
}
