import type { Destination } from "../data/kinds.ts";
import { selectorText } from "./effect.ts";

/** Who may call a Destination, by one AccessPolicy. Undefined members: all. */
export interface AllowedCallers {
  readonly policy: { readonly name: string; readonly namespace: string; readonly clusterName: string };
  readonly sources: string | undefined;
  readonly methods: string | undefined;
  readonly paths: string | undefined;
  readonly ports: string | undefined;
}

/** What the AccessPolicies that apply to a Destination allow. */
export function allowedCallers(destination: Destination): readonly AllowedCallers[] {
  return (destination.status?.appliedAccessPolicies ?? []).map(({ ref, spec, lastAccepted }) => {
    const rules = (lastAccepted?.spec ?? spec ?? {}) as NonNullable<typeof spec>;
    return {
      policy: {
        name: ref?.name ?? "",
        namespace: ref?.namespace ?? "",
        clusterName: (ref as { readonly clusterName?: string } | undefined)?.clusterName ?? "",
      },
      sources: selectorText(rules.sourceSelector),
      methods: joined(rules.allowedMethods),
      paths: joined(rules.allowedPaths),
      ports: joined(rules.allowedPorts),
    };
  });
}

function joined(values: readonly (string | number)[] | undefined): string | undefined {
  return values === undefined || values.length === 0 ? undefined : values.join(", ");
}
