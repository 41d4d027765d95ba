import { memoizeRow } from "../../../incremental/memoizeRow.ts";

/**
 * Labels of pods that are no part of their identities by default, so that a selector with one of them selects no pod at all. It is the sum
 * over the versions of Cilium: what only some of them leave out counts, too. Source: github.com/cilium/cilium pkg/labelsfilter.
 */
const LEFT_OUT: readonly RegExp[] = [
  /^io\.kubernetes/,
  /^(?!app\.kubernetes\.io\/).*kubernetes\.io\//,
  /k8s\.io\//,
  /^pod-template-(generation|hash)/,
  /^controller-(revision-hash|uid)/,
  /^annotation/,
  /^etcd_node/,
];

/** The labels of a selector that are not part of identities. */
export const labelsWithoutIdentity = memoizeRow((labels: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(labels).filter((key) => LEFT_OUT.some((pattern) => pattern.test(key))),
);
