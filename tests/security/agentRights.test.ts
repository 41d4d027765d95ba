import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { agentKinds, answeredKinds, computedKinds, contributedKinds, deliveredKinds, onDemandKinds, ownWrittenKinds } from "@isthmus/api";
import { groupOf, type Kind } from "@isthmus/core";
import { expect, test } from "vitest";
import { parse } from "yaml";

const DOCUMENT = fileURLToPath(new URL("../../docs/reference/rbac.md", import.meta.url));

interface Role {
  readonly kind: string;
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const roles = [...readFileSync(DOCUMENT, "utf8").matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => parse(text) as Role);

/** Each right by itself, `group/resource verb`. */
function rightsIn({ rules }: Role): readonly string[] {
  const rights = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`))),
  );
  return [...new Set(rights)].sort();
}

function rightsOn(kinds: readonly Kind[], verbs: readonly string[], subresource = ""): readonly string[] {
  return kinds.flatMap(({ apiVersion, plural }) => verbs.map((verb) => `${groupOf(apiVersion)}/${plural}${subresource} ${verb}`));
}

test("the documented rights of an agent are those that the table of kinds asks for", () => {
  const READ = ["list", "watch"];
  const applied = deliveredKinds().filter((kind) => !computedKinds().includes(kind));
  const wanted = [
    ...rightsOn([...agentKinds(), ...onDemandKinds(), ...contributedKinds(), ...applied], READ),
    ...rightsOn(applied, ["get", "create", "update", "patch", "delete"]),
    ...rightsOn(contributedKinds(), ["patch"], "/status"),
    // The schemas of APIs that it has read, and what it says to those who asked for them.
    ...rightsOn(ownWrittenKinds(), ["get", "create", "patch", "delete"]),
    ...rightsOn([...ownWrittenKinds(), ...answeredKinds()], ["patch"], "/status"),
    ...READ.map((verb) => `apiextensions.k8s.io/customresourcedefinitions ${verb}`),
    // Of kube-system alone, whose UID identifies the cluster.
    "/namespaces get",
    // Of istio-ca-root-cert alone, which holds roots.
    "/configmaps get",
    // Only where its user has it restart pods.
    "/pods/eviction create",
  ];
  const documented = roles.filter(({ kind }) => kind === "ClusterRole").flatMap(rightsIn);
  expect([...documented].sort()).toEqual([...new Set(wanted)].sort());
});

test("an agent has no right in its cluster that lets it have others", () => {
  const all = roles.filter(({ kind }) => kind === "ClusterRole").flatMap(rightsIn);
  expect(all.length).toBeGreaterThan(50);
  for (const right of all) {
    expect(right).not.toMatch(
      /\*|secrets|rbac\.|serviceaccounts|escalate|bind|impersonate|pods\/exec|certificatesigningrequests|webhookconfigurations (?!list$|watch$)/,
    );
    // Nothing of Kubernetes itself is written; to evict a pod is to ask for another one.
    if (right === "/pods/eviction create") continue;
    if (/ (create|update|patch|delete)$/.test(right))
      expect(right).toMatch(
        /^(networking|security)\.istio\.io\/|^cilium\.io\/ciliumnetworkpolicies |^\w+\.smi-spec\.io\/|^certificates\.mesh\.gloo\.solo\.io\/|^apimanagement\.gloo\.solo\.io\/apidocs |\/status patch$/,
      );
  }
});
