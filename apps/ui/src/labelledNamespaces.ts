import { Namespace } from "@isthmus/api";
import { type Clock, type LabelSelector, UsageError, uptimeOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";

/** What namespaces must bear, of `key` or `key=value`. Throws UsageError. */
export function labelIn(text: string): LabelSelector {
  const [, key = "", value] = LABEL.exec(text) ?? [];
  if (key === "") throw new UsageError(`--namespace-label ${text} is no label: write KEY or KEY=VALUE, such as example.com/fleet=true`);
  return value === undefined ? { matchExpressions: [{ key, operator: "Exists" }] } : { matchLabels: { [key]: value } };
}

/** The names of the management cluster's namespaces with a label, as they were at most half a minute ago. Rejects with ClusterError. */
export function labelledNamespaces(
  cluster: Pick<Cluster, "list">,
  { labels, clock }: { readonly labels: LabelSelector; readonly clock: Clock },
): (signal: AbortSignal) => Promise<ReadonlySet<string>> {
  let known: { readonly names: ReadonlySet<string>; readonly at: number } | undefined;
  const transform = ({ apiVersion, kind, metadata }: Namespace): Namespace => ({ apiVersion, kind, metadata: { name: metadata.name } });
  return async (signal) => {
    if (known !== undefined && uptimeOf(clock) - known.at < KEPT_MS) return known.names;
    const { items } = await cluster.list(Namespace, { labels, transform }, signal);
    known = { names: new Set(items.map(({ metadata }) => metadata.name)), at: uptimeOf(clock) };
    return known.names;
  };
}

const KEPT_MS = 30_000;
/** Source: kubernetes.io/docs/concepts/overview/working-with-objects/labels, Syntax and character set. */
const LABEL =
  /^((?:[a-z0-9][a-z0-9.-]{0,252}\/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)(?:=([A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?))?$/;
