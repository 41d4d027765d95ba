import { type ConnectionPolicy, DestinationRule, rootNamespaceOf, type Subset } from "@isthmus/api";
import type { DestinationInputs } from "../../inputs.ts";
import { objectNameFor, type Source } from "../source.ts";
import { hostsOf, userConflicts } from "../userObjects.ts";

type Spec = NonNullable<DestinationRule["spec"]>;
type Inputs = Pick<DestinationInputs, "destination" | "mesh" | "userObjects" | "translationContext">;

/**
 * The DestinationRules of users that are in force on a host until one of ours is written for it: Istio takes the rules of the namespace that
 * the host is in, else those of the root namespace, and of these the ones with the narrowest host; several of one host are one. Those of
 * other namespaces are for callers there alone, who go on with them. Source: istio.io/istio pilot/pkg/model/push_context.go, destinationRule.
 */
export function usersRulesInForce(inputs: Inputs, source: Source): readonly DestinationRule[] {
  const { destination, mesh, translationContext } = inputs;
  const { clusterDomains } = translationContext;
  const rules = userConflicts(inputs, { kind: "DestinationRule", source }).filter(isDestinationRule);
  if (rules.length === 0) return [];
  for (const namespace of [objectNameFor(destination, source).namespace, rootNamespaceOf(source.remoteMesh ?? mesh)]) {
    const there = rules.filter(({ metadata }) => metadata.namespace === namespace);
    const widths = there.map((rule) => widthOf(hostsOf(rule, clusterDomains)[0] ?? "*"));
    if (there.length > 0) return there.filter((_, i) => widths[i] === Math.min(...widths));
  }
  return [];
}

/** Whether these rules are for all callers, so that one of ours can have their settings, too. */
export function canBeCarried(rules: readonly DestinationRule[]): boolean {
  return rules.every(({ spec }) => {
    const { exportTo = [], workloadSelector } = (spec ?? {}) as Spec & { readonly workloadSelector?: unknown };
    return workloadSelector === undefined && (exportTo.length === 0 || exportTo.includes("*"));
  });
}

/** Our rule with the settings of users' rules that it puts out of force, where it says nothing itself. */
export function withUsersRules(spec: Spec, rules: readonly DestinationRule[]): Spec {
  if (rules.length === 0) return spec;
  const theirs = rules.find((rule) => rule.spec?.trafficPolicy !== undefined)?.spec?.trafficPolicy;
  const trafficPolicy = theirs === undefined ? spec.trafficPolicy : combined(theirs, spec.trafficPolicy ?? {});
  const subsets = bothSubsets(
    rules.flatMap((rule) => rule.spec?.subsets ?? []),
    spec.subsets ?? [],
  );
  return {
    ...spec,
    ...(trafficPolicy === undefined ? {} : { trafficPolicy }),
    ...(subsets.length === 0 ? {} : { subsets }),
  };
}

function combined(theirs: ConnectionPolicy, ours: ConnectionPolicy): ConnectionPolicy {
  const { portLevelSettings } = theirs;
  const { connectionPool, outlierDetection } = ours;
  const { tcp, http } = connectionPool ?? {};
  return {
    ...theirs,
    ...ours,
    ...(connectionPool === undefined
      ? {}
      : {
          connectionPool: {
            ...theirs.connectionPool,
            ...(tcp === undefined ? {} : { tcp: { ...theirs.connectionPool?.tcp, ...tcp } }),
            ...(http === undefined ? {} : { http: { ...theirs.connectionPool?.http, ...http } }),
          },
        }),
    ...(outlierDetection === undefined ? {} : { outlierDetection: { ...theirs.outlierDetection, ...outlierDetection } }),
    // What is said of a port replaces all that is said of the host.
    ...(portLevelSettings === undefined
      ? {}
      : { portLevelSettings: portLevelSettings.map(({ port, ...settings }) => ({ ...(port && { port }), ...combined(settings, ours) })) }),
  };
}

/** Routes of ours name subsets of ours. */
function bothSubsets(theirs: readonly Subset[], ours: readonly Subset[]): Subset[] {
  const names = new Set(ours.map(({ name }) => name));
  return [...ours, ...theirs.filter(({ name }) => !names.has(name))];
}

/** 0 for one host; more for a wildcard, the shorter it is. */
function widthOf(host: string): number {
  return host.startsWith("*") ? LONGEST_HOST - host.length : 0;
}

// Longer than any host name may be.
const LONGEST_HOST = 1_000;

function isDestinationRule(object: { readonly kind: string }): object is DestinationRule {
  return object.kind === DestinationRule.kind;
}
