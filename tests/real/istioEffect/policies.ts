import type { AnyResource } from "@isthmus/core";
import fc from "fast-check";
import type { Surroundings, WorldService } from "./randomFleets.ts";

/** The names that rules of a world may use. */
export interface AccessNames extends Pick<Surroundings, "trustDomain" | "aliases" | "rootNamespace" | "hasRootRules"> {
  readonly shop: string;
  readonly bank: string;
}

/** An AuthorizationPolicy of a user, without names. */
export interface UserPolicy {
  readonly place: "SHOP" | "ROOT" | "BANK";
  readonly selector: Readonly<Record<string, string>>;
  readonly action: string | undefined;
  readonly isDryRun: boolean;
  readonly rules: readonly Rule[];
}

interface Rule {
  readonly from?: readonly { readonly source: Members }[];
  readonly to?: readonly { readonly operation: Members }[];
  readonly when?: readonly { readonly key: string; readonly values: readonly string[] }[];
}
type Members = Readonly<Record<string, readonly string[] | undefined>>;

// Words in capital letters stand for names of the world and its mesh.
const PRINCIPALS = [
  "cluster.local/ns/SHOP/sa/front",
  "OWN/ns/SHOP/sa/front",
  "OWN/ns/BANK/sa/*",
  "ALIAS/ns/BANK/sa/till",
  "other.example/ns/SHOP/sa/front",
  "cluster.local/ns/BANK/*",
  "cluster.local/ns/*",
  "OWN/ns/*",
  "*",
  "*/ns/SHOP/sa/front",
  "*/sa/till",
  "*/sa/*",
  "*.example/ns/SHOP/sa/front",
];

const MEMBERS = ["principals", "namespaces", "ports", "methods", "paths"]
  .flatMap((member) => [member, `not${member.slice(0, 1).toUpperCase()}${member.slice(1)}`])
  .concat("serviceAccounts", "when");
const TRUST_DOMAINS = ["cluster.local/", "OWN/", "ALIAS/", "other.example/", "*/sa/"];

/** What must occur in AuthorizationPolicies of users. */
export const USER_FEATURES: readonly string[] = [
  ...["ALLOW", "DENY", "CUSTOM", "AUDIT"].map((action) => `action: ${action}`),
  ...["SHOP", "ROOT", "BANK"].map((place) => `place: ${place}`),
  "dry run",
  "selector",
  ...MEMBERS,
  ...TRUST_DOMAINS.map((part) => `principal: ${part}`),
];

/** AuthorizationPolicies as users write them. */
export function userPolicy(): fc.Arbitrary<UserPolicy> {
  return fc.record({
    place: fc.constantFrom("SHOP", "SHOP", "SHOP", "SHOP", "ROOT", "ROOT", "BANK"),
    selector: fc.constantFrom({}, { app: "cart" }, { version: "v1" }, { version: "v1" }, { app: "other" }),
    action: fc.constantFrom(undefined, "ALLOW", "ALLOW", "ALLOW", "DENY", "DENY", "AUDIT", "CUSTOM"),
    isDryRun: fc.nat(4).map((n) => n === 0),
    rules: fc.array(rule(), { maxLength: 3 }),
  });
}

// Few conditions at a time: of many together, hardly any request meets all.
function rule(): fc.Arbitrary<Rule> {
  const from = fc.array(source(), { minLength: 1, maxLength: 2 });
  const to = fc.array(operation(), { minLength: 1, maxLength: 2 });
  const when = condition().map((one) => [one]);
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ from }) },
    { weight: 4, arbitrary: fc.record({ to }) },
    { weight: 1, arbitrary: fc.record({ when }) },
    { weight: 2, arbitrary: fc.record({ from, to }) },
    { weight: 1, arbitrary: fc.record({ to, when }) },
  );
}

/** One of the members, or two of them. */
function someOf(members: Readonly<Record<string, readonly string[]>>): fc.Arbitrary<Members> {
  const one = fc
    .constantFrom(...Object.entries(members))
    .chain(([member, values]) =>
      fc.subarray([...values], { minLength: 1, maxLength: Math.min(4, values.length) }).map((chosen): Members => ({ [member]: chosen })),
    );
  const two = fc.tuple(one, one).map(([left, right]): Members => ({ ...left, ...right }));
  return fc.oneof({ weight: 3, arbitrary: one }, { weight: 1, arbitrary: two });
}

