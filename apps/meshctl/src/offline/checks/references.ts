import { AccessPolicy, Destination, DestinationRule, Pod, Secret, ServiceEntry, VirtualMesh, VirtualService, Workload } from "@isthmus/api";
import { displayName, formatRef, nearestName, type Resource, refOf } from "@isthmus/core";
import { insightsOfRules } from "@isthmus/insights";
import { networkingOwner } from "@isthmus/translators";
import { type KnownCallers, knownCallers, unknownAccounts } from "./callers.ts";
import type { Doubt, KnownObjects } from "./knownObjects.ts";

/** What is doubtful in what objects of users say of others. Where nothing is known of the others, nothing is said. */
export function referenceDoubts(known: KnownObjects): readonly Doubt[] {
  const callers = knownCallers(known.of(Workload), known.of(Pod));
  return [
    ...known.of(VirtualMesh).flatMap((object) => missingRoot(object, known)),
    ...foundByRules(known),
    ...known.of(AccessPolicy).flatMap((object) => [...unknownPorts(object, known), ...unknownCallers(object, callers, known)]),
    ...sharedHosts(known),
    ...ISTIO_HOSTS.flatMap(({ kind, field }) => known.of<Resource>(kind).flatMap((object) => misspeltHosts(object, field, known))),
  ];
}

/** Secrets are seldom given; when some are, the root that users keep themselves should be among them. */
function missingRoot(object: VirtualMesh, known: KnownObjects): readonly Doubt[] {
  const { name, namespace } = object.spec?.mtlsConfig?.shared?.rootCertificateAuthority?.secret ?? {};
  const secrets = known.of(Secret).filter(({ metadata }) => (metadata.clusterName ?? "") === "");
  if (name === undefined || namespace === undefined || secrets.length === 0) return [];
  if (secrets.some(({ metadata }) => metadata.name === name && metadata.namespace === namespace)) return [];
  const message = `spec.mtlsConfig.shared.rootCertificateAuthority.secret: the input has Secrets of the management cluster, and ${displayName({ name, namespace })} is not one of them: create it with root-cert.pem and key.pem`;
  return [{ object, code: "RootSecretUnknown", message }];
}

/** Under which code of findings the insights of a rule are printed. */
const INSIGHTS: ReadonlyMap<string, string> = new Map([
  ["SEC1001", "AllCallsDenied"],
  ["FED1012", "VersionSkew"],
]);

/** What rules of insights find that `validate` reports, too. */
function foundByRules({ translation, namespace }: KnownObjects): readonly Doubt[] {
  return insightsOfRules(translation, new Set(INSIGHTS.keys()), namespace).flatMap(
    ({ code, object: ref, field, message, remedy, severity }) => {
      const object = translation.attached.of(VirtualMesh).get(ref);
      const found = { code: INSIGHTS.get(code) ?? code, message: `${field}: ${message}: ${remedy.text}` };
      return object === undefined ? [] : [{ object, ...found, ...(severity === "error" ? { isError: true as const } : {}) }];
    },
  );
}

/** Ports at which no workload of any known Service listens. */
function unknownPorts(object: AccessPolicy, known: KnownObjects): readonly Doubt[] {
  const allowed = object.spec?.allowedPorts ?? [];
  const destinations = known.of(Destination);
  if (allowed.length === 0 || destinations.length === 0) return [];
  const ports = destinations.flatMap(({ spec }) => spec?.kubeService?.ports ?? []);
  // The number behind a name is known to the pods alone.
  if (ports.some(({ targetPortName = "" }) => targetPortName !== "")) return [];
  const numbers = new Set(ports.flatMap(({ port, targetPortNumber }) => [port, targetPortNumber]));
  return allowed.flatMap((port, i) => {
    if (numbers.has(port)) return [];
    return [
      { object, code: "PortUnknown", message: `spec.allowedPorts[${i}]: no Service of the input has port ${port}: check the number` },
    ];
  });
}

/** Service accounts that no workload of their cluster runs as. */
function unknownCallers(object: AccessPolicy, callers: KnownCallers, known: KnownObjects): readonly Doubt[] {
  const sourceSelector = sourceSelectorsOf(object, known);
  const policy = { ...object, spec: { ...object.spec, sourceSelector } } as AccessPolicy;
  return unknownAccounts(policy, callers).map(({ path, problem, remedy }) => ({
    object,
    code: "CallerUnknown",
    message: `${path}: ${problem}: ${remedy}`,
  }));
}

/** Those of a policy that cannot be read, too: of each entry by itself; one that is wrong selects nothing here. */
function sourceSelectorsOf(object: AccessPolicy, known: KnownObjects): NonNullable<NonNullable<AccessPolicy["spec"]>["sourceSelector"]> {
  const given = known.given(refOf(object), "spec.sourceSelector");
  if (object.spec?.sourceSelector !== undefined || !Array.isArray(given)) return object.spec?.sourceSelector ?? [];
  const { apiVersion, kind, metadata } = object;
  return given.map(
    (entry: unknown) =>
      AccessPolicy.parse({ apiVersion, kind, metadata, spec: { sourceSelector: [entry] } }).spec?.sourceSelector?.[0] ?? {},
  );
}

/** Users' ServiceEntries for hosts of federated services: Istio uses one of the two. */
function sharedHosts(known: KnownObjects): readonly Doubt[] {
  const { label } = networkingOwner(known.namespace);
  const ours = new Map<string, Resource>();
  for (const { resource } of known.translation.networking) {
    if (resource.kind !== ServiceEntry.kind) continue;
    for (const host of (resource as ServiceEntry).spec?.hosts ?? []) ours.set(`${resource.metadata.clusterName}/${host}`, resource);
  }
  // The dump of a cluster holds what federation wrote there before.
  const users = known.of(ServiceEntry).filter(({ metadata }) => metadata.labels?.[label] === undefined);
  return users.flatMap((object) =>
    (object.spec?.hosts ?? []).flatMap((host, i) => {
      const other = ours.get(`${object.metadata.clusterName}/${host}`);
      if (other === undefined) return [];
      const message = `spec.hosts[${i}]: ${formatRef(refOf(other))}, which federation writes, has host ${host} as well, and Istio uses only one of the two: remove one`;
      return [{ object, code: "UserConfigConflict", message }];
    }),
  );
}

const ISTIO_HOSTS = [
  { kind: VirtualService, field: "hosts" },
  { kind: ServiceEntry, field: "hosts" },
  { kind: DestinationRule, field: "host" },
];

/** The field by which users' Istio objects meet hosts, under another name: Istio alone judges the rest of them. */
function misspeltHosts(object: Resource, field: string, known: KnownObjects): readonly Doubt[] {
  const spec = known.given(refOf(object), "spec");
  if (typeof spec !== "object" || spec === null || Object.hasOwn(spec, field)) return [];
  const misspelt = Object.keys(spec).find((key) => nearestName(key, [field]) !== undefined);
  if (misspelt === undefined) return [];
  return [
    {
      object,
      code: "FieldUnknown",
      message: `spec.${misspelt}: unknown field (did you mean ${field}?); without hosts this object has no effect`,
    },
  ];
}
