import { type EndpointSlice, type KubernetesServicePort, Service } from "@isthmus/api";
import type { Snapshot } from "@isthmus/core";
import { SchemaProblem } from "./openApiDocument.ts";
import type { SchemaTarget } from "./schemaFetch.ts";

/**
 * The Service whose name a URL has as its host, of this namespace: those who ask here may have no right to call others. `NAME`, `NAME.NAMESPACE`
 * and `NAME.NAMESPACE.svc` with any domain of the cluster are names of it.
 */
export function serviceNamed(
  cluster: Snapshot,
  { url, namespace, clusterName }: { readonly url: string; readonly namespace: string; readonly clusterName: string },
): Service | SchemaProblem {
  const parsed = httpUrl(url);
  if (parsed instanceof SchemaProblem) return parsed;
  const [name = "", ...rest] = parsed.hostname.split(".");
  if (rest.length > 0 && rest[0] !== namespace) return otherHost("a Service of this namespace");
  const service = cluster.of(Service).get({ name, namespace, clusterName });
  return service ?? new SchemaProblem("Refused", `there is no Service with the host of the URL in namespace ${namespace}: correct the URL`);
}

/**
 * What is called for a source, which is a path or an http or https URL with a name and a port of the Service: the cluster IP of the Service, or an
 * address of a ready endpoint where it has none. No name is looked up. Throws SchemaProblem for anything else, and for a Service whose
 * endpoints Kubernetes does not choose among the pods of its namespace.
 */
export function readableAddress(service: Service, slices: readonly EndpointSlice[], source: string): SchemaTarget {
  const { name, namespace = "" } = service.metadata;
  const { type, selector = {}, ports = [], clusterIP = "" } = service.spec ?? {};
  const open = ports.filter(({ protocol = "TCP", port }) => protocol === "TCP" && port !== undefined);
  const [first] = open;
  if (type === "ExternalName" || Object.keys(selector).length === 0)
    throw new SchemaProblem("Refused", `Service ${name} has no selector: only Services that select pods of their namespace are called`);
  if (first?.port === undefined) throw new SchemaProblem("Refused", `Service ${name} has no TCP port: add the port of the document`);
  const isPath = source.startsWith("/") && !source.startsWith("//");
  const url = httpUrl(isPath ? `${isSecured(first) ? "https" : "http"}://${name}.${namespace}.svc:${first.port}${source}` : source);
  if (url instanceof SchemaProblem) throw url;
  if (!isNameOf(url.hostname, name, namespace)) throw otherHost(`Service ${name} itself, or a path such as /openapi.json`);
  const number = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const port = open.find((one) => one.port === number);
  if (port === undefined) throw new SchemaProblem("Refused", `Service ${name} has no TCP port ${number}: name one of its ports in the URL`);
  const ready = slices.flatMap(({ endpoints = [] }) => endpoints.filter(({ conditions }) => conditions?.ready !== false));
  // The address of the Service leads to each of them, whatever its selector says: some may be written by hand.
  if (ready.some(({ targetRef, addresses = [] }) => targetRef?.kind !== "Pod" || addresses.some((one) => isSpecial(joined(one, number)))))
    throw new SchemaProblem(
      "Refused",
      `Service ${name} has an EndpointSlice with an address of no pod, or one that is not called: delete the EndpointSlice`,
    );
  const address = clusterIP === "" || clusterIP === "None" ? endpointAddress(slices, port) : joined(clusterIP, number);
  if (address === undefined)
    throw new SchemaProblem("NotReady", `no pod of Service ${name} is ready: the document is read as soon as one is`);
  if (isSpecial(address))
    throw new SchemaProblem("Refused", `Service ${name} leads to a loopback, link-local or multicast address, which is not called`);
  return { url: url.href, address };
}

function httpUrl(text: string): URL | SchemaProblem {
  const url = text.length <= MOST_URL && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password !== "")
    return new SchemaProblem(
      "Refused",
      "the source is neither a path that begins with / nor an http or https URL without a user: write it like http://reviews:9080/openapi.json",
    );
  return url;
}

/** Whether a port is said to take https: by its appProtocol, else by its name as Istio reads it. Source: istio.io, Protocol Selection. */
function isSecured({ name = "", appProtocol }: KubernetesServicePort): boolean {
  return appProtocol === undefined ? /^https(-|$)/.test(name) : appProtocol.toLowerCase() === "https";
}

function isNameOf(host: string, name: string, namespace: string): boolean {
  const [first, second, third] = host.split(".");
  return first === name && (second === undefined || second === namespace) && (third === undefined || third === "svc");
}

function otherHost(right: string): SchemaProblem {
  return new SchemaProblem("Refused", `the URL has another host, which is not called: name ${right}`);
}

/** The first by its text, so that the same one is called each time. */
function endpointAddress(slices: readonly EndpointSlice[], { name }: KubernetesServicePort): string | undefined {
  const found = slices.flatMap(({ endpoints = [], ports = [] }) => {
    const port = ports.find((one) => (one.name ?? "") === (name ?? ""))?.port;
    const ready = endpoints.filter(({ conditions, targetRef }) => conditions?.ready !== false && targetRef?.kind === "Pod");
    return port === undefined ? [] : ready.flatMap(({ addresses = [] }) => addresses.map((address) => joined(address, port)));
  });
  return found.sort()[0];
}

function joined(address: string, port: number): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

/**
 * Addresses that mean this machine, its neighbours (cloud providers answer with credentials there), or many. What is no address is one of them, and
 * what another program could read as another one: with leading zeros, which are octal to some.
 */
function isSpecial(address: string): boolean {
  const host = URL.canParse(`http://${address}`) ? new URL(`http://${address}`).hostname : "";
  if (IPV4.test(host)) {
    if (!address.startsWith(`${host}:`) || PROVIDERS.has(host)) return true;
    const [first, second, third] = host.split(".").map(Number) as [number, number, number];
    return (
      first === 0 || first === 127 || first >= 224 || (first === 169 && second === 254) || (first === 192 && second === 0 && third === 0)
    );
  }
  // Global unicast 2000::/3 without 6to4, and unique local fc00::/7 alone; fd00:ec2::254 is where one cloud provider answers.
  return !/^\[(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}):[0-9a-f:]*\]$/.test(host) || /^\[(?:fd00:ec2|2002):/.test(host);
}

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
/** Outside of the link-local range, but answered by a cloud provider. */
const PROVIDERS: ReadonlySet<string> = new Set(["100.100.100.200", "168.63.129.16"]);

const MOST_URL = 2_048;
