import { keyOfResource } from "@isthmus/core";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { type Destination, TrafficPolicy } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { effectiveRouting } from "../model/effect.ts";
import { policiesOn } from "../model/policyTargets.ts";
import { t } from "../strings.ts";
import { RefusedPolicies } from "./RefusedPolicies.tsx";

/** What traffic to a Destination meets: each value with the policy that sets it; and the policies that are not in force here. */
export function EffectiveRouting({ destination }: { readonly destination: Destination }) {
  const fleet = useFleet();
  const values = effectiveRouting(destination);
  // Where each value is for all, columns that say so would push the policy out of a side panel.
  const [hasRequests, hasSources] = [values.some(({ requests }) => requests), values.some(({ sources }) => sources)];
  const why = hasRequests || hasSources ? t.destinations.routingWhy : t.destinations.routingOfAll;
  const refused = policiesOn(fleet, keyOfResource(destination)).filter(({ status }) => status.state !== "ACCEPTED");
  return (
    <>
      <Section title={t.destinations.routing} note={values.length === 0 ? t.destinations.routingNone : why}>
        {values.length === 0 ? null : (
          <PlainTable
            label={t.destinations.routing}
            headers={[
              t.destinations.field,
              t.destinations.value,
              ...(hasRequests ? [t.destinations.forRequests] : []),
              ...(hasSources ? [t.destinations.fromSources] : []),
              t.destinations.setBy,
            ]}
            rows={values.map(({ field, value, requests, sources, policy, order }) => ({
              key: `${order} ${field}`,
              cells: [
                field,
                <Name key="value" text={value} isWrapped />,
                ...(hasRequests ? [<Name key="requests" text={requests ?? t.destinations.allRequests} isWrapped />] : []),
                ...(hasSources ? [<Name key="sources" text={sources ?? t.destinations.allRequests} isWrapped />] : []),
                <span key="policy" className="inline">
                  <ObjectLink to={{ ...TrafficPolicy, ...policy }} />
                  <span className="muted">{`#${order}`}</span>
                </span>,
              ],
            }))}
          />
        )}
      </Section>
      <RefusedPolicies destination={destination} refused={refused} />
    </>
  );
}
