import { AccessPolicy, TrafficPolicy, Workload } from "@isthmus/api";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { selectsIdentity, selectsWorkload } from "./selectors.ts";
import { selectableTraitsOf, selectedTraitsOf } from "./workloadTraits.ts";

const name = fc.constantFrom("a", "b", "");
const names = fc.subarray(["a", "b"]);
const labels = fc.dictionary(fc.constantFrom("app", "version"), fc.constantFrom("a", "b"), { maxKeys: 2 });
const metadata = { name: "any", namespace: "any" };

const workloads = fc
  .record({ controller: fc.option(fc.record({ name, namespace: name, clusterName: name })), podLabels: labels, account: name })
  .map(({ controller, podLabels, account }) => {
    const kubernetes = { ...(controller === null ? {} : { controller }), podLabels, serviceAccountName: account };
    return Workload.parse({ apiVersion: Workload.apiVersion, kind: Workload.kind, metadata, spec: { kubernetes } });
  });

const identities = fc.array(
  fc.record(
    {
      kubeIdentityMatcher: fc.record({ namespaces: names, clusters: names }, { requiredKeys: [] }),
      kubeServiceAccountRefs: fc.record({
        serviceAccounts: fc.array(fc.record({ name, namespace: name, clusterName: name }, { requiredKeys: [] }), { maxLength: 2 }),
      }),
    },
    { requiredKeys: [] },
  ),
  { maxLength: 2 },
);

const sources = fc.array(
  fc.record({ kubeWorkloadMatcher: fc.record({ labels, namespaces: names, clusters: names }, { requiredKeys: [] }) }, { requiredKeys: [] }),
  { maxLength: 2 },
);

function isFound(policy: TrafficPolicy | AccessPolicy, workload: Workload): boolean {
  const wanted = selectedTraitsOf(policy);
  return wanted === "any" || wanted.some((trait) => selectableTraitsOf(workload).includes(trait));
}

test("whatever an AccessPolicy selects has one of the traits that it wants", () => {
  const policies = identities.map((sourceSelector) =>
    AccessPolicy.parse({ apiVersion: AccessPolicy.apiVersion, kind: AccessPolicy.kind, metadata, spec: { sourceSelector } }),
  );
  fc.assert(
    fc.property(policies, workloads, (policy, workload) => {
      if (selectsIdentity(policy.spec?.sourceSelector, workload)) expect(isFound(policy, workload)).toBe(true);
    }),
    { numRuns: runs(500) },
  );
});

test("whatever a TrafficPolicy selects as a source has one of the traits that it wants", () => {
  const policies = sources.map((sourceSelector) =>
    TrafficPolicy.parse({ apiVersion: TrafficPolicy.apiVersion, kind: TrafficPolicy.kind, metadata, spec: { sourceSelector } }),
  );
  fc.assert(
    fc.property(policies, workloads, (policy, workload) => {
      if (selectsWorkload(policy.spec?.sourceSelector, workload)) expect(isFound(policy, workload)).toBe(true);
    }),
    { numRuns: runs(500) },
  );
});

test("a policy that names accounts or labels does not want everything", () => {
  const account = { name: "a", namespace: "b", clusterName: "c" };
  const access = AccessPolicy.parse({
    apiVersion: AccessPolicy.apiVersion,
    kind: AccessPolicy.kind,
    metadata,
    spec: { sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts: [account] } }] },
  });
  expect(selectedTraitsOf(access)).toEqual(["account a.b"]);
});
