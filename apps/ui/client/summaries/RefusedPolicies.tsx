import { keyOfResource, type Resource, refOf } from "@isthmus/core";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { type Destination, TrafficPolicy } from "../data/kinds.ts";
import { comparedFields } from "../model/lines/comparison.ts";
import type { PolicyOnDestination } from "../model/policyTargets.ts";
import { t } from "../strings.ts";
import { Problems } from "./ObjectErrors.tsx";

interface RefusedPoliciesProps {
  readonly destination: Destination;
  readonly refused: readonly PolicyOnDestination[];
}

/** Policies that select a Destination and are not in force there, with the reason; one about the same as others beside those. */
export function RefusedPolicies({ destination, refused }: RefusedPoliciesProps) {
  const [{ compare }, change] = usePageSearch();
  if (refused.length === 0) return null;
  return (
    <Section title={t.destinations.refused}>
      <ul className="links">
        {refused.map(({ policy, status }) => {
          const key = `${policy.kind} ${keyOfResource(policy)}`;
          const fields = isTrafficPolicy(policy) ? comparedFields(destination, policy) : [];
          const isOpen = compare === key;
          return (
            <li key={key} className="stack">
              <span className="inline">
                <ObjectLink to={refOf(policy)} hasKind />
                {fields.length === 0 ? null : (
                  <button
                    type="button"
                    className="button small"
                    aria-expanded={isOpen}
                    onClick={() => change({ compare: isOpen ? undefined : key })}
                  >
                    {isOpen ? t.destinations.compareEnd : t.destinations.compare}
                  </button>
                )}
              </span>
              <Problems errors={status.errors ?? []} warnings={status.warnings ?? []} />
              {isOpen ? <Comparison fields={fields} /> : null}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function isTrafficPolicy(policy: Resource): policy is TrafficPolicy {
  return policy.kind === TrafficPolicy.kind;
}

const TITLES: ReadonlyMap<string, string> = new Map([
  ["requests", t.destinations.requestsField],
  ["sources", t.destinations.sourcesField],
]);

function Comparison({ fields }: { readonly fields: ReturnType<typeof comparedFields> }) {
  return (
    <PlainTable
      label={t.destinations.compared}
      headers={[t.destinations.field, t.destinations.ofPolicy, t.destinations.inForce]}
      rows={fields.map(({ field, own, inForce }) => {
        const isReach = TITLES.has(field);
        return {
          key: field,
          cells: [
            TITLES.get(field) ?? field,
            <Name key="own" text={own ?? (isReach ? t.destinations.allRequests : "–")} isWrapped />,
            inForce.length === 0 ? (
              "–"
            ) : (
              <span key="others" className="stack">
                {inForce.map(({ policy, value, isOther }) => (
                  <span key={`${policy.namespace}/${policy.name}/${policy.clusterName}`} className="inline">
                    <Name text={value || t.destinations.allRequests} isWrapped />
                    <ObjectLink to={{ ...TrafficPolicy, ...policy }} />
                    {isOther ? <StatusMark status={{ tone: "warning", word: t.destinations.differs }} /> : null}
                  </span>
                ))}
              </span>
            ),
          ],
        };
      })}
    />
  );
}
