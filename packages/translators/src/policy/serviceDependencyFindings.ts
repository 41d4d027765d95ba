import {
  type DestinationSelector,
  ineffectiveFields,
  lastAcceptedSpecOf,
  ServiceDependency,
  type ServiceDependencySpec,
  type WorkloadSelector,
} from "@isthmus/api";
import { type Finding, invalidFinding, warningFinding } from "../findings.ts";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { fieldMessage } from "./ineffective.ts";
import { specInForce } from "./lastAccepted.ts";
import { missingMembers } from "./missingMembers.ts";
import { namesNothing } from "./selectors.ts";

/** What is in force of a ServiceDependency (docs/decisions/0072). */
export interface DependencyForm {
  readonly sources: readonly WorkloadSelector[] | undefined;
  /** Undefined: of these workloads nothing is limited. */
  readonly destinations: readonly DestinationSelector[] | undefined;
  /** `lastAccepted` where the spec has errors and an earlier one had none; `open` where none had, as far as is known. */
  readonly source: "spec" | "lastAccepted" | "open";
  /** About the spec by itself. */
  readonly findings: readonly Finding[];
}

/**
 * The spec; where it has errors the last accepted one. Where none is known, the workloads that its entries without errors select are not
 * limited at all: what it would have let through is not known, and leaving it out would cut them off.
 */
export const dependencyFormOf = memoizeRow((dependency: ServiceDependency): DependencyForm => {
  const { spec = {}, status } = dependency;
  const last = lastAcceptedSpecOf(ServiceDependency, dependency);
  const { spec: inForce, findings } = specInForce({ spec, last, lastAccepted: status?.lastAccepted }, specFindings);
  if (inForce !== undefined) return { ...formOf(inForce), source: inForce === spec ? "spec" : "lastAccepted", findings };
  return { sources: understoodSources(spec), destinations: undefined, source: "open", findings };
});

function formOf({ sourceSelectors, destinationSelectors = [] }: ServiceDependencySpec): Pick<DependencyForm, "sources" | "destinations"> {
  return { sources: sourceSelectors, destinations: destinationSelectors.length === 0 ? undefined : destinationSelectors };
}

/** The entries without errors: an entry `{}`, which selects everything, only where it is written so. */
function understoodSources(spec: ServiceDependencySpec): readonly WorkloadSelector[] {
  if (ineffectiveFields(SPEC, spec, "spec").some(({ path }) => /^spec\.[^.[]+$/.test(path))) return [];
  return (spec.sourceSelectors ?? []).filter((entry) => ineffectiveFields(SPEC.properties.sourceSelectors.items, entry, "").length === 0);
}

const SPEC = ServiceDependency.definition.fields.spec;

function specFindings(spec: ServiceDependencySpec): readonly Finding[] {
  const { destinationSelectors = [] } = spec;
  return [
    ...ineffectiveFields(SPEC, spec, "spec").map((field) =>
      invalidFinding("SelectorNotUnderstood", fieldMessage(field, "without the field, workloads could lose hosts that they call")),
    ),
    ...destinationSelectors.flatMap((entry, i) => entryFindings(entry, `spec.destinationSelectors[${i}]`)),
    ...(destinationSelectors.length > 0
      ? []
      : [
          warningFinding(
            "NoEffect",
            "spec.destinationSelectors: is empty, which selects everything, so the proxies of these workloads are not limited: name destinations",
          ),
        ]),
  ];
}

function entryFindings(entry: DestinationSelector, path: string): readonly Finding[] {
  if (namesNothing(entry)) {
    return [
      warningFinding("SelectsNothing", `${path}: an empty entry selects nothing: name services, or remove the whole list to select all`),
    ];
  }
  return (entry.kubeServiceRefs?.services ?? []).flatMap((ref, i) => {
    const missing = missingMembers(ref, ["name", "namespace", "clusterName"]);
    return missing === undefined ? [] : [invalidFinding("DestinationRefIncomplete", `${path}.kubeServiceRefs.services[${i}]: ${missing}`)];
  });
}
