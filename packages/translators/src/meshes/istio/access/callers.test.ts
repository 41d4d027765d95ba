import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TrustDomain } from "../../../policy/trustDomain.ts";
import { callersOf } from "./callers.ts";
import type { TrustReading } from "./trustReading.ts";

const trustDomains = [
  { clusterName: "cluster-1", trustDomain: "one" },
  { clusterName: "cluster-2", trustDomain: "old" },
  { clusterName: "cluster-2", trustDomain: "two" },
];
const reading = (domains: readonly TrustDomain[], other: Partial<TrustReading> = {}): TrustReading => ({
  trustDomains: domains,
  own: ["one"],
  joined: [],
  elsewhere: [],
  isSharingAllowed: false,
  ...other,
});
const sourceOf = (selector: Parameters<typeof callersOf>[0]) => callersOf(selector, "spec.sourceSelector[0]", reading(trustDomains)).source;
const codesOf = (selector: Parameters<typeof callersOf>[0], domains = trustDomains) =>
  callersOf(selector, "spec.sourceSelector[0]", reading(domains)).findings.map(({ code }) => code);

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
        const { source, findings } = callersOf(entry, "x", reading(withoutDomains ? [] : trustDomains));
        const { clusters = [], namespaces = [] } = entry.kubeIdentityMatcher ?? {};
        const restrictsNothing = clusters.length === 0 && namespaces.length === 0 && entry.kubeServiceAccountRefs === undefined;
        if (findings.length === 0) expect(source === undefined).toBe(restrictsNothing);
      }),
    );
  });

  it("of one cluster are never those of another one that can come, whatever trust domains and aliases there are", () => {
    const domain = fc.constantFrom("cluster.local", "a.example", "b.example", "c.example");
    const mesh = fc.record({ trustDomain: domain, aliases: fc.uniqueArray(domain, { maxLength: 2 }) });
    const named = fc.subarray(["cluster-0", "cluster-1", "cluster-2"], { minLength: 1 });
    let refusals = 0;
    fc.assert(
      fc.property(
        fc.array(mesh, { minLength: 3, maxLength: 3 }),
        named,
        fc.nat(2),
        fc.boolean(),
        (meshes, clusters, enforcing, byAccount) => {
          const places = meshes.map(({ trustDomain, aliases }, i) => ({ clusterName: `cluster-${i}`, trustDomain, aliases }));
          const own = [meshes[enforcing]?.trustDomain ?? "", ...(meshes[enforcing]?.aliases ?? [])];
          const trust = reading(
            places.filter(({ clusterName }) => clusters.includes(clusterName)),
            { own, joined: places },
          );
          const accounts = clusters.map((clusterName) => ({ name: "x", namespace: "n", clusterName }));
          const entry = byAccount ? { kubeServiceAccountRefs: { serviceAccounts: accounts } } : { kubeIdentityMatcher: { clusters } };
          const { source, findings } = callersOf(entry, "x", trust);
          // As Istio replaces trust domains, by its own words: cluster.local is the reader's, and its aliases are one.
          const expanded = (source?.principals ?? []).flatMap((principal) => {
            const [of = "", ...rest] = principal.split("/");
            return (own.includes(of) || of === "cluster.local" ? own : [of]).map((one) => [one, ...rest].join("/"));
          });
          const isLetIn = ({ trustDomain }: TrustDomain) => expanded.some((principal) => principal.startsWith(`${trustDomain}/ns/`));
          const letIn = places.filter(isLetIn).map(({ clusterName }) => clusterName);
          expect(letIn.filter((clusterName) => !clusters.includes(clusterName))).toEqual([]);
          // Callers that are named and not let in are reported.
          if (findings.length === 0) expect(letIn).toEqual(clusters);
          else refusals++;
        },
      ),
    );
    expect(refusals).toBeGreaterThan(0);
  });
});
