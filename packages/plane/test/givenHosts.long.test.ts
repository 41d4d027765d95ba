import { Settings, VirtualDestination, VirtualMesh } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import { sampled } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { exampleFor, fieldsOf, objectSaying, USER_KINDS } from "./schemaExamples.ts";
import { type SchemaField, type SchemaNode, withField } from "./schemaFields.ts";
import { translatedBesideFleet } from "./schemaFleet.ts";

// As pods of its own namespace's neighbours call it. Nothing is below it, so a suffix of federated hosts takes nothing by it.
const SHORT = "istiod.istio-system";
// Nobody may give these: they are of Services, or would be of them, or are addresses.
const OF_OTHERS = [
  "istiod.istio-system.svc.cluster.local",
  "istiod.istio-system.svc",
  SHORT,
  "svc.cluster.local",
  "*.svc.cluster.local",
  "pay.payments.svc.west.global",
  "pay.payments.failover.global",
  "10.96.0.1",
];
const OF_NOBODY = "api.example.com";

/** Every field of every kind that users write by which a host is given. A field that is added is judged by `givenHosts.ts`, or its sibling for suffixes, and named here. */
const GIVING = [`${VirtualMesh.kind} spec.federation.hostnameSuffix`, `${VirtualDestination.kind} spec.hostname`];

const ISTIOD: AnyResource = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "istiod", namespace: "istio-system", clusterName: "east" },
  spec: { ports: [{ name: "https", port: 443 }] },
};

describe.each(USER_KINDS.map((kind) => [kind.kind, kind] as const))("%s", (_, kind) => {
  const fields = fieldsOf(kind).filter(({ schema }) => isText(schema));

  test("gives no host but by the fields that are judged", () => {
    const giving = fields.filter((field) => hostsWith(kind, field, OF_NOBODY).some((host) => isOf(host, OF_NOBODY)));
    expect(giving.map(({ path }) => `${kind.kind} ${path}`)).toEqual(GIVING.filter((field) => field.startsWith(`${kind.kind} `)));
  });

  test.each(sampled(OF_OTHERS))("gives %s by no field", (host) => {
    const taken = fields.filter((field) => hostsWith(kind, field, host).some((one) => isOf(one, host)));
    expect(taken.map(({ path }) => path)).toEqual([]);
  });
});

test("limited to its namespace, a VirtualDestination gives hosts of that alone, in whichever form", () => {
  const own = { ...objectSaying(Settings, { "spec.policies": { namespaces: "OWN", hostSuffixes: { shop: ["shop.example"] } } }) };
  const { given, beside } = exampleFor(VirtualDestination, "spec.hostname");
  const hosts = [OF_NOBODY, "cart.other.global", "cart.shop.global", "cart.shop.example", "shop.example", "myshop.example"];
  const written = hosts.filter((hostname) => {
    const { spec, ...object } = objectSaying(VirtualDestination, { ...given, "spec.hostname": hostname });
    const inShop = { ...object, metadata: { name: "example", namespace: "shop", generation: 2 } };
    const status = { observedGeneration: 1, lastAccepted: { generation: 1, spec } };
    const forms = [
      { ...inShop, spec },
      { ...inShop, spec: { ...(spec as object), port: {} }, status },
    ];
    const counts = forms.map((form) => hostsOf([own, ...beside, form]).filter((host) => host === hostname).length > 0);
    expect(counts[0], hostname).toBe(counts[1]);
    return counts[0];
  });
  expect(written).toEqual(["cart.shop.example", "shop.example"]);
});

function isText(schema: SchemaNode): boolean {
  return (
    schema.unsupported === undefined &&
    ((schema.type === "string" && schema.enum === undefined) || (schema.type === "array" && schema.items?.type === "string"))
  );
}

/** Which hosts are written when a field says one. */
function hostsWith(kind: Kind, { path, schema }: SchemaField, host: string): readonly string[] {
  const { given, beside } = exampleFor(kind, path);
  const object = withField(objectSaying(kind, given), path, schema.type === "array" ? [host] : host);
  return hostsOf([...beside, ISTIOD, object]);
}

/** The hosts of everything that gives a name: to clients, or to gateways. What only leads to a host gives none. */
function hostsOf(objects: readonly AnyResource[]): readonly string[] {
  const { networking } = translatedBesideFleet(objects);
  return [...networking].flatMap(({ resource }) => {
    const { spec = {} } = resource as {
      readonly spec?: {
        readonly hosts?: readonly string[];
        readonly host?: string;
        readonly servers?: readonly { readonly hosts?: readonly string[] }[];
      };
    };
    return [
      ...(spec.hosts ?? []),
      ...(spec.host === undefined ? [] : [spec.host]),
      ...(spec.servers ?? []).flatMap(({ hosts = [] }) => hosts),
    ];
  });
}

function isOf(host: string, given: string): boolean {
  return host === given || (host === `*.${given}` && given !== SHORT);
}
