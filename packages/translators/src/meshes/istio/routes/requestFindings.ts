import type { HttpMatcher, TrafficPolicySpec } from "@isthmus/api";
import { type Finding, invalidFinding } from "../../../findings.ts";
import { labelFindings, matchedHeaderFindings, namespaceFindings, regexFindings } from "../../../policy/limits.ts";

/** What Istio would refuse in how a TrafficPolicy says which requests it is for. */
export function requestFindings({ sourceSelector = [], httpRequestMatchers = [] }: TrafficPolicySpec): readonly Finding[] {
  const sources = sourceSelector.flatMap(({ kubeWorkloadMatcher }, i) => {
    const path = `spec.sourceSelector[${i}].kubeWorkloadMatcher`;
    const namespaces = kubeWorkloadMatcher?.namespaces ?? [];
    return [
      ...labelFindings(`${path}.labels`, kubeWorkloadMatcher?.labels),
      ...namespaces.flatMap((namespace, j) => namespaceFindings(`${path}.namespaces[${j}]`, namespace)),
    ];
  });
  return [...sources, ...httpRequestMatchers.flatMap((matcher, i) => matcherFindings(`spec.httpRequestMatchers[${i}]`, matcher))];
}

function matcherFindings(path: string, { uri, headers = [], queryParameters = [] }: HttpMatcher): readonly Finding[] {
  return [
    ...(uri?.regex === undefined ? [] : regexFindings(`${path}.uri.regex`, uri.regex)),
    ...headers.flatMap(({ name, value = "", regex }, i) => [
      ...matchedHeaderFindings(`${path}.headers[${i}].name`, name),
      ...(regex && value !== "" ? regexFindings(`${path}.headers[${i}].value`, value) : []),
    ]),
    ...queryParameters.flatMap(({ name = "", value = "", regex }, i) => [
      ...(name === "" ? [invalidFinding("ValueInvalid", `${path}.queryParameters[${i}].name: is missing: name the parameter`)] : []),
      ...(regex && value !== "" ? regexFindings(`${path}.queryParameters[${i}].value`, value) : []),
    ]),
  ];
}
