import { DaemonSet, Deployment, Gateway, KubernetesGateway, Service, VirtualService } from "@isthmus/api";
import { formatRef, type Index, matchesLabels, nearestName, type Resource, refOf } from "@isthmus/core";
import { defineRule, lookUp, type RuleFinding } from "../rule.ts";
import { byObjectCluster, isWithoutNamespace } from "./places.ts";

// Source: istio.io/docs/reference/config/networking/virtual-service: the sidecars of the mesh.
const MESH = "mesh";

function gatewaysNamed({
  spec,
  metadata,
}: VirtualService): readonly { readonly i: number; readonly name: string; readonly namespace: string }[] {
  return (spec?.gateways ?? []).flatMap((written, i) => {
    if (written === MESH) return [];
    return [{ i, ...gatewayOfName(written, metadata.namespace ?? "") }];
  });
}

/** Source: istio.io/istio, pilot/pkg/model/config.go, resolveGatewayName: `./name` and, from before, `name.namespace.svc.cluster.local`. */
function gatewayOfName(written: string, own: string): { readonly name: string; readonly namespace: string } {
  const slash = written.indexOf("/");
  if (slash >= 0) {
    const namespace = written.slice(0, slash);
    return { name: written.slice(slash + 1), namespace: namespace === "." ? own : namespace };
  }
  const [name = "", namespace = own] = written.split(".");
  return { name, namespace };
}

/** The Gateway that was probably meant: one of the namespace with a similar name, or one of this name in another namespace. */
function nearGateway({ name, namespace }: { readonly name: string; readonly namespace: string }, known: readonly Gateway[]) {
  const namesIn = (place: string) => known.filter(({ metadata }) => metadata.namespace === place).map(({ metadata }) => metadata.name);
  const here = nearestName(name, namesIn(namespace));
  if (here !== undefined) return `${namespace}/${here}`;
  const elsewhere = known.find(({ metadata }) => metadata.name === name);
  return elsewhere && `${elsewhere.metadata.namespace}/${name}`;
}

const gatewayKeys: Index<VirtualService> = (object) =>
  gatewaysNamed(object).map(({ name, namespace }) => [name, namespace, object.metadata.clusterName ?? ""].join("."));
const gatewayClusters: Index<VirtualService> = (object) => (gatewaysNamed(object).length === 0 ? [] : byObjectCluster(object));

/** ING1003. */
export const gatewayUnknown = defineRule({
  code: "ING1003",
  of: VirtualService,
  reads: {
    all: lookUp(Gateway, { key: gatewayClusters, index: byObjectCluster }),
    ofGatewayApi: lookUp(KubernetesGateway, { key: gatewayKeys }),
  },
  find: (object, { lookup }) =>
    gatewaysNamed(object).flatMap(({ i, name, namespace }): readonly RuleFinding[] => {
      const placed = lookup("all").filter((one) => !isWithoutNamespace(one));
      if (namespace === "" || lookup("all").length > placed.length) return [];
      if (placed.some(({ metadata }) => metadata.name === name && metadata.namespace === namespace)) return [];
      // One of the Gateway API is there, whatever a VirtualService may do with it.
      if (lookup("ofGatewayApi").some(({ metadata }) => metadata.name === name && metadata.namespace === namespace)) return [];
      // Any may be elsewhere: only what looks like a slip of the pen is one.
      const nearMiss = nearGateway({ name, namespace }, placed);
      if (nearMiss === undefined) return [];
      return [
        {
          field: `spec.gateways[${i}]`,
          message: `Gateway ${namespace}/${name} does not exist, so the routes are not in force there`,
          remedy: "correct the name, or create the Gateway",
          nearMiss,
        },
      ];
    }),
});

/** ING1004. */
export const hostNotAtGateway = defineRule({
  code: "ING1004",
  of: VirtualService,
  reads: { named: lookUp(Gateway, { key: gatewayKeys }) },
  find(object, { lookup }) {
    // Each is compared with all hosts of the gateways.
    const hosts = (object.spec?.hosts ?? []).slice(0, MOST_COMPARED);
    const named = gatewaysNamed(object).flatMap(
      ({ name, namespace }) => lookup("named").find(({ metadata }) => metadata.name === name && metadata.namespace === namespace) ?? [],
    );
    const isServed = (host: string, gateway: Gateway) => servedBy(gateway).some((served) => serves(served, host, { gateway, object }));
    const remedy = "add the host to a server of the Gateway, or correct it";
    // A host of another gateway, or of the mesh, is no mistake; a gateway for none of the hosts is one.
    const isForOthers = (host: string) =>
      object.spec?.gateways?.includes(MESH) === true || named.some((gateway) => isServed(host, gateway));
    return named.flatMap((gateway): readonly RuleFinding[] => {
      const isForSome = hosts.some((host) => isServed(host, gateway));
      return hosts.flatMap((host, i): readonly RuleFinding[] => {
        if (isServed(host, gateway) || (isForSome && isForOthers(host))) return [];
        const message = `${formatRef(refOf(gateway))} does not serve ${host} for namespace ${object.metadata.namespace}, only ${servedBy(gateway).slice(0, SHOWN).join(", ") || "nothing"}`;
        return [{ field: `spec.hosts[${i}]`, message, remedy }];
      });
    });
  },
});

