import { CertificateRequest } from "@isthmus/api";
import { formatRef, type Log, type Resource, refOf, resourceKeyOf } from "@isthmus/core";

// What the two ends of certificates in a cluster without a relay have in common, server and agent.

/** What a CertificateRequest is, beside its name. */
export const REQUEST = { apiVersion: CertificateRequest.apiVersion, kind: CertificateRequest.kind };

/** An object by its name alone, with `rest`: what is passed on of it has nothing else of its metadata. */
export function bareObject({ apiVersion, kind, metadata }: Resource, rest: object = {}): Resource {
  const { name, namespace = "", clusterName = "" } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, clusterName }, ...rest };
}

/** Logs a problem of an object when it is another one than before; undefined: there is none any more. */
export function problemLog(log: Log): (resource: Resource, problem: string | undefined) => void {
  const known = new Map<string, string>();
  return (resource, problem) => {
    const key = resourceKeyOf(refOf(resource));
    if (known.get(key) === problem) return;
    if (problem === undefined) {
      known.delete(key);
      return;
    }
    known.set(key, problem);
    log.warn({ object: formatRef(refOf(resource)) }, problem);
  };
}
