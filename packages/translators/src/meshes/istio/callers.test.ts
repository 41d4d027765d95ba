import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callersOf } from "./callers.ts";

const trustDomains = [
  { clusterName: "cluster-1", trustDomain: "one" },
  { clusterName: "cluster-2", trustDomain: "old" },
  { clusterName: "cluster-2", trustDomain: "two" },
];
const sourceOf = (selector: Parameters<typeof callersOf>[0]) => callersOf(selector, "spec.sourceSelector[0]", trustDomains).source;
const codesOf = (selector: Parameters<typeof callersOf>[0], domains = trustDomains) =>
  callersOf(selector, "spec.sourceSelector[0]", domains).findings.map(({ code }) => code);

describe("the callers of a source selector", () => {
  it("are everybody for an empty entry and for an empty matcher", () => {
    expect(sourceOf({})).toBeUndefined();
    expect(sourceOf({ kubeIdentityMatcher: {} })).toBeUndefined();
  });

  it("go by cluster, then namespace, each cluster with its own trust domain", () => {
    expect(sourceOf({ kubeIdentityMatcher: { clusters: ["cluster-1", "cluster-2"], namespaces: ["a", "b"] } })).toEqual({
      principals: ["one/ns/a/sa/*", "one/ns/b/sa/*", "two/ns/a/sa/*", "two/ns/b/sa/*"],
    });
    expect(sourceOf({ kubeIdentityMatcher: { clusters: ["cluster-1"] } })).toEqual({ principals: ["one/ns/*"] });
    expect(sourceOf({ kubeIdentityMatcher: { namespaces: ["a"] } })).toEqual({ namespaces: ["a"] });
  });

  it("are service accounts, an omitted field standing for any", () => {
    const accounts = (...serviceAccounts: object[]) => sourceOf({ kubeServiceAccountRefs: { serviceAccounts } });
    expect(accounts({ name: "x", namespace: "a", clusterName: "cluster-1" })).toEqual({ principals: ["one/ns/a/sa/x"] });
    expect(accounts({ name: "x", namespace: "a" })).toEqual({ principals: ["one/ns/a/sa/x", "old/ns/a/sa/x", "two/ns/a/sa/x"] });
    expect(accounts({ namespace: "a", clusterName: "cluster-2" })).toEqual({ principals: ["two/ns/a/sa/*"] });
    expect(accounts({ clusterName: "cluster-1" })).toEqual({ principals: ["one/ns/*"] });
    expect(accounts({ name: "x" })).toEqual({ principals: ["*/sa/x"] });
  });

  it("that cannot be said are refused, never widened", () => {
    expect(codesOf({ kubeServiceAccountRefs: { serviceAccounts: [{ name: "x", clusterName: "cluster-1" }] } })).toEqual([
      "ServiceAccountNamespaceMissing",
    ]);
    expect(codesOf({ kubeServiceAccountRefs: {} })).toEqual(["SelectorNotUnderstood"]);
    expect(codesOf({ requestIdentityMatcher: {} })).toEqual(["SelectorNotUnderstood"]);
    expect(codesOf({ kubeIdentityMatcher: { clusters: ["cluster-3", "cluster-1", "cluster-4"] } })).toEqual([
      "TrustDomainUnknown",
      "TrustDomainUnknown",
    ]);
  });

  it("are everybody only if the entry restricts nothing, or else are refused", () => {
    const text = fc.constantFrom("", "a", "cluster-1", "cluster-9");
    const selector = fc.record(
      {
        kubeIdentityMatcher: fc.record({ clusters: fc.array(text), namespaces: fc.array(fc.constantFrom("a", "b")) }, { requiredKeys: [] }),
        kubeServiceAccountRefs: fc.record(
          { serviceAccounts: fc.array(fc.record({ name: text, namespace: text, clusterName: text }, { requiredKeys: [] })) },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(selector, fc.boolean(), (entry, withoutDomains) => {
        const { source, findings } = callersOf(entry, "x", withoutDomains ? [] : trustDomains);
        const { clusters = [], namespaces = [] } = entry.kubeIdentityMatcher ?? {};
        const restrictsNothing = clusters.length === 0 && namespaces.length === 0 && entry.kubeServiceAccountRefs === undefined;
        if (findings.length === 0) expect(source === undefined).toBe(restrictsNothing);
      }),
    );
  });
});