function servedBy({ spec }: Gateway): readonly string[] {
  return (spec?.servers ?? []).flatMap(({ hosts = [] }) => hosts).slice(0, MOST_SERVED);
}

const MOST_SERVED = 1_000;
const SHOWN = 10;

/** `host` of a VirtualService, `served` of a Gateway: perhaps after a namespace, perhaps with a wildcard. */
function serves(
  served: string,
  host: string,
  { gateway, object }: { readonly gateway: Gateway; readonly object: VirtualService },
): boolean {
  const { namespace, name } = hostAt(served, gateway);
  if (namespace !== "*" && namespace !== object.metadata.namespace) return false;
  if (name === "*" || name === host) return true;
  const [short, long] = name.startsWith("*") ? [name, host] : [host, name];
  return short.startsWith("*") && long.endsWith(short.slice(1));
}

const withSelector: Index<Gateway> = (gateway) => (Object.keys(gateway.spec?.selector ?? {}).length === 0 ? [] : byObjectCluster(gateway));
const selectedOf = (gateway: Gateway, objects: readonly (Deployment | DaemonSet)[]) =>
  objects.filter(({ spec }) => matchesLabels(gateway.spec?.selector, spec?.template?.metadata?.labels));
const byTemplateLabel: Index<Deployment | DaemonSet> = (object) =>
  Object.entries(object.spec?.template?.metadata?.labels ?? {}).map(
    ([key, value]) => `${key}=${value}@${object.metadata.clusterName ?? ""}`,
  );
const firstSelectorLabel: Index<Gateway> = ({ spec, metadata }) =>
  Object.entries(spec?.selector ?? {})
    .slice(0, 1)
    .map(([key, value]) => `${key}=${value}@${metadata.clusterName ?? ""}`);

// Istio's charts label the pods of gateways by it.
const GATEWAY_LABEL = "istio";
// Of istiod's own pods.
const PILOT = "pilot";
const gatewayLabelOf = ({ spec }: Deployment | DaemonSet) => {
  const label = spec?.template?.metadata?.labels?.[GATEWAY_LABEL];
  return label === PILOT ? undefined : label;
};
const withGatewayLabel: Index<Deployment | DaemonSet> = (object) => (gatewayLabelOf(object) === undefined ? [] : byObjectCluster(object));

/** ING1002. */
export const gatewayWithoutProxy = defineRule({
  code: "ING1002",
  of: Gateway,
  reads: {
    deployments: lookUp(Deployment, { key: firstSelectorLabel, index: byTemplateLabel }),
    daemonSets: lookUp(DaemonSet, { key: firstSelectorLabel, index: byTemplateLabel }),
    gatewayDeployments: lookUp(Deployment, { key: withSelector, index: withGatewayLabel }),
    gatewayDaemonSets: lookUp(DaemonSet, { key: withSelector, index: withGatewayLabel }),
  },
  *find(gateway, { lookup }) {
    const { selector = {} } = gateway.spec ?? {};
    const known = [...lookup("gatewayDeployments"), ...lookup("gatewayDaemonSets")];
    // Where no gateway of the cluster is known, as in files without them, none is missing.
    if (Object.keys(selector).length === 0 || known.length === 0) return;
    if (selectedOf(gateway, [...lookup("deployments"), ...lookup("daemonSets")]).length > 0) return;
    const labels = Object.entries(selector).map(([key, value]) => `${key}: ${value}`);
    const wanted = selector[GATEWAY_LABEL];
    const gateways = known.flatMap((one) => gatewayLabelOf(one) ?? []);
    const near = wanted === undefined ? undefined : nearestName(wanted, new Set(gateways.filter((name) => name !== wanted)));
    yield {
      field: "spec.selector",
      ...(near === undefined ? {} : { nearMiss: `${GATEWAY_LABEL}: ${near}` }),
      message: `no Deployment or DaemonSet has pods with ${labels.join(", ")}, so no gateway opens these ports`,
      remedy: "correct the labels, or install a gateway with them",
    };
  },
});

const byServiceSelectorLabel: Index<Service> = (object) =>
  Object.entries(object.spec?.selector ?? {}).map(([key, value]) => `${key}=${value}@${object.metadata.clusterName ?? ""}`);

