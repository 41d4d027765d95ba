import type { Resource } from "@isthmus/core";
import type { ReactNode } from "react";
import { Facts } from "../components/Facts.tsx";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import { selectorText, shiftText, valueText } from "../model/effect.ts";
import { t } from "../strings.ts";
import { Conditions } from "./Conditions.tsx";
import { ObjectErrors } from "./ObjectErrors.tsx";
import { ObjectFacts } from "./ObjectFacts.tsx";
import { Targets } from "./Targets.tsx";

interface PolicyLike extends Resource {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: { readonly workloadCount?: number };
}

/** A policy: how far it is, where it is in force and where not, what it says. */
export function PolicySummary({ policy }: { readonly policy: Resource }) {
  const { spec = {}, status } = policy as PolicyLike;
  return (
    <>
      <ObjectErrors object={policy} />
      <Conditions object={policy} />
      <Targets policy={policy} />
      <Section title={t.objects.spec}>
        <Facts rows={Object.entries(spec).flatMap(([member, value]) => specRows(member, value))} />
      </Section>
      <Section title={t.clusters.about}>
        <ObjectFacts object={policy} rows={[[t.policies.workloadCount, status?.workloadCount]]} />
      </Section>
    </>
  );
}

function specRows(member: string, value: unknown): readonly (readonly [string, ReactNode])[] {
  if (value === undefined || value === null) return [];
  if (member === "policy" && typeof value === "object") {
    return Object.entries(value).map(([field, rule]) => {
      const text = field === "trafficShift" ? shiftText(rule) : valueText(rule);
      return [`policy.${field}`, <Name key={field} text={text} isWrapped />];
    });
  }
  const text = Array.isArray(value) && typeof value[0] === "object" ? selectorText(value as readonly object[]) : valueText(value);
  return [[member, <Name key={member} text={text ?? t.common.all} isWrapped />]];
}
