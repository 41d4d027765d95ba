import {
  type Deployment,
  type KubernetesCluster,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  type WebhookOfConfiguration,
} from "@isthmus/api";
import { discoveredName, type Resource, type Snapshot } from "@isthmus/core";
import { INFRASTRUCTURE_NAMESPACES } from "../policy/infrastructure.ts";
import { namespaceLocationOf } from "../policy/podIndexes.ts";
import { type AgeSource, ageOf, compareAges, precedence } from "../policy/precedence.ts";

/** Where in one cluster control planes, Cilium and gateways count. */
export interface Infrastructure {
  /**
   * In order: those that webhooks of meshes vouch for, and those that the registration of the cluster names, beside the ones that count anywhere. Undefined: nothing vouches for
   * anything, as in files, or in what agents before webhooks were watched send. Unknown is not empty: there all namespaces count.
   */
  readonly namespaces: readonly string[] | undefined;
}

/** Either kind of object by which Services are asked about what users create. */
export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

/** What may vouch for namespaces of a cluster. */
export interface Vouching {
  readonly webhooks: readonly WebhookConfiguration[];
  readonly registration: KubernetesCluster | undefined;
}

/** What is known of the infrastructure of a cluster. */
export function infrastructureOf({ webhooks, registration }: Vouching): Infrastructure {
  const ofMeshes = webhooks.flatMap(({ webhooks: all = [] }) => all.filter(isOfMesh));
  const named = registration?.spec?.systemNamespaces ?? [];
  if (ofMeshes.length === 0 && named.length === 0) return { namespaces: undefined };
  const vouched = ofMeshes.map(({ clientConfig }) => clientConfig?.service?.namespace ?? "");
  return { namespaces: [...new Set([...vouched, ...named])].filter((namespace) => namespace !== "").sort() };
}

/** The same of the one cluster that an agent sees, which does not see how it is registered. */
export function infrastructureSeen(cluster: Snapshot): Infrastructure {
  const webhooks = [...cluster.of(MutatingWebhookConfiguration), ...cluster.of(ValidatingWebhookConfiguration)];
  return infrastructureOf({ webhooks, registration: undefined });
}

// Of each revision of Istio, those of its charts istiod and base. Source: istio.io/istio, manifests/charts/istio-control/istio-discovery/templates/mutatingwebhook.yaml.
const ISTIO_DOMAIN = ".istio.io";
const ISTIO_SERVICE = "istiod";
// Source: github.com/openservicemesh/osm, charts/osm/templates.
const OSM_SERVICES: ReadonlySet<string> = new Set(["osm-injector", "osm-validator"]);

/** Whether a webhook is the injector or the validator of a mesh. */
function isOfMesh({ name = "", clientConfig }: WebhookOfConfiguration): boolean {
  const service = clientConfig?.service?.name ?? "";
  return name.endsWith(ISTIO_DOMAIN) || service === ISTIO_SERVICE || service.startsWith(`${ISTIO_SERVICE}-`) || OSM_SERVICES.has(service);
}

/** Whether a namespace may hold infrastructure of its cluster: where it may not, what looks like some is a tenant's. */
export function mayHoldInfrastructure(namespace: string, infrastructure: Infrastructure): boolean {
  return infrastructure.namespaces === undefined || isVouchedFor(namespace, infrastructure);
}

function isVouchedFor(namespace: string, { namespaces = [] }: Infrastructure): boolean {
  return INFRASTRUCTURE_NAMESPACES.has(namespace) || namespaces.includes(namespace);
}

/** What is in namespaces of infrastructure; all where there is nothing, and nothing vouches for any namespace. */
export function inInfrastructure<R extends Resource>(all: readonly R[], infrastructure: Infrastructure): readonly R[] {
  const vouched = all.filter(({ metadata }) => isVouchedFor(metadata.namespace ?? "", infrastructure));
  return vouched.length === 0 && infrastructure.namespaces === undefined ? all : vouched;
}

/** What decides between control planes of one cluster. */
export interface ControlPlaneOrder extends Infrastructure {
  readonly ages: AgeSource;
  /** `namespace/name` of control planes' namespaces and Meshes that are known already. The name alone could be that of another: it is put together with dashes. */
  readonly known: ReadonlySet<string>;
}

/**
 * The control planes of a cluster that count, those first that others yield to: what is vouched for, then what was there before. What is not vouched for keeps the Mesh that it had, as
 * long as nothing that is vouched for is older.
 */
export function controlPlanesThatCount(
  planes: readonly Deployment[],
  { ages, known, ...infrastructure }: ControlPlaneOrder,
): readonly Deployment[] {
  const isOlder = precedence(ages);
  const [vouched, others] = partition([...planes].sort(isOlder), ({ metadata }) => isVouchedFor(metadata.namespace ?? "", infrastructure));
  if (infrastructure.namespaces === undefined) return [...vouched, ...others];
  const [eldest] = vouched;
  const held = others.filter(
    (plane) => known.has(`${plane.metadata.namespace ?? ""}/${meshNameOf(plane)}`) && (eldest === undefined || isOlder(plane, eldest) < 0),
  );
  return [...vouched, ...held];
}

/** Those that are first: of DaemonSets of Cilium, of which a cluster has one. `before`: the namespace where it was. */
export function firstThatCounts<R extends Resource>(
  all: readonly R[],
  before: string | undefined,
  { ages, ...infrastructure }: Omit<ControlPlaneOrder, "known">,
): R | undefined {
  const isOlder = precedence(ages);
  const sorted = [...all].sort(isOlder);
  const namespaceOf = (one: R) => one.metadata.namespace ?? "";
  return (
    sorted.find((one) => isVouchedFor(namespaceOf(one), infrastructure)) ??
    sorted.find((one) => namespaceOf(one) === before) ??
    (infrastructure.namespaces === undefined ? sorted[0] : undefined)
  );
}

/** Whether one is younger than the other by more than its name. */
export function isYounger(one: Resource, other: Resource, ages: AgeSource): boolean {
  return compareAges(ageOf(other.metadata, ages), ageOf(one.metadata, ages)) < 0;
}

/** The name of the Mesh of a control plane. */
export function meshNameOf(deployment: Deployment): string {
  return discoveredName({ name: deployment.metadata.name, ...namespaceLocationOf(deployment) });
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}
