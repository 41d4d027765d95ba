import { Destination, Service, ServiceEntry, VirtualService } from "@isthmus/api";
import { type Index, keyOf } from "@isthmus/core";
import { defineRule, lookUp, type RuleFinding, type RuleReading } from "../rule.ts";
import {
  byEntryHost,
  byFederatedHost,
  byNameInCluster,
  byPlace,
  hostKey,
  isFederatedHost,
  isInCluster,
  isWithoutNamespace,
  itsRegistration,
  nearService,
  serviceKey,
  serviceOfHost,
} from "./places.ts";

interface Target {
  readonly path: string;
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly isMirror: boolean;
}

function targetsOf({ spec }: VirtualService): readonly Target[] {
  const mirrors = (spec?.http ?? []).flatMap(({ mirror: destination }, i) =>
    destination === undefined ? [] : [{ path: `spec.http[${i}].mirror`, destination, isMirror: true }],
  );
  const routed = (["http", "tls", "tcp"] as const).flatMap((protocol) =>
    (spec?.[protocol] ?? []).flatMap(({ route = [] }, i) =>
      route.map(({ destination }, j) => ({ path: `spec.${protocol}[${i}].route[${j}].destination`, destination, isMirror: false })),
    ),
  );
  return [...routed, ...mirrors].map(({ path, destination, isMirror }) => ({
    path,
    host: destination?.host,
    port: destination?.port?.number,
    isMirror,
  }));
}

const servicesNamed: Index<VirtualService> = (object) => [
  ...new Set(
    targetsOf(object).flatMap(({ host }) => {
      const service = serviceOfHost(host, object);
      return service === undefined ? [] : [serviceKey(service, object)];
    }),
  ),
];
const entriesNamed: Index<VirtualService> = (object) => [...new Set(targetsOf(object).map(({ host }) => hostKey(host, object)))];
const namespacesNamed: Index<VirtualService> = (object) => [
  ...new Set(
    targetsOf(object).flatMap(({ host }) => {
      const { namespace } = serviceOfHost(host, object) ?? {};
      return namespace === undefined ? [] : [`${namespace}/${object.metadata.clusterName ?? ""}`];
    }),
  ),
];
const namesakesNamed: Index<VirtualService> = (object) => [
  ...new Set(
    targetsOf(object).flatMap(({ host }) => {
      const { name } = serviceOfHost(host, object) ?? {};
      return name === undefined ? [] : [`${name}@${object.metadata.clusterName ?? ""}`];
    }),
  ),
];

const hostsNamed: Index<VirtualService> = (object) => [...new Set(targetsOf(object).flatMap(({ host }) => host ?? []))];

const reads = {
  federated: lookUp(Destination, { key: hostsNamed, index: byFederatedHost }),
  services: lookUp(Service, { key: servicesNamed }),
  entries: lookUp(ServiceEntry, { key: entriesNamed, index: byEntryHost }),
  neighbours: lookUp(Service, { key: namespacesNamed, index: byPlace }),
  namesakes: lookUp(Service, { key: namesakesNamed, index: byNameInCluster }),
  domains: itsRegistration,
};

/** Unknown is not missing: only where a Service of the namespace, or of the name, is known, are those of the namespace. */
function unknownHosts(object: VirtualService, { lookup }: RuleReading<typeof reads>, isMirror: boolean): readonly RuleFinding[] {
  const { clusterName = "" } = object.metadata;
  const known = new Set(lookup("services").map(({ metadata }) => keyOf({ namespace: "", ...metadata, clusterName })));
  const inEntries = new Set(lookup("entries").flatMap(byEntryHost));
  const federated = new Set(lookup("federated").flatMap(byFederatedHost));
  const [inNamespace, namesakes] = [lookup("neighbours"), lookup("namesakes")];
  return targetsOf(object).flatMap((target): readonly RuleFinding[] => {
    const { host = "" } = target;
    if (target.isMirror !== isMirror || federated.has(host)) return [];
    const service = serviceOfHost(host, object);
    if (inEntries.has(hostKey(host, object))) return [];
    if (isFederatedHost(host)) {
      const message = `no service is federated as ${host}`;
      return [{ field: `${target.path}.host`, message, remedy: "correct the host, or federate the service in a VirtualMesh" }];
    }
    if (service === undefined || inNamespace.length + namesakes.length === 0) return [];
    // Of another cluster, or of a namespace that is not known yet, nothing is known.
    if (!isInCluster(host, lookup("domains")) || service.namespace === "") return [];
    if (namesakes.some((one) => one.metadata.name === service.name && isWithoutNamespace(one))) return [];
    if (known.has(serviceKey(service, object))) return [];
    const message = `Service ${service.namespace}/${service.name} does not exist${clusterName === "" ? "" : ` in ${clusterName}`}`;
    const nearMiss = nearService(service, { inNamespace, namesakes });
    return [{ field: `${target.path}.host`, message, remedy: "correct the host, or create the Service", nearMiss }];
  });
}

/** RTE1001 of Istio objects of users. */
export const routeHostUnknown = defineRule({
  code: "RTE1001",
  of: VirtualService,
  reads,
  find: (object, reading) => unknownHosts(object, reading, false),
});

/** RTE1015 of Istio objects of users. */
export const mirrorHostUnknown = defineRule({
  code: "RTE1015",
  of: VirtualService,
  reads,
  find: (object, reading) => unknownHosts(object, reading, true),
});

/** RTE1003 of Istio objects of users. */
export const routePortUnknown = defineRule({
  code: "RTE1003",
  of: VirtualService,
  reads: { services: reads.services, domains: reads.domains },
  find: (object, { lookup }) => {
    // Sidecars take the port of the request. A gateway has none of the Service's, as a rule.
    const isOfGateways = (object.spec?.gateways ?? []).some((gateway) => gateway !== "mesh");
    return targetsOf(object).flatMap(({ path, host, port }): readonly RuleFinding[] => {
      const name = serviceOfHost(host, object);
      if (name === undefined || !isInCluster(host, lookup("domains")) || (port === undefined && !isOfGateways)) return [];
      const service = lookup("services").find(({ metadata }) => metadata.name === name.name && metadata.namespace === name.namespace);
      const ports = (service?.spec?.ports ?? []).flatMap(({ port: number }) => number ?? []);
      if (ports.length === 0 || (port === undefined ? ports.length === 1 : ports.includes(port))) return [];
      const field = `${path}.port.number`;
      const whose = `Service ${name.namespace}/${name.name}`;
      const message =
        port === undefined
          ? `is required, because ${whose} has ${ports.length} ports: ${ports.join(", ")}`
          : `${whose} has no port ${port}, only ${ports.join(", ")}`;
      return [{ field, message, remedy: `set one of the ports ${ports.join(", ")}` }];
    });
  },
});
