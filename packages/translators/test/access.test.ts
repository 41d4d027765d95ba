import { type Resource, refOf, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { accessEvaluator } from "../src/effect/access.ts";
import type { AccessQuery } from "../src/meshes/access.ts";
import { ruleMatch } from "../src/meshes/istio/routes/ruleMatches.ts";

const FLEET = `
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: istiod-a, namespace: gloo-mesh}
spec: {istio: {installation: {namespace: istio-system, cluster: a}, trustDomain: a}}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: istiod-b, namespace: gloo-mesh}
spec: {istio: {installation: {namespace: istio-system, cluster: b}, trustDomain: b}}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: cart-shop-a, namespace: gloo-mesh}
spec:
  kubeService:
    ref: {name: cart, namespace: shop, clusterName: a}
    workloadSelectorLabels: {app: cart}
    ports: [{port: 80, name: http, protocol: TCP}]
  mesh: {name: istiod-a, namespace: gloo-mesh}
`;
const ACCESS = (name: string, spec: string) => `---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: AccessPolicy
metadata: {name: ${name}, namespace: shop}
spec: {destinationSelector: [{kubeServiceRefs: {services: [{name: cart, namespace: shop, clusterName: a}]}}], ${spec}}
`;
const USERS = (spec: string, place = "shop") => `---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: own, namespace: ${place}, clusterName: a}
spec: ${spec}
`;
const DB = "db";
const ALIASED = "aliased";
const PEERS = (spec: string, place = "shop", name = "own") => `---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: ${name}, namespace: ${place}, clusterName: a}
spec: ${spec}
`;
const FRONT = "sourceSelector: [{kubeServiceAccountRefs: {serviceAccounts: [{name: front, namespace: shop, clusterName: a}]}}]";
const front = { clusterName: "a", namespace: "shop", serviceAccount: "front" };

// Its mesh configuration names another root namespace.
const ROOTED = FLEET.replace("trustDomain: a}", "trustDomain: a, rootNamespace: istio-config}");
const ELSEWHERE = "elsewhere";
const MANUAL = "manual";
const VARIANTS: Readonly<Record<string, string>> = {
  [ELSEWHERE]: ROOTED,
  [MANUAL]: FLEET.replace("trustDomain: a}", "trustDomain: a, autoMtlsDisabled: true}"),
  // What its port carries is no HTTP.
  [DB]: FLEET.replace("name: http,", "name: tcp-db,"),
  [ALIASED]: FLEET.replace("trustDomain: a}", "trustDomain: a, trustDomainAliases: [old]}"),
};

function ask(text: string, question: Partial<AccessQuery> = {}, settings = "") {
  const { resources } = readInput((VARIANTS[settings] ?? FLEET + settings) + text);
  const translation = soundTranslation(snapshotOf(resources), { namespace: "gloo-mesh", stage: "networking" });
  const cart = resources.find(({ kind }) => kind === "Destination") as Resource;
  return accessEvaluator(translation).verdict(refOf(cart), { caller: front, ...question });
}

function told(text: string, question: Partial<AccessQuery> = {}) {
  const answer = ask(text, question);
  return [answer?.verdict, answer?.at, ...(answer?.policies ?? []).map(({ name }) => name)].join(" ");
}

it.each<[string, string, Partial<AccessQuery>, string]>([
  ["nothing is written", "", {}, "ALLOWED NO_OBJECT"],
  ["a policy names the caller", ACCESS("p", FRONT), {}, "ALLOWED ALLOW p"],
  ["a policy names another caller", ACCESS("p", FRONT), { caller: { ...front, serviceAccount: "batch" } }, "DENIED NO_RULE p"],
  ["a caller has the same name elsewhere", ACCESS("p", FRONT), { caller: { ...front, namespace: "other" } }, "DENIED NO_RULE p"],
  [
    "two policies add up, one of them matches",
    ACCESS("p", FRONT) + ACCESS("q", "sourceSelector: [{kubeIdentityMatcher: {namespaces: [jobs]}}]"),
    {},
    "ALLOWED ALLOW p",
  ],
  ["everybody is allowed", ACCESS("p", "allowedPorts: []"), { caller: { ...front, serviceAccount: "batch" } }, "ALLOWED ALLOW p"],
  ["only some methods are allowed, and none is named", ACCESS("p", `${FRONT}, allowedMethods: [GET]`), {}, "RESTRICTED ALLOW p"],
  ["the method is allowed", ACCESS("p", `${FRONT}, allowedMethods: [GET]`), { method: "GET" }, "ALLOWED ALLOW p"],
  ["the method is not allowed", ACCESS("p", `${FRONT}, allowedMethods: [GET]`), { method: "PUT" }, "DENIED NO_RULE p"],
  ["the path is allowed by its beginning", ACCESS("p", `${FRONT}, allowedPaths: [/info*]`), { path: "/info/1?x=/y" }, "ALLOWED ALLOW p"],
  ["the path is not allowed", ACCESS("p", `${FRONT}, allowedPaths: [/info*]`), { path: "/admin?/info" }, "DENIED NO_RULE p"],
  ["the port is not allowed", ACCESS("p", `${FRONT}, allowedPorts: [80]`), { port: 8080 }, "DENIED NO_RULE p"],
  ["a policy that cannot be translated lets nobody in", ACCESS("p", "sourceSelector: [{unknown: {}}]"), {}, "DENIED NO_RULE p"],
  ["a user denies", ACCESS("p", FRONT) + USERS("{action: DENY, rules: [{from: [{source: {namespaces: [shop]}}]}]}"), {}, "DENIED DENY"],
  ["a user denies in the root namespace", USERS("{action: DENY, rules: [{}]}", "istio-system"), {}, "DENIED DENY"],
  ["a user denies in another namespace", USERS("{action: DENY, rules: [{}]}", "other"), {}, "ALLOWED NO_OBJECT"],
  ["a user denies for other pods", USERS("{selector: {matchLabels: {app: other}}, action: DENY, rules: [{}]}"), {}, "ALLOWED NO_OBJECT"],
  [
    "a user denies some paths, and none is named",
    USERS("{action: DENY, rules: [{to: [{operation: {paths: [/admin*]}}]}]}"),
    {},
    "RESTRICTED DENY",
  ],
  [
    "a user denies all but some paths",
    USERS("{action: DENY, rules: [{to: [{operation: {notPaths: [/info]}}]}]}"),
    { path: "/admin" },
    "DENIED DENY",
  ],
  [
    "a user allows by a header, which nobody knows",
    USERS("{rules: [{when: [{key: 'request.headers[x]', values: [y]}]}]}"),
    {},
    "UNKNOWN ALLOW",
  ],
  ["a user allows by an address", USERS("{rules: [{from: [{source: {ipBlocks: [10.0.0.0/8]}}]}]}"), {}, "UNKNOWN ALLOW"],
  ["a user allows by a path template", USERS("{rules: [{to: [{operation: {paths: ['/a/{*}']}}]}]}"), { path: "/a/b" }, "UNKNOWN ALLOW"],
  ["a user's rules are empty", USERS("{}"), {}, "DENIED NO_RULE"],
  ["another program decides", USERS("{action: CUSTOM, provider: {name: x}, rules: [{}]}"), {}, "UNKNOWN CUSTOM"],
  ["an object is for a gateway", USERS("{targetRefs: [{kind: Gateway, name: g}], action: DENY, rules: [{}]}"), {}, "ALLOWED NO_OBJECT"],
  [
    "the caller is in another cluster that it is not federated to",
    "",
    { caller: { ...front, clusterName: "b" } },
    "UNREACHABLE FEDERATION",
  ],
  ["the caller's cluster is not known", "", { caller: { ...front, clusterName: "c" } }, "UNREACHABLE FEDERATION"],
])("%s", (_, text, question, expected) => expect(told(text, question)).toBe(expected));

const allowing = (source: string) => USERS(`{rules: [{from: [{source: ${source}}]}]}`);

it.each<[string, string, string, string]>([
  ["cluster.local is the mesh's own trust domain", "", allowing("{principals: [cluster.local/ns/shop/sa/front]}"), "ALLOWED ALLOW"],
  ["but only in principals of the full form", "", allowing("{principals: [cluster.local/ns/*]}"), "DENIED NO_RULE"],
  ["an alias is the mesh's own trust domain", ALIASED, allowing("{principals: [old/ns/shop/sa/front]}"), "ALLOWED ALLOW"],
  ["what is no alias is another one", "", allowing("{principals: [old/ns/shop/sa/front]}"), "DENIED NO_RULE"],
  ["a namespace may have stars anywhere", "", allowing("{namespaces: ['s*o*']}"), "ALLOWED ALLOW"],
  ["a principal has one, at its beginning first", "", allowing("{principals: ['*/ns/shop/sa/fro*']}"), "DENIED NO_RULE"],
  ["a service account is one of the namespace of the rule", "", allowing("{serviceAccounts: [front]}"), "ALLOWED ALLOW"],
  ["or of the namespace that it names", "", allowing("{serviceAccounts: [other/front]}"), "DENIED NO_RULE"],
  ["a condition names the caller's namespace", "", USERS("{rules: [{when: [{key: source.namespace, values: [jobs]}]}]}"), "DENIED NO_RULE"],
  [
    "a dry run decides nothing",
    "",
    USERS("{action: DENY, rules: [{}]}").replace("name: own,", "name: own, annotations: {istio.io/dry-run: 'true'},"),
    "ALLOWED NO_OBJECT",
  ],
  [
    "but one that another program decides is not known",
    "",
    USERS("{action: CUSTOM, provider: {name: ext}, rules: [{}]}").replace(
      "name: own,",
      "name: own, annotations: {istio.io/dry-run: 'true'},",
    ),
    "UNKNOWN CUSTOM",
  ],
  ["where no HTTP is, a rule about HTTP allows nobody", DB, USERS("{rules: [{to: [{operation: {methods: [GET]}}]}]}"), "DENIED NO_RULE"],
  ["and denies all that else matches", DB, USERS("{action: DENY, rules: [{to: [{operation: {methods: [PUT]}}]}]}"), "DENIED DENY"],
])("of Istio's rules, %s", (_, fleet, text, expected) => {
  const answer = ask(text, { method: "GET", path: "/" }, fleet);
  expect(`${answer?.verdict} ${answer?.at}`).toBe(expected);
});

it.each<[string, string, string]>([
  ["the namespace's", PEERS("{mtls: {mode: DISABLE}}"), "DENIED"],
  ["the mesh's", PEERS("{mtls: {mode: DISABLE}}", "istio-system"), "DENIED"],
  ["the namespace's before the mesh's", PEERS("{mtls: {mode: DISABLE}}", "istio-system") + PEERS("{mtls: {mode: PERMISSIVE}}"), "ALLOWED"],
  [
    "that of these pods before the namespace's",
    PEERS("{mtls: {mode: DISABLE}}") + PEERS("{selector: {matchLabels: {app: cart}}, mtls: {mode: STRICT}}", "shop", "pods"),
    "ALLOWED",
  ],
  ["not that of other pods", PEERS("{selector: {matchLabels: {app: other}}, mtls: {mode: DISABLE}}"), "ALLOWED"],
  [
    "that of the port before that of these pods",
    PEERS("{selector: {matchLabels: {app: cart}}, portLevelMtls: {80: {mode: DISABLE}}}"),
    "DENIED",
  ],
  [
    "none with a selector in the root namespace",
    PEERS("{selector: {matchLabels: {app: cart}}, mtls: {mode: DISABLE}}", "istio-system"),
    "ALLOWED",
  ],
  ["not what is unset", PEERS("{mtls: {mode: DISABLE}}", "istio-system") + PEERS("{mtls: {mode: UNSET}}"), "DENIED"],
])("of PeerAuthentications takes %s", (_, peers, verdict) => {
  expect(ask(ACCESS("p", FRONT) + peers, { port: 80 })).toMatchObject({ verdict, hasIdentity: verdict === "ALLOWED" });
});

it("knows nobody where connections have no mutual TLS", () => {
  const plain =
    "---\napiVersion: settings.mesh.gloo.solo.io/v1\nkind: Settings\nmetadata: {name: settings, namespace: gloo-mesh}\nspec: {mtls: {istio: {tlsMode: DISABLE}}}\n";
  expect(ask(ACCESS("p", FRONT), {}, plain)).toMatchObject({ verdict: "DENIED", at: "NO_RULE", hasIdentity: false });
  expect(ask(ACCESS("p", "allowedPorts: []"), {}, plain)).toMatchObject({ verdict: "ALLOWED", hasIdentity: false });
  const strict = ask(PEERS("{mtls: {mode: STRICT}}"), {}, plain);
  expect(strict).toMatchObject({ verdict: "DENIED", at: "PEER_TLS" });
  expect(strict?.objects.map(({ kind }) => kind)).toEqual(["PeerAuthentication"]);
});

it("knows nobody in the own cluster where the mesh configuration switches auto mTLS off, and nothing says a mode", () => {
  const disabled = ask(ACCESS("p", FRONT), {}, MANUAL);
  expect(disabled).toMatchObject({ verdict: "DENIED", at: "NO_RULE", hasIdentity: false });
  const said =
    "---\napiVersion: settings.mesh.gloo.solo.io/v1\nkind: Settings\nmetadata: {name: settings, namespace: gloo-mesh}\nspec: {mtls: {istio: {tlsMode: ISTIO_MUTUAL}}}\n";
  expect(ask(ACCESS("p", FRONT) + said, {}, MANUAL)).toMatchObject({ verdict: "ALLOWED", hasIdentity: true });
});

it("reads the root namespace that the mesh configuration names, and not that of the control plane", () => {
  const denying = (place: string) => USERS("{action: DENY, rules: [{}]}", place);
  expect(ask(denying("istio-config"), {}, ELSEWHERE)).toMatchObject({ verdict: "DENIED", at: "DENY" });
  expect(ask(denying("istio-system"), {}, ELSEWHERE)).toMatchObject({ verdict: "ALLOWED", at: "NO_OBJECT" });
});

it("denies everybody whom nothing allows, where a VirtualMesh asks for that", () => {
  const closed =
    "---\napiVersion: networking.mesh.gloo.solo.io/v1\nkind: VirtualMesh\nmetadata: {name: vm, namespace: gloo-mesh}\nspec: {globalAccessPolicy: ENABLED, meshes: [{name: istiod-a, namespace: gloo-mesh}]}\n";
  const denied = ask(closed);
  expect(denied).toMatchObject({ verdict: "DENIED", at: "NO_RULE" });
  expect(denied?.objects.map(({ name }) => name)).toEqual(["global-access-control"]);
  expect(ask(closed + ACCESS("p", FRONT))).toMatchObject({ verdict: "ALLOWED", at: "ALLOW" });
});

const strange = fc.jsonValue({ maxDepth: 4 });

it("never takes what it does not understand for a match", () => {
  const question = { caller: front, port: 80, method: "GET", path: "/" };
  const identity = { principal: "a/ns/shop/sa/front", namespace: "shop", serviceAccount: "front" };
  const reading = { own: ["a"], namespace: "shop", allows: true, isHttp: true };
  const asked = { question, identity, reading };
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), strange, (member, value) => {
      fc.pre(!["from", "to", "when"].includes(member));
      expect(ruleMatch({ [member]: value, from: [{ source: { namespaces: ["shop"] } }] }, asked)).not.toBe("yes");
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom("hosts", "requestPrincipals", "remoteIpBlocks", "notHosts", "x"), strange, (member, value) => {
      fc.pre(!(Array.isArray(value) && value.length === 0));
      expect(ruleMatch({ from: [{ source: { [member]: value } }] }, asked)).not.toBe("yes");
      expect(ruleMatch({ to: [{ operation: { [member]: value } }] }, asked)).not.toBe("yes");
    }),
  );
  fc.assert(fc.property(strange, (rule) => void ruleMatch(rule, asked)));
});
