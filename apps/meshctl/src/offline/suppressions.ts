import { matchesWildcards, nearestName, type ResourceRef, UsageError } from "@isthmus/core";
import { plainText } from "../output/plainText.ts";

/** What `-S` asks not to be shown. In both members `*` stands for any text. */
export interface LineSuppression {
  readonly code: string;
  /** `Kind name.namespace`, as istioctl writes it; absent: any object. */
  readonly object?: string;
}

/** What a suppression is compared with. */
interface Judged {
  readonly code: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

/** Throws UsageError for a suppression of a code that there is not: it would hide nothing, and nobody would know. */
export function checkSuppressions(suppressions: readonly LineSuppression[] | undefined, codes: readonly string[]): void {
  for (const { code } of suppressions ?? []) {
    if (codes.some((known) => matchesWildcards(known, code))) continue;
    const near = nearestName(code, codes);
    throw new UsageError(`-S: no code is ${plainText(code)}${near === undefined ? "" : ` (did you mean ${near}?)`}`);
  }
}

/** The one that holds for something that was found, as it stands on the line; undefined: it is to be shown. */
export function suppressionOf(suppressions: readonly LineSuppression[] | undefined, judged: Judged): string | undefined {
  const { code, kind, name, namespace } = judged;
  const object = `${kind} ${name}${namespace === "" ? "" : `.${namespace}`}`;
  const one = suppressions?.find(
    (suppression) =>
      matchesWildcards(code, suppression.code) && (suppression.object === undefined || matchesWildcards(object, suppression.object)),
  );
  return one && `-S ${one.code}${one.object === undefined ? "" : `=${one.object}`}`;
}

/** The object with which a message begins: `Kind namespace/name`, or `cluster name`, which is a KubernetesCluster. */
export function objectAtStart(message: string): Pick<ResourceRef, "kind" | "name" | "namespace"> {
  const [kind = "", place = ""] = message.slice(0, LONGEST_NAME).split(" ", 2);
  const named = place.endsWith(":") ? place.slice(0, -1) : place;
  const slash = named.indexOf("/");
  return {
    kind: kind === "cluster" ? "KubernetesCluster" : kind,
    namespace: named.slice(0, Math.max(0, slash)),
    name: named.slice(slash + 1),
  };
}

// A kind, a namespace and a name have at most 63, 63 and 253 characters.
const LONGEST_NAME = 400;
