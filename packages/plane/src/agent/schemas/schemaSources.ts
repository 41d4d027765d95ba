import { ApiSchemaDiscovery, EndpointSlice, isServedFrom, nanosecondsOf, type ServedBy, Service } from "@isthmus/api";
import type { Index, Resource, Snapshot } from "@isthmus/core";
import type { Scope } from "@isthmus/translators";
import type { ReportedEndpoints } from "../servicePods.ts";
import { SchemaProblem } from "./openApiDocument.ts";
import { SCHEMA_CA, type SchemaAttempts, type SchemaTarget } from "./schemaFetch.ts";
import { type CaRef, caRefIn } from "./schemaRoots.ts";
import { readableAddress, serviceNamed } from "./schemaTarget.ts";

/** The annotation of a Service that says where its OpenAPI document is: a path, or an http URL of the Service. Source: Gloo Platform 2.x. */
const SCRAPE_SOURCE = "gloo.solo.io/scrape-openapi-source";
const SCRAPE_ATTEMPTS = "gloo.solo.io/scrape-openapi-pull-attempts";
const SCRAPE_DELAY = "gloo.solo.io/scrape-openapi-retry-delay";
const SCRAPE_BACKOFF = "gloo.solo.io/scrape-openapi-use-backoff";

/** Where a document is read, with a text for what decides about it. */
export interface SourceTarget extends Omit<SchemaTarget, "roots"> {
  readonly state: string;
  /** Undefined: the CAs of the system count. */
  readonly ca: CaRef | undefined;
  /** What the API server is asked about before each call. */
  readonly reported: ReportedEndpoints;
}

/** One document that somebody asks for. */
export interface SchemaSource {
  /** The object that asks for it, and owns the ApiDoc. */
  readonly owner: Service | ApiSchemaDiscovery;
  readonly namespace: string;
  /** Of the ApiDoc. */
  readonly name: string;
  readonly servedBy: readonly ServedBy[];
  readonly tries: SchemaAttempts;
  /** Where it is read, and what it was known to be served by: another text is a reason to read it again. */
  readonly target: SourceTarget | SchemaProblem;
}

/**
 * What the annotated Services and the ApiSchemaDiscoveries of a cluster ask for, in namespaces of `scope`: those of Services first. Whatever
 * is asked for, the agent calls Services of the namespace of the one who asks, and nothing else. A hundred for each namespace, a thousand in all:
 * the rest has problem TooMany.
 */
export function schemaSources(cluster: Snapshot, clusterName: string, scope: Scope): readonly SchemaSource[] {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  let count = 0;

  function bounded(source: SchemaSource): SchemaSource {
    const { namespace, name } = source;
    const key = `${namespace}/${name}`;
    if (taken.has(key)) return { ...source, target: sameName(name) };
    taken.add(key);
    const ofNamespace = (counts.get(namespace) ?? 0) + 1;
    if (ofNamespace > MOST_OF_NAMESPACE || count >= MOST) return { ...source, target: TOO_MANY };
    counts.set(namespace, ofNamespace);
    count++;
    return source;
  }

  const ofServices = cluster
    .of(Service)
    .where(bySource, ANNOTATED)
    .map((service) => sourceOfService(cluster, service, clusterName));
  const ofDiscoveries = [...cluster.of(ApiSchemaDiscovery)].map((one) => sourceOfDiscovery(cluster, one, clusterName));
  return [...ofServices, ...ofDiscoveries].filter(({ namespace }) => scope(namespace)).map(bounded);
}

function sourceOfService(cluster: Snapshot, service: Service, clusterName: string): SchemaSource {
  const { name, namespace = "", annotations = {} } = service.metadata;
  return {
    owner: service,
    namespace,
    name: `${name}-service`,
    servedBy: [servedByService(service, clusterName)],
    tries: attemptsOf({
      attempts: annotations[SCRAPE_ATTEMPTS],
      delay: annotations[SCRAPE_DELAY],
      backsOff: annotations[SCRAPE_BACKOFF] !== "false",
    }),
    target: problemOr(() => targetOf(cluster, service, { source: annotations[SCRAPE_SOURCE] ?? "", ca: annotations[SCHEMA_CA] })),
  };
}

