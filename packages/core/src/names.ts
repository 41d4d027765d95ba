import { md5Hex } from "./hashes.ts";
import { intern } from "./intern.ts";

/**
 * A DNS-safe name of at most 63 characters, the way the published product makes them: `*`, `/`, `.`, `:` and space become
 * `-`, brackets and quotes go, a longer name keeps 31 characters and the first 31 digits of its MD5.
 */
export function sanitizedName(name: string): string {
  const replaced = name.replace(/[*/.: ]/g, "-").replace(/[[\]\n"']/g, "");
  const short = replaced.length > 63 ? `${replaced.slice(0, 31)}-${md5Hex(replaced).slice(0, 31)}` : replaced;
  return short.toLowerCase();
}

/** The name of what was discovered from one object: `name-namespace-cluster`, made DNS-safe. */
export function discoveredName(ref: { readonly name: string; readonly namespace: string; readonly clusterName: string }): string {
  return intern(sanitizedName([ref.name, ref.namespace, ref.clusterName].join("-")));
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Whether `name` can name a cluster: a DNS label, as it becomes part of host names and of certificates. */
export function isClusterName(name: string): boolean {
  return DNS_LABEL.test(name);
}