/** ING1005. */
export const gatewayPortClosed = defineRule({
  code: "ING1005",
  of: Gateway,
  reads: { services: lookUp(Service, { key: firstSelectorLabel, index: byServiceSelectorLabel }) },
  find(gateway, { lookup }) {
    const { selector = {}, servers = [] } = gateway.spec ?? {};
    const services = lookup("services").filter(({ spec }) => matchesLabels(selector, spec?.selector));
    if (services.length === 0) return [];
    const ports = services.flatMap(({ spec }) => spec?.ports ?? []);
    return servers.flatMap(({ port }, i): readonly RuleFinding[] => {
      const number = port?.number;
      if (number === undefined || ports.some((open) => open.port === number || open.targetPort === number)) return [];
      const names = services.map((service) => formatRef(refOf(service)));
      const message = `${number} is not a port of ${names.join(", ")}, so nobody reaches it from outside`;
      return [{ field: `spec.servers[${i}].port.number`, message, remedy: "add the port to the Service, or correct it" }];
    });
  },
});

const bySelector: Index<Gateway> = (gateway) => [
  JSON.stringify([Object.entries(gateway.spec?.selector ?? {}).sort(), gateway.metadata.clusterName ?? ""]),
];

/** ING1001. */
export const gatewaysCollide = defineRule({
  code: "ING1001",
  of: Gateway,
  reads: { others: lookUp(Gateway, { key: bySelector, index: bySelector }) },
  find(gateway, { lookup }) {
    // By port and host: Gateways may have thousands of hosts.
    const taken = new Map<string, Taken[]>();
    for (const other of lookup("others")) {
      if (orderOf(other) >= orderOf(gateway)) continue;
      for (const server of other.spec?.servers ?? []) {
        for (const host of server.hosts ?? []) {
          const { name, namespace } = hostAt(host, other);
          const key = `${server.port?.number} ${name}`;
          const list = taken.get(key) ?? [];
          taken.set(key, list);
          if (list.length < MOST_COMPARED) list.push({ gateway: other, namespace, isTls: isTls(server) });
        }
      }
    }
    return (gateway.spec?.servers ?? []).flatMap((server, i): readonly RuleFinding[] =>
      (server.hosts ?? []).flatMap((host, j): readonly RuleFinding[] => {
        const { name, namespace } = hostAt(host, gateway);
        const others = taken.get(`${server.port?.number} ${name}`) ?? [];
        // One certificate is chosen for a name; requests without TLS go to the VirtualServices of each Gateway.
        const other = others.find((one) => one.isTls || isTls(server) || one.namespace === namespace);
        if (other === undefined) return [];
        const message = `${host} on port ${server.port?.number} is served by ${formatRef(refOf(other.gateway))} as well, on the same pods`;
        return [{ field: `spec.servers[${i}].hosts[${j}]`, message, remedy: "merge the Gateways, or choose different hosts" }];
      }),
    );
  },
});

interface Taken {
  readonly gateway: Gateway;
  readonly namespace: string;
  readonly isTls: boolean;
}

// More Gateways of one host than anybody could merge.
const MOST_COMPARED = 100;

type Server = NonNullable<NonNullable<Gateway["spec"]>["servers"]>[number];
const isTls = ({ tls, port }: Server) => tls !== undefined || port?.protocol === "HTTPS" || port?.protocol === "TLS";

/** A host of a Gateway, and the namespace of the VirtualServices that may take it: `*` is every one. */
function hostAt(host: string, { metadata }: Gateway): { readonly namespace: string; readonly name: string } {
  const slash = host.indexOf("/");
  const namespace = slash < 0 ? "*" : host.slice(0, slash);
  return { namespace: namespace === "." ? (metadata.namespace ?? "") : namespace, name: host.slice(slash + 1) };
}

function orderOf({ metadata: { name, namespace = "" } }: Resource): string {
  return `${namespace}/${name}`;
}

/** BP0002. */
export const gatewayHostOfAnybody = defineRule({
  code: "BP0002",
  of: Gateway,
  reads: {},
  find: ({ spec }) =>
    (spec?.servers ?? []).flatMap(({ hosts = [], tls }, i) =>
      hosts.flatMap((host, j): readonly RuleFinding[] =>
        // What passes unopened goes by server name, and takes no VirtualService.
        host.includes("/") || tls?.mode === "AUTO_PASSTHROUGH"
          ? []
          : [
              {
                field: `spec.servers[${i}].hosts[${j}]`,
                message: `${host} may be taken by VirtualServices of every namespace`,
                remedy: `write NAMESPACE/${host}, or ./${host} for the namespace of the Gateway`,
              },
            ],
      ),
    ),
});
