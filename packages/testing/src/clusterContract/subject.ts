import type { AnyResource, Kind, Resource } from "@isthmus/core";
import { type Cluster, ClusterError, type ClusterErrorCode } from "@isthmus/ports";
import { expect } from "vitest";

export interface ClusterUnderTest {
  readonly cluster: Cluster;
  stop(): Promise<void>;
}

/** A cluster and a namespace in it that nobody else uses. */
export interface Subject {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** A name that no other object of the run has. */
  name(): string;
}

/** Gives the subject of each test. */
export type Current = () => Subject;

/** Creates a namespace for one run, which is not deleted afterwards; `name` counts within it. Rejects with ClusterError. */
export async function subjectOf(cluster: Cluster): Promise<Subject> {
  const namespace = `contract-${Date.now().toString(36)}`;
  let count = 0;
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  return { cluster, namespace, name: () => `object-${++count}` };
}

/** A kind whose objects are taken as they come. */
function untyped(apiVersion: string, kind: string, plural: string, namespaced = true): Kind<AnyResource> {
  return { apiVersion, kind, plural, namespaced, versions: [apiVersion], parse: (input) => input as AnyResource };
}

export const ContractConfigMap = untyped("v1", "ConfigMap", "configmaps");
export const ContractNamespace = untyped("v1", "Namespace", "namespaces", false);
export const ContractPod = untyped("v1", "Pod", "pods");
/** A budget whose status only a test writes: no controller counts pods. */
export const ContractBudget = untyped("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");
const Service = untyped("v1", "Service", "services");
export const ContractDeployment = untyped("apps/v1", "Deployment", "deployments");
/** A kind that no API server knows. */
export const Unicorn = untyped("legends.isthmus.mesh/v1", "Unicorn", "unicorns");

export interface ObjectFields {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

function object(type: Kind, { namespace, name }: Subject, fields: ObjectFields): AnyResource {
  const { name: own, labels, ...rest } = fields;
  const metadata = { name: own ?? name(), namespace, ...(labels === undefined ? {} : { labels }) };
  return { apiVersion: type.apiVersion, kind: type.kind, metadata, ...rest };
}

/** A ConfigMap in the subject's namespace, by a new name unless `fields` has one; it is not created in the cluster. */
export function configMap(subject: Subject, data: Readonly<Record<string, string>>, fields: ObjectFields = {}): AnyResource {
  return object(ContractConfigMap, subject, { ...fields, data });
}

/** A Service in the subject's namespace, by a new name unless `fields` has one; it is not created in the cluster. */
export function service(subject: Subject, spec: Readonly<Record<string, unknown>>, fields: ObjectFields = {}): AnyResource {
  return object(Service, subject, { ...fields, spec });
}

/** A Deployment with one container; `container` and `spec` add to it. */
export function deployment(
  subject: Subject,
  { container = {}, spec = {}, ...fields }: ObjectFields & { readonly container?: object; readonly spec?: object } = {},
): AnyResource {
  const template = {
    metadata: { labels: { app: "web" } },
    spec: { containers: [{ name: "web", image: "example.com/web:1", ...container }] },
  };
  return object(ContractDeployment, subject, { ...fields, spec: { selector: { matchLabels: { app: "web" } }, template, ...spec } });
}

/** The object as it stands. */
export async function live({ cluster }: Subject, { apiVersion, kind, metadata }: Resource): Promise<AnyResource> {
  const type = [ContractConfigMap, ContractNamespace, ContractPod, Service, ContractDeployment].find(
    (known) => known.kind === kind && known.apiVersion === apiVersion,
  );
  const found = type && (await cluster.get(type, { name: metadata.name, namespace: metadata.namespace ?? "" }));
  if (found === undefined) throw new Error(`${kind} ${metadata.name} is not there`);
  return found;
}

/** A changed copy: `change` gives the fields that differ. */
export function changed(resource: AnyResource, change: Readonly<Record<string, unknown>>): AnyResource {
  return { ...resource, ...change };
}

/** An object's `spec`; empty where it has none. */
export function specOf(resource: AnyResource): Readonly<Record<string, unknown>> {
  return (resource["spec"] ?? {}) as Readonly<Record<string, unknown>>;
}

/** The `data` of a ConfigMap; empty where it has none. */
export function dataOf(resource: AnyResource): Readonly<Record<string, string>> {
  return (resource["data"] ?? {}) as Readonly<Record<string, string>>;
}

/** The containers of a Deployment's template. */
export function containersOf(resource: AnyResource): readonly Readonly<Record<string, unknown>>[] {
  const { template } = specOf(resource) as { template?: { spec?: { containers?: readonly Readonly<Record<string, unknown>>[] } } };
  return template?.spec?.containers ?? [];
}

/** The names of the managers that applied something, or updated it. */
export function managersOf(resource: AnyResource, operation: "Apply" | "Update"): readonly unknown[] {
  const entries = resource.metadata.managedFields ?? [];
  return entries.filter((entry) => entry["operation"] === operation).map((entry) => entry["manager"]);
}

/** The error of a call that must be refused with `code`. */
export async function rejectionOf(call: Promise<unknown>, code: ClusterErrorCode): Promise<ClusterError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ClusterError);
  expect(error).toMatchObject({ code });
  return error as ClusterError;
}
