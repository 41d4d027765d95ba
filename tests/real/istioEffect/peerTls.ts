import type { AnyResource } from "@isthmus/core";
import fc from "fast-check";
import type { AccessNames } from "./policies.ts";

/** A PeerAuthentication of a user, without names. */
export interface PeerTls {
  readonly place: "SHOP" | "BANK";
  readonly selector: Readonly<Record<string, string>> | undefined;
  readonly mode: string | undefined;
  readonly ports: Readonly<Record<string, { readonly mode: string }>>;
}

/** At most one for each of the scopes between which Istio chooses: of several the oldest counts, and age is not what is compared here. */
export function peerTls(): fc.Arbitrary<readonly PeerTls[]> {
  const mode = fc.constantFrom("STRICT", "PERMISSIVE", "DISABLE", "UNSET");
  const one = fc.record({
    place: fc.constantFrom("SHOP" as const, "SHOP" as const, "BANK" as const),
    selector: fc.constantFrom(undefined, undefined, { app: "cart" }, { version: "v1" }, { app: "other" }),
    mode: fc.oneof(mode, fc.constant(undefined)),
    ports: fc.dictionary(fc.constantFrom("8080", "9000", "7070", "8081", "3306"), fc.record({ mode }), { maxKeys: 3 }),
  });
  return fc.uniqueArray(one, { minLength: 1, maxLength: 2, selector: ({ place, selector }) => `${place} ${selector === undefined}` });
}

/** The object, and what is in it. */
export function peerTlsOf(
  { place, selector, mode, ports }: PeerTls,
  name: string,
  names: AccessNames,
): { readonly object: AnyResource; readonly features: readonly string[] } {
  // Istio refuses modes of ports without a selector.
  const hasPorts = selector !== undefined && Object.keys(ports).length > 0;
  const spec = {
    ...(selector === undefined ? {} : { selector: { matchLabels: selector } }),
    ...(mode === undefined ? {} : { mtls: { mode } }),
    ...(hasPorts ? { portLevelMtls: { ...ports } } : {}),
  };
  const features = [`peer TLS: ${selector === undefined ? "of the namespace" : "of pods"}`, ...(hasPorts ? ["peer TLS: of a port"] : [])];
  const namespace = place === "SHOP" ? names.shop : names.bank;
  return { object: peerAuthentication(name, namespace, spec), features: place === "SHOP" ? features : [] };
}

export function peerAuthentication(name: string, namespace: string, spec: object): AnyResource {
  return { apiVersion: "security.istio.io/v1", kind: "PeerAuthentication", metadata: { name, namespace }, spec } as AnyResource;
}
