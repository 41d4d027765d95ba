import type { TrafficPolicySpec } from "@isthmus/api";
import { displayName } from "@isthmus/core";
import type { Destination } from "../data/kinds.ts";
import { t } from "../strings.ts";

/** One value that traffic to a Destination meets, with the policy that it is from. */
export interface EffectiveValue {
  /** Member of spec.policy. */
  readonly field: string;
  readonly value: string;
  /** Which requests; undefined: all. */
  readonly requests: string | undefined;
  /** Whose traffic; undefined: all workloads'. */
  readonly sources: string | undefined;
  readonly policy: { readonly name: string; readonly namespace: string; readonly clusterName: string };
  /** Position among the policies in force, from 0 on. */
  readonly order: number;
}

/** What the policies in force on a Destination come to, in the order of their precedence. */
export function effectiveRouting(destination: Destination): readonly EffectiveValue[] {
  return (destination.status?.appliedTrafficPolicies ?? []).flatMap(({ ref, spec }, order) =>
    Object.entries(spec?.policy ?? {})
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => ({
        field,
        value: settingText(field, value),
        requests: requestsText(spec?.httpRequestMatchers),
        sources: selectorText(spec?.sourceSelector),
        policy: {
          name: ref?.name ?? "",
          namespace: ref?.namespace ?? "",
          clusterName: (ref as { readonly clusterName?: string } | undefined)?.clusterName ?? "",
        },
        order,
      })),
  );
}

/** A member of spec.policy in one line. */
export function settingText(field: string, value: unknown): string {
  return field === "trafficShift" ? shiftText(value) : valueText(value);
}

/** Where a trafficShift sends traffic, with shares of all weights in percent. */
export function shiftText(value: unknown): string {
  const { destinations = [] } = (value ?? {}) as NonNullable<NonNullable<TrafficPolicySpec["policy"]>["trafficShift"]>;
  const total = destinations.reduce((sum, { weight = 0 }) => sum + weight, 0);
  return destinations
    .map((each) => {
      const { weight = 0, kubeService, virtualDestination } = each;
      const to = kubeService ?? virtualDestination;
      const cluster = kubeService?.clusterName ? ` ${t.common.inCluster} ${kubeService.clusterName}` : "";
      const subset = Object.entries((to as { subset?: Readonly<Record<string, string>> } | undefined)?.subset ?? {});
      const part = subset.length === 0 ? "" : ` (${subset.map(([key, one]) => `${key}=${one}`).join(", ")})`;
      const percent = total === 0 ? (destinations.length === 1 ? 100 : 0) : Math.round((1_000 * weight) / total) / 10;
      return `${percent} % → ${to?.namespace ? `${to.namespace}/` : ""}${to?.name ?? "?"}${part}${cluster}`;
    })
    .join(" · ");
}

/** A value in one line: members and their values, without braces at the outside. */
export function valueText(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (isRef(value)) return displayName(value);
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => memberText(name, member))
    .join(", ");
}

/** A member that is there and says no more is its name. */
function memberText(name: string, member: unknown): string {
  if (typeof member !== "object" || member === null) return `${name} ${String(member)}`;
  const text = valueText(member);
  return text === "" ? name : `${name} (${text})`;
}

const REF_MEMBERS: ReadonlySet<string> = new Set(["name", "namespace", "clusterName"]);

function isRef(value: object): value is { readonly name: string; readonly namespace: string; readonly clusterName?: string } {
  return (
    "name" in value && "namespace" in value && Object.entries(value).every(([key, one]) => REF_MEMBERS.has(key) && typeof one === "string")
  );
}

/** Matchers in one line; undefined: none, which match all. */
export function requestsText(matchers: TrafficPolicySpec["httpRequestMatchers"]): string | undefined {
  return matchers === undefined || matchers.length === 0 ? undefined : matchers.map(valueText).join(` ${t.common.or} `);
}

/** Selectors in one line; undefined: no selector, which selects all. */
export function selectorText(selectors: readonly object[] | undefined): string | undefined {
  return selectors === undefined || selectors.length === 0 ? undefined : selectors.map(oneSelectorText).join(` ${t.common.or} `);
}

// The member that lists refs says nothing that the member around it does not.
const LISTS: ReadonlySet<string> = new Set(["services", "serviceAccounts", "virtualDestinations"]);

function oneSelectorText(selector: object): string {
  const parts = Object.entries(selector).flatMap(([member, value]) => {
    if (typeof value !== "object" || value === null) return [`${member} ${String(value)}`];
    const [[only, list] = ["", undefined], ...others] = Object.entries(value);
    const text = others.length === 0 && LISTS.has(only) ? valueText(list) : valueText(value);
    return [`${t.selectors.get(member) ?? member} ${text}`];
  });
  return parts.join(", ");
}