function sourceOfDiscovery(cluster: Snapshot, discovery: ApiSchemaDiscovery, clusterName: string): SchemaSource {
  const { name, namespace = "" } = discovery.metadata;
  const { url = "", retryDelay, pullAttempts, useBackoff = true } = discovery.spec?.openapi?.fetchEndpoint ?? {};
  const given = discovery.spec?.servedBy ?? [];
  const service = serviceNamed(cluster, { url, namespace, clusterName });
  const foreign = given.some((one) => !isServedFrom(one, { namespace, clusterName }));
  return {
    owner: discovery,
    namespace,
    name,
    servedBy: foreign ? [] : given.length > 0 || service instanceof SchemaProblem ? given : [servedByService(service, clusterName)],
    tries: attemptsOf({ attempts: pullAttempts, delay: retryDelay, backsOff: useBackoff }),
    target: foreign
      ? new SchemaProblem("Refused", "spec.servedBy names a Service of another namespace or cluster: name Services of this namespace")
      : service instanceof SchemaProblem
        ? service
        : problemOr(() => targetOf(cluster, service, { source: url, ca: discovery.metadata.annotations?.[SCHEMA_CA] })),
  };
}

function servedByService({ metadata }: Service, cluster: string): ServedBy {
  return { destinationSelector: { selector: { name: metadata.name, namespace: metadata.namespace ?? "", cluster } } };
}

/** Throws SchemaProblem. */
function targetOf(
  cluster: Snapshot,
  service: Service,
  { source, ca }: { readonly source: string; readonly ca: string | undefined },
): SourceTarget {
  const slices = cluster.of(EndpointSlice).where(byService, `${service.metadata.namespace}/${service.metadata.name}`);
  const target = readableAddress(service, slices, source);
  const named = caRefIn(ca, { url: target.url, namespace: service.metadata.namespace ?? "" });
  const ready = slices.flatMap(({ endpoints = [] }) => endpoints.filter(({ conditions }) => conditions?.ready !== false));
  if (ready.length === 0)
    throw new SchemaProblem("NotReady", `no pod of Service ${service.metadata.name} is ready: the document is read as soon as one is`);
  const names = ready.flatMap(({ addresses = [], targetRef }) => targetRef?.name ?? addresses).sort();
  return {
    ...target,
    ca: named,
    reported: {
      service: service.metadata.name,
      namespace: service.metadata.namespace ?? "",
      selector: service.spec?.selector ?? {},
      addresses: ready.flatMap(({ addresses = [] }) => addresses),
    },
    state: [target.url, target.address, service.metadata.uid ?? "", ca ?? "", names.length, ...names.slice(0, MOST_NAMES)].join(" "),
  };
}

function problemOr<T>(make: () => T): T | SchemaProblem {
  try {
    return make();
  } catch (error) {
    if (error instanceof SchemaProblem) return error;
    throw error;
  }
}

function attemptsOf(asked: {
  readonly attempts: string | number | undefined;
  readonly delay: string | undefined;
  readonly backsOff: boolean;
}): SchemaAttempts {
  const attempts = Number(asked.attempts ?? DEFAULT_ATTEMPTS);
  const delayMs = (nanosecondsOf(asked.delay ?? "") ?? DEFAULT_DELAY_MS * 1e6) / 1e6;
  return {
    attempts: Number.isInteger(attempts) ? Math.min(Math.max(attempts, 1), MOST_ATTEMPTS) : DEFAULT_ATTEMPTS,
    delayMs: Math.min(Math.max(delayMs, LEAST_DELAY_MS), MOST_DELAY_MS),
    backsOff: asked.backsOff,
  };
}

function sameName(name: string): SchemaProblem {
  return new SchemaProblem("NotOurs", `ApiDoc ${name} is that of an annotated Service already: rename this object`);
}

const TOO_MANY_TEXT = "more than 100 schemas of a namespace, or 1,000 of a cluster, are not read: remove some that nobody needs";
const TOO_MANY = new SchemaProblem("TooMany", TOO_MANY_TEXT);
const MOST_OF_NAMESPACE = 100;
const MOST = 1_000;
const MOST_NAMES = 20;
const DEFAULT_ATTEMPTS = 3;
const MOST_ATTEMPTS = 10;
const DEFAULT_DELAY_MS = 5_000;
const LEAST_DELAY_MS = 1_000;
const MOST_DELAY_MS = 60_000;

const ANNOTATED = "annotated";
const bySource: Index<Service> = ({ metadata }) => (metadata.annotations?.[SCRAPE_SOURCE] === undefined ? [] : [ANNOTATED]);
const byService: Index<Resource> = ({ metadata }) => {
  const name = metadata.labels?.["kubernetes.io/service-name"];
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
};
