import type { Resource } from "@isthmus/core";
import { Name } from "../components/Name.tsx";
import { PlainTable } from "../components/PlainTable.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { When } from "../components/Times.tsx";
import { conditionStatus, conditionsOf } from "../model/status.ts";
import { t } from "../strings.ts";

/** The conditions of an object's status, in their own order: for policies, how far they are. */
export function Conditions({ object }: { readonly object: Resource }) {
  const conditions = conditionsOf(object);
  if (conditions.length === 0) return null;
  return (
    <Section title={t.objects.conditions}>
      <PlainTable
        label={t.objects.conditions}
        headers={[t.objects.condition, t.objects.status, t.objects.reason, t.objects.message, t.objects.since]}
        rows={conditions.map((condition) => ({
          key: condition.type,
          cells: [
            condition.type,
            <StatusMark key="status" status={conditionStatus(condition)} />,
            <Name key="reason" text={condition.reason ?? ""} />,
            <Name key="message" text={condition.message ?? ""} isWrapped />,
            <When key="since" time={condition.lastTransitionTime} />,
          ],
        }))}
      />
    </Section>
  );
}
