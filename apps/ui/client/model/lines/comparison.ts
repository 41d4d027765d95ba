import { equalJson } from "@isthmus/core";
import type { Destination, TrafficPolicy } from "../../data/kinds.ts";
import { requestsText, selectorText, settingText } from "../effect.ts";

/** A setting of a policy that is not in force beside those of policies that are. */
export interface ComparedField {
  /** Member of spec.policy; `requests` and `sources` are for what they hold. */
  readonly field: string;
  /** Undefined: it does not set it. */
  readonly own: string | undefined;
  readonly inForce: readonly { readonly policy: PolicyRef; readonly value: string; readonly isOther: boolean }[];
}

type PolicyRef = { readonly name: string; readonly namespace: string; readonly clusterName: string };

/** All settings of a policy and of those in force on a Destination that set one of the same: none, where no such policy is in force. */
export function comparedFields(destination: Destination, { spec: own = {} }: TrafficPolicy): readonly ComparedField[] {
  const ownPolicy: Readonly<Record<string, unknown>> = own.policy ?? {};
  const applied = (destination.status?.appliedTrafficPolicies ?? []).flatMap(({ ref, spec = {} }) => {
    const policy: Readonly<Record<string, unknown>> = spec.policy ?? {};
    const isAboutSame = Object.keys(ownPolicy).some((field) => ownPolicy[field] !== undefined && policy[field] !== undefined);
    const { name = "", namespace = "", clusterName = "" } = (ref ?? {}) as Partial<PolicyRef>;
    return isAboutSame ? [{ by: { name, namespace, clusterName }, spec, policy }] : [];
  });
  if (applied.length === 0) return [];
  const fields = [...new Set([ownPolicy, ...applied.map(({ policy }) => policy)].flatMap(Object.keys))].sort();
  const settings = fields.map((field): ComparedField => {
    const value = ownPolicy[field];
    return {
      field,
      own: value === undefined ? undefined : settingText(field, value),
      inForce: applied.flatMap(({ by, policy }) => {
        const other = policy[field];
        if (other === undefined) return [];
        return [{ policy: by, value: settingText(field, other), isOther: value !== undefined && !equalJson(value, other) }];
      }),
    };
  });
  const reach = (field: string, textOf: (spec: NonNullable<TrafficPolicy["spec"]>) => string | undefined): ComparedField => ({
    field,
    own: textOf(own),
    inForce: applied.map(({ by, spec }) => ({ policy: by, value: textOf(spec) ?? "", isOther: false })),
  });
  return [
    ...settings,
    reach("requests", ({ httpRequestMatchers }) => requestsText(httpRequestMatchers)),
    reach("sources", ({ sourceSelector }) => selectorText(sourceSelector)),
  ];
}
