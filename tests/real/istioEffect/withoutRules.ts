import type { AnyResource } from "@isthmus/core";
import type { Installation } from "./engineVerdicts.ts";

/** What is hidden from the engine, so that a rule of its own decides nothing: each must be noticed. */
export const WITHOUT: Readonly<Record<string, (installation: Installation) => Installation>> = {
  "objects that deny": objects((one) => (actionOf(one) === "DENY" ? undefined : one)),
  "objects that ask another program": objects((one) => (actionOf(one) === "CUSTOM" ? undefined : one)),
  "the action of objects that only record": objects((one) => (actionOf(one) === "AUDIT" ? withSpec(one, { action: "DENY" }) : one)),
  "objects of the root namespace": objects((one, { rootNamespace }) => (one.metadata.namespace === rootNamespace ? undefined : one)),
  "namespaces of objects": objects((one, { rootNamespace }) =>
    one.kind === "AuthorizationPolicy" ? { ...one, metadata: { ...one.metadata, namespace: rootNamespace } } : one,
  ),
  "dry runs": objects((one) => {
    const { annotations: _, ...metadata } = one.metadata;
    return { ...one, metadata } as AnyResource;
  }),
  selectors: objects((one) => (one.kind === "AuthorizationPolicy" ? withSpec(one, { selector: undefined }) : one)),
  "protocols of ports": objects((one) => (one.kind === "Service" ? withSpec(one, { ports: httpPorts(one) }) : one)),
  "pods without a proxy": objects((one) => (one.metadata.name.startsWith("cart-bare") ? undefined : one)),
  "pods with different labels": objects((one) => (one.metadata.name.startsWith("cart-v2") ? undefined : one)),
  PeerAuthentications: objects((one) => (one.kind === "PeerAuthentication" ? undefined : one)),
  "modes of ports": objects((one) => (one.kind === "PeerAuthentication" ? withSpec(one, { portLevelMtls: undefined }) : one)),
  "selectors of PeerAuthentications": objects((one) => (one.kind === "PeerAuthentication" && "selector" in specOf(one) ? undefined : one)),
  AccessPolicies: (installation) => ({ ...installation, worlds: installation.worlds.map((world) => ({ ...world, policies: [] })) }),
  "aliases of the trust domain": meshConfig(/^trustDomainAliases:.*$/m),
  "the trust domain": meshConfig(/^trustDomain:.*$/m),
  "the root namespace": meshConfig(/^rootNamespace:.*$/m),
  "cluster.local": objects((one) => replaced(one, "cluster.local/", "nowhere.invalid/")),
  ...Object.fromEntries(
    ["principals", "namespaces", "serviceAccounts", "ports", "methods", "paths"]
      .flatMap((member) => [member, `not${member.slice(0, 1).toUpperCase()}${member.slice(1)}`])
      .filter((member) => member !== "notServiceAccounts")
      .map((member) => [member, objects((one) => replaced(one, `"${member}"`, `"${SAYS_NOTHING[member] ?? member}"`))]),
  ),
  when: objects((one) => replaced(one, '"when"', '"to"')),
};

// Members under a name of another one, that has another meaning for all callers.
const SAYS_NOTHING: Readonly<Record<string, string>> = {
  principals: "notPrincipals",
  notPrincipals: "principals",
  namespaces: "notNamespaces",
  notNamespaces: "namespaces",
  serviceAccounts: "namespaces",
  ports: "notPorts",
  notPorts: "ports",
  methods: "notMethods",
  notMethods: "methods",
  paths: "notPaths",
  notPaths: "paths",
};

type Change = (object: AnyResource, place: { readonly rootNamespace: string }) => AnyResource | undefined;

function objects(change: Change): (installation: Installation) => Installation {
  return (installation) => {
    const { surroundings, worlds } = installation;
    const changed = (all: readonly AnyResource[]) => all.flatMap((one) => change(one, surroundings) ?? []);
    return {
      ...installation,
      surroundings: { ...surroundings, objects: changed(surroundings.objects) },
      worlds: worlds.map((world) => ({ ...world, objects: changed(world.objects) })),
    };
  };
}

function meshConfig(line: RegExp): (installation: Installation) => Installation {
  return (installation) => ({ ...installation, meshConfig: installation.meshConfig.replace(line, "") });
}

function specOf(object: AnyResource): Readonly<Record<string, unknown>> {
  return (object as AnyResource & { readonly spec?: Readonly<Record<string, unknown>> }).spec ?? {};
}

function actionOf(object: AnyResource): unknown {
  return object.kind === "AuthorizationPolicy" ? specOf(object)["action"] : undefined;
}

function withSpec(object: AnyResource, members: object): AnyResource {
  return { ...object, spec: { ...specOf(object), ...members } } as AnyResource;
}

function httpPorts(service: AnyResource): readonly object[] {
  const ports = specOf(service)["ports"] as readonly { readonly targetPort: number; readonly appProtocol?: string }[];
  return ports.map(({ appProtocol: _, ...port }) => ({ ...port, name: `http-${port.targetPort}` }));
}

function replaced(object: AnyResource, text: string, by: string): AnyResource {
  if (object.kind !== "AuthorizationPolicy") return object;
  return { ...object, spec: JSON.parse(JSON.stringify(specOf(object)).replaceAll(text, by)) } as AnyResource;
}