function source(): fc.Arbitrary<{ readonly source: Members }> {
  const namespaces = ["SHOP", "BANK", "*-shop", "SHOP*", "*"];
  const members = someOf({ principals: PRINCIPALS, notPrincipals: PRINCIPALS, namespaces, notNamespaces: namespaces });
  // Istio refuses service accounts beside principals or namespaces.
  const accounts = someOf({ serviceAccounts: ["front", "SHOP/front", "BANK/till", "BANK/front"] });
  return fc.oneof({ weight: 4, arbitrary: members }, { weight: 1, arbitrary: accounts }).map((one) => ({ source: one }));
}

function operation(): fc.Arbitrary<{ readonly operation: Members }> {
  const ports = ["8080", "9000", "7070", "3306", "8081"];
  const methods = ["GET", "P*", "*"];
  const paths = ["/admin*", "/", "*/x", "*"];
  return someOf({ ports, notPorts: ports, methods, notMethods: methods, paths, notPaths: paths }).map((one) => ({ operation: one }));
}

function condition(): fc.Arbitrary<{ readonly key: string; readonly values: readonly string[] }> {
  return fc.constantFrom(
    { key: "source.namespace", values: ["SHOP"] },
    { key: "source.principal", values: ["cluster.local/ns/SHOP/sa/front"] },
    { key: "destination.port", values: ["8080"] },
  );
}

/** The object, and what is in it. */
export function userPolicyOf(
  { place, selector, action, isDryRun, rules }: UserPolicy,
  name: string,
  names: AccessNames,
): { readonly object: AnyResource; readonly features: readonly string[] } {
  // Istio enforces a dry run of CUSTOM, whatever its documentation says.
  const isDry = isDryRun && action !== "CUSTOM";
  const named = JSON.parse(withNames(JSON.stringify(rules), names)) as readonly Rule[];
  // What Istio refuses: another action than ALLOW without rules lets everything pass.
  const kept = named.length === 0 && action !== undefined && action !== "ALLOW" ? [{}] : named;
  const matchLabels = Object.keys(selector).length === 0 ? {} : { selector: { matchLabels: selector } };
  const spec = {
    ...matchLabels,
    ...(action === undefined ? {} : { action }),
    ...(action === "CUSTOM" ? { provider: { name: "asked" } } : {}),
    ...(kept.length === 0 ? {} : { rules: kept }),
  };
  const namespace = place === "BANK" ? names.bank : place === "ROOT" && names.hasRootRules ? names.rootNamespace : names.shop;
  const annotations = isDry ? { annotations: { "istio.io/dry-run": "true" } } : {};
  const text = JSON.stringify(rules);
  const features = [
    `action: ${action ?? "ALLOW"}`,
    `place: ${place === "ROOT" && !names.hasRootRules ? "SHOP" : place}`,
    ...(isDry ? ["dry run"] : []),
    ...(Object.keys(selector).length > 0 ? ["selector"] : []),
    ...MEMBERS.filter((member) => text.includes(`"${member}"`)),
    ...TRUST_DOMAINS.filter((part) => text.includes(part)).map((part) => `principal: ${part}`),
  ];
  return {
    object: {
      apiVersion: "security.istio.io/v1",
      kind: "AuthorizationPolicy",
      metadata: { name, namespace, ...annotations },
      spec,
    } as AnyResource,
    features,
  };
}

/** An AccessPolicy on a Service of a world. */
export function accessPolicyOf(
  spec: object,
  name: string,
  { service, names }: { readonly service: WorldService; readonly names: AccessNames },
): AnyResource {
  const { name: service_, namespace } = service;
  const destinationSelector = [{ kubeServiceRefs: { services: [{ name: service_, namespace, clusterName: "a" }] } }];
  return {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "AccessPolicy",
    metadata: { name, namespace: "gloo-mesh" },
    spec: { destinationSelector, ...(JSON.parse(withNames(JSON.stringify(spec), names)) as object) },
  } as AnyResource;
}

function withNames(text: string, { shop, bank, trustDomain, aliases }: AccessNames): string {
  const [alias = "old.example"] = aliases;
  return text
    .replaceAll("SHOP", shop)
    .replaceAll("BANK", bank)
    .replaceAll("OWN", trustDomain === "" ? "cluster.local" : trustDomain)
    .replaceAll("ALIAS", alias);
}
