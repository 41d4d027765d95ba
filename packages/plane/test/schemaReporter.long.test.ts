import { ApiDoc, ApiSchemaDiscovery, ConfigMap, EndpointSlice, Namespace, Pod, Service } from "@isthmus/api";
import { type AnyResource, keyOfResource } from "@isthmus/core";
import { ClusterError, type HttpClient, HttpError, type HttpRequest } from "@isthmus/ports";
import { simulatedCluster } from "@isthmus/simulator";
import { heldBy, MEBIBYTE } from "@isthmus/testing";
import { afterEach, describe, expect, it } from "vitest";
import { startSchemaReporter } from "../src/agent/schemas/schemaReporter.ts";
import { startStatusWriter } from "../src/apply/statusWriter.ts";
import { startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, meanwhile, quiet } from "./virtualTime.ts";

const KINDS = [ApiDoc, ApiSchemaDiscovery, ConfigMap, EndpointSlice, Namespace, Pod, Service];
const SOURCE = "gloo.solo.io/scrape-openapi-source";
const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

const addresses = new Map<string, string>();

/** The cluster IP of a Service, in every test the same. */
function addressOf(name: string, namespace = "shop"): string {
  const key = `${namespace}/${name}`;
  const address = addresses.get(key) ?? `10.96.0.${addresses.size + 10}`;
  addresses.set(key, address);
  return address;
}

function service(name: string, { source = "/openapi.json", namespace = "shop" } = {}): readonly AnyResource[] {
  const annotations = source === "" ? {} : { [SOURCE]: source };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace, annotations },
      spec: { clusterIP: addressOf(name, namespace), selector: { app: name }, ports: [{ port: 80 }] },
    },
    slice(name, { namespace }),
    pod(name, { namespace }),
  ];
}

function slice(name: string, { namespace = "shop", pod = `${name}-1` } = {}): AnyResource {
  const endpoints = [{ addresses: ["10.1.0.1"], conditions: { ready: true }, targetRef: { kind: "Pod", name: pod } }];
  const { apiVersion, kind } = EndpointSlice;
  return { apiVersion, kind, metadata: { name: `${name}-abc`, namespace, labels: { "kubernetes.io/service-name": name } }, endpoints };
}

/** With the address that slices of it have. */
function pod(name: string, { namespace = "shop", address = "10.1.0.1" } = {}): AnyResource {
  const status = { podIP: address, podIPs: [{ ip: address }] };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${name}-1`, namespace, labels: { app: name } },
    spec: { containers: [] },
    status,
  } as AnyResource;
}

function discovery(name: string, url: string, spec: object = {}): AnyResource {
  const { apiVersion, kind } = ApiSchemaDiscovery;
  return { apiVersion, kind, metadata: { name, namespace: "shop" }, spec: { openapi: { fetchEndpoint: { url } }, ...spec } };
}

function documentOf(title: string): string {
  return JSON.stringify({ openapi: "3.0.0", info: { title }, paths: {} });
}

type Serve = (request: HttpRequest, signal: AbortSignal) => string | HttpError | Promise<string>;

/** A cluster with these objects; `world.serve` answers what is read. */
function world(objects: readonly AnyResource[], serve: Serve = () => documentOf("Reviews")) {
  const cluster = simulatedCluster({ name: "east", clock, kinds: KINDS });
  cluster.load(["shop", "other", "payments"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
  cluster.load(objects);
  const called: string[] = [];
  const state = { serve, isOn: true, isWritten: true, isInScope: (_: string) => true, changed: (): void => undefined };
  const http: HttpClient = async (request, signal) => {
    signal.throwIfAborted();
    called.push(`${request.headers["host"]} ${request.url}`);
    const body = await state.serve(request, signal);
    if (body instanceof HttpError) throw body;
    return { status: 200, body };
  };
  const log = recordingLog();
  /** One replica of the agent that leads until the result is called. */
  function lead(): () => Promise<void> {
    const stop = new AbortController();
    const view = startInformer(
      { cluster, kinds: KINDS, clock, random: () => 0, log, changed: (delta) => loop?.observed(delta) },
      stop.signal,
    );
    const parts = { cluster, clock, random: () => 0, log, meter: { add: () => undefined, record: () => undefined } };
    const statuses = startStatusWriter({ ...parts, live: () => view.snapshot }, stop.signal);
    const options = {
      cluster,
      view,
      http,
      statuses,
      clock,
      log,
      isOn: () => state.isOn,
      mayWrite: () => state.isWritten,
      scope: () => state.isInScope,
    };
    const loop = startSchemaReporter(options, stop.signal);
    const end = async () => {
      stop.abort(new Error("another replica leads"));
      await meanwhile(Promise.all([loop.ended, statuses.ended]));
    };
    ended.push(end);
    state.changed = () => loop.settingsChanged();
    return end;
  }
  async function doc(
    name: string,
    namespace = "shop",
  ): Promise<{ readonly title: unknown; readonly reason: unknown; readonly doc: ApiDoc } | undefined> {
    const found = await cluster.get(ApiDoc, { name, namespace });
    if (found === undefined) return undefined;
    const text = found.spec?.openapi?.inlineString;
    const title = text === undefined ? undefined : (JSON.parse(text) as { info: { title: string } }).info.title;
    return { title, reason: found.status?.conditions?.[0]?.reason, doc: found };
  }
  return { cluster, called, state, log, lead, doc };
}

describe("API discovery", () => {
  it("writes an ApiDoc for an annotated Service, calls nothing but that Service, and says that it was read", async () => {
    const { lead, doc, called, cluster } = world([...service("reviews"), ...service("ratings", { source: "" })]);
    lead();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ title: "Reviews", reason: "Read" }));
    const { metadata, spec } = (await doc("reviews-service"))?.doc ?? {};
    const owner = await cluster.get(Service, { name: "reviews", namespace: "shop" });
    expect(metadata?.labels).toEqual({ "reconciler.mesh.gloo.solo.io/name": "schema-reporter-service" });
    expect(metadata?.ownerReferences).toEqual([{ apiVersion: "v1", kind: "Service", name: "reviews", uid: owner?.metadata.uid }]);
    expect(spec?.servedBy).toEqual([{ destinationSelector: { selector: { name: "reviews", namespace: "shop", cluster: "east" } } }]);
    expect(called).toEqual([`reviews.shop.svc http://${addressOf("reviews")}:80/openapi.json`]);
    expect((await cluster.list(ApiDoc)).items).toHaveLength(1);
  });

  it("reads again when the pods or the URL change and every ten minutes, and writes only what differs", async () => {
    const { lead, doc, called, cluster } = world(service("reviews"));
    lead();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ reason: "Read" }));
    const generation = (await doc("reviews-service"))?.doc.metadata.generation;
    await quiet(5 * 60_000);
    expect(called).toHaveLength(1);
    cluster.load([slice("reviews", { pod: "reviews-2" })]);
    await eventually(() => expect(called).toHaveLength(2));
    cluster.load(service("reviews", { source: "http://reviews/v2" }));
    await eventually(() => expect(called).toContain(`reviews http://${addressOf("reviews")}:80/v2`));
    await quiet(11 * 60_000);
    expect(called.length).toBeGreaterThanOrEqual(4);
    expect((await doc("reviews-service"))?.doc.metadata.generation).toBe(generation);
  });

  it("keeps the last good schema, says why it is not read, and reads the others", async () => {
    const { lead, doc, state, cluster } = world([...service("reviews"), ...service("ratings")]);
    lead();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ reason: "Read" }));
    state.serve = ({ url }) => (url.includes(addressOf("reviews")) ? "<html>" : documentOf("Ratings"));
    cluster.load([slice("reviews", { pod: "reviews-2" }), slice("ratings", { pod: "ratings-2" })]);
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ title: "Reviews", reason: "NotOpenApi" }));
    await eventually(async () => expect(await doc("ratings-service")).toMatchObject({ title: "Ratings", reason: "Read" }));
  });

  it("calls no address that no pod has which the Service selects, whatever its EndpointSlices say", async () => {
    const claimed = (name: string, address: string) => ({
      ...slice(name),
      endpoints: [{ addresses: ["10.1.0.1", address], conditions: { ready: true }, targetRef: { kind: "Pod", name: `${name}-1` } }],
    });
    const { lead, doc, called, cluster } = world([
      ...service("reviews"),
      // Of a pod of another Service, of another namespace, and of none.
      ...service("ratings"),
      pod("pay", { namespace: "payments", address: "10.1.0.9" }),
    ]);
    cluster.load([pod("details", { address: "10.1.0.7" }), claimed("ratings", "10.1.0.7") as AnyResource]);
    lead();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ reason: "Read" }));
    await eventually(async () => expect(await doc("ratings-service")).toMatchObject({ title: undefined, reason: "Refused" }));
    for (const address of ["10.1.0.9", "10.96.0.1"]) {
      cluster.load([claimed("ratings", address) as AnyResource]);
      await quiet(11 * 60_000);
      expect(await doc("ratings-service")).toMatchObject({ title: undefined, reason: "Refused" });
    }
    expect(called.some((one) => one.startsWith("ratings"))).toBe(false);
    cluster.load([slice("ratings")]);
    await quiet(11 * 60_000);
    expect(await doc("ratings-service")).toMatchObject({ title: "Reviews", reason: "Read" });
  });

  it("makes three attempts, with growing pauses, and has an ApiDoc without a schema say what is wrong", async () => {
    let count = 0;
    const { lead, doc } = world(service("reviews"), () => {
      count++;
      return new HttpError("Unreachable", "refused");
    });
    lead();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ title: undefined, reason: "Unreachable" }));
    expect(count).toBe(3);
  });

  it("lets one Service that never answers hold up none of another namespace", async () => {
    const { lead, doc, called } = world(
      [
        ...Array.from({ length: 30 }, (_, i) => service(`slow-${i}`, { source: "/slow" })).flat(),
        ...service("reviews", { namespace: "other" }),
      ],
      ({ url }, signal) =>
        url.includes("/slow")
          ? new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
          : documentOf("Reviews"),
    );
    lead();
    await eventually(async () => expect(await doc("reviews-service", "other")).toMatchObject({ reason: "Read" }));
    expect(called.filter((one) => one.includes("/slow"))).toHaveLength(1);
  });

  it("answers an ApiSchemaDiscovery in its status, also where it asks for what is not called", async () => {
    const { lead, doc, called, cluster } = world([
      ...service("reviews", { source: "" }),
      ...service("ratings", { source: "", namespace: "payments" }),
      discovery("good", "http://reviews.shop.svc.cluster.local/openapi.json"),
      discovery("metadata", "http://169.254.169.254/latest"),
      discovery("of-others", "http://ratings.payments/openapi.json"),
      discovery("claims", "http://reviews/a", {
        servedBy: [{ destinationSelector: { selector: { name: "ratings", namespace: "payments" } } }],
      }),
    ]);
    lead();
    await eventually(async () => expect(await doc("good")).toMatchObject({ title: "Reviews", reason: "Read" }));
    const reasons = async () =>
      (await cluster.list(ApiSchemaDiscovery)).items.map(({ metadata, status }) => [metadata.name, status?.conditions?.[0]?.reason]);
    await eventually(async () =>
      expect(await reasons()).toEqual([
        ["claims", "Refused"],
        ["good", "Read"],
        ["metadata", "Refused"],
        ["of-others", "Refused"],
      ]),
    );
    expect((await doc("claims"))?.doc.spec?.servedBy).toEqual([]);
    expect(called).toEqual([`reviews.shop.svc.cluster.local http://${addressOf("reviews")}:80/openapi.json`]);
  });

  it("never touches an ApiDoc of somebody else", async () => {
    const { apiVersion, kind } = ApiDoc;
    const theirs = (name: string) => ({
      apiVersion,
      kind,
      metadata: { name, namespace: "shop" },
      spec: { openapi: { inlineString: "{}" } },
    });
    const { lead, cluster, log } = world([...service("reviews"), theirs("reviews-service"), theirs("own")]);
    const before = (await cluster.list(ApiDoc)).items.map(keyOfResource);
    lead();
    await quiet(60_000);
    const after = await cluster.list(ApiDoc);
    expect(after.items.map(keyOfResource)).toEqual(before);
    expect(after.items.map(({ spec, status }) => [spec?.openapi?.inlineString, status])).toEqual([
      ["{}", undefined],
      ["{}", undefined],
    ]);
    expect(JSON.stringify(log)).toContain("written by somebody else");
  });

  it("never touches one that has the label of ours, and was written by another agent or by a user", async () => {
    const { lead, doc, cluster, log } = world(service("reviews"));
    const labels = { "reconciler.mesh.gloo.solo.io/name": "schema-reporter-service" };
    const metadata = { name: "reviews-service", namespace: "shop", labels };
    const theirs = {
      apiVersion: ApiDoc.apiVersion,
      kind: ApiDoc.kind,
      metadata,
      spec: { openapi: { inlineString: documentOf("Theirs") } },
    };
    await cluster.apply(theirs as AnyResource, { fieldManager: "their-agent" });
    lead();
    await eventually(() => expect(JSON.stringify(log)).toContain("was written by somebody else"));
    expect(await doc("reviews-service")).toMatchObject({ title: "Theirs" });
    expect((await doc("reviews-service"))?.doc.metadata.ownerReferences).toBeUndefined();
  });

  it("says that an ApiDoc cannot be written, and writes it once it can be", async () => {
    const { lead, cluster, doc } = world([...service("reviews", { source: "" }), discovery("api", "http://reviews/openapi.json")]);
    let isRefused = true;
    const { apply } = cluster;
    cluster.apply = async (resource, options, signal) => {
      if (isRefused && resource.kind === ApiDoc.kind) throw new ClusterError("Forbidden", "exceeded quota");
      return apply(resource, options, signal);
    };
    lead();
    const conditionOf = async () => (await cluster.get(ApiSchemaDiscovery, { name: "api", namespace: "shop" }))?.status?.conditions?.[0];
    await eventually(async () => expect((await conditionOf())?.reason).toBe("NotWritten"));
    isRefused = false;
    await eventually(async () => expect(await doc("api")).toMatchObject({ title: "Reviews", reason: "Read" }));
    await eventually(async () => expect((await conditionOf())?.status).toBe("True"));
  });

  it("removes its ApiDoc with the annotation, and keeps it while the namespace is out of scope or nothing may be written", async () => {
    const { lead, doc, cluster, state } = world(service("reviews"));
    lead();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ reason: "Read" }));
    state.isInScope = () => false;
    await quiet(60_000);
    expect(await doc("reviews-service")).toBeDefined();
    state.isInScope = () => true;
    state.isWritten = false;
    cluster.load(service("reviews", { source: "" }));
    await quiet(60_000);
    expect(await doc("reviews-service")).toBeDefined();
    state.isWritten = true;
    await eventually(async () => expect(await doc("reviews-service")).toBeUndefined());
  });

  it("continues where the leader before has stopped, and keeps what that one has read", async () => {
    const { lead, doc, called, state, cluster } = world(service("reviews"));
    const stop = lead();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ reason: "Read" }));
    await stop();
    const before = called.length;
    cluster.load([slice("reviews", { pod: "reviews-2" })]);
    await quiet(60_000);
    expect(called).toHaveLength(before);
    state.serve = () => "broken";
    lead();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ title: "Reviews", reason: "NotOpenApi" }));
  });

  it("restores what somebody changes in an ApiDoc of its own", async () => {
    const { lead, doc, cluster } = world(service("reviews"));
    lead();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ reason: "Read" }));
    const found = (await doc("reviews-service"))?.doc;
    if (found === undefined) throw new Error("no ApiDoc");
    await cluster.update({ ...found, spec: { ...found.spec, openapi: { inlineString: documentOf("Changed") } } } as ApiDoc);
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ title: "Reviews" }));
  });

  it("refuses a document whose ApiDoc would be too large, and more than a namespace may have", async () => {
    const filler = "x".repeat(900 * 1024);
    const { lead, doc } = world(Array.from({ length: 10 }, (_, i) => service(`s${i}`)).flat(), () =>
      JSON.stringify({ openapi: "3.0.0", info: { title: "Large", filler }, paths: {} }),
    );
    lead();
    await eventually(async () => expect(await doc("s9-service")).toMatchObject({ title: undefined, reason: "TooLarge" }));
    expect(await doc("s8-service")).toMatchObject({ title: "Large", reason: "Read" });
  });

  it("verifies https by the CA in the ConfigMap that the annotation names, and refuses with the remedy what names none", async () => {
    const PEM = `-----BEGIN CERTIFICATE-----\n${Buffer.from([0x30, 0, 0, 0]).toString("base64")}\n-----END CERTIFICATE-----\n`;
    const roots: unknown[] = [];
    const secured = (name: string, ca?: string) => {
      const [one, ...others] = service(name) as readonly [AnyResource, AnyResource];
      const annotations = { ...one.metadata.annotations, ...(ca === undefined ? {} : { "isthmus.mesh/schema-ca": ca }) };
      const spec = { ...(one["spec"] as object), ports: [{ port: 443, name: "https" }] };
      return [{ ...one, metadata: { ...one.metadata, annotations }, spec } as AnyResource, ...others];
    };
    const configMap = (name: string, data: object) =>
      ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "shop" }, data }) as unknown as AnyResource;
    const { lead, doc } = world(
      [
        ...secured("system"),
        ...secured("named", "ours"),
        ...secured("keyed", "istio-ca-root-cert/root-cert.pem"),
        ...secured("absent", "nobody"),
        ...secured("empty", "key/tls.key"),
        ...secured("elsewhere", "../other/ours"),
        configMap("ours", { "ca.crt": PEM }),
        configMap("istio-ca-root-cert", { "root-cert.pem": PEM }),
        configMap("key", { "tls.key": "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n" }),
      ],
      (request) => {
        roots.push([request.serverName, request.url.slice(0, 8), request.roots]);
        return documentOf("Reviews");
      },
    );
    lead();
    for (const name of ["system", "named", "keyed"])
      await eventually(async () => expect(await doc(`${name}-service`)).toMatchObject({ title: "Reviews", reason: "Read" }));
    for (const name of ["absent", "empty", "elsewhere"])
      await eventually(async () => expect(await doc(`${name}-service`)).toMatchObject({ title: undefined, reason: "Refused" }));
    expect(roots.sort()).toEqual([
      ["keyed.shop.svc", "https://", PEM],
      ["named.shop.svc", "https://", PEM],
      ["system.shop.svc", "https://", undefined],
    ]);
    expect(JSON.stringify(await doc("empty-service"))).not.toContain("MAA=");
  });

  it("is off where the Settings say so: nothing is read, written or removed until they say otherwise", async () => {
    const { lead, doc, called, state, cluster } = world([...service("reviews"), ...service("ratings")]);
    lead();
    for (const name of ["reviews-service", "ratings-service"])
      await eventually(async () => expect(await doc(name)).toMatchObject({ reason: "Read" }));
    const before = called.length;
    state.isOn = false;
    state.changed();
    state.serve = () => documentOf("Reviews 2");
    await cluster.apply(slice("reviews", { pod: "reviews-2" }), { fieldManager: "test", force: true });
    const [annotated] = service("ratings", { source: "" }) as readonly [AnyResource];
    await cluster.apply(annotated, { fieldManager: "test", force: true });
    await quiet(11 * 60_000);
    expect(called).toHaveLength(before);
    expect((await cluster.list(ApiDoc)).items).toHaveLength(2);
    expect(await doc("reviews-service")).toMatchObject({ title: "Reviews", reason: "Read" });
    state.isOn = true;
    state.changed();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ title: "Reviews 2", reason: "Read" }));
  });

  it("ends its attempts when it is turned off meanwhile, and begins with them again", async () => {
    const { lead, doc, called, state } = world(service("reviews"), () => new HttpError("Unreachable", "refused"));
    lead();
    await eventually(() => expect(called).toHaveLength(1));
    state.isOn = false;
    await quiet(60_000);
    expect(called).toHaveLength(1);
    expect(await doc("reviews-service")).toBeUndefined();
    state.isOn = true;
    state.serve = () => documentOf("Reviews");
    state.changed();
    await eventually(async () => expect(await doc("reviews-service")).toMatchObject({ title: "Reviews" }));
  });
});

it("documents of APIs that cannot be written, and why", async () => {
  const namespaces = ["shop", "other", "payments"];
  // 8 MiB of each namespace: those that cannot be written are kept until they can.
  const bytes = namespaces.length * 8 * MEBIBYTE;
  const held = await heldBy(async () => {
    const services = namespaces.flatMap((namespace) => Array.from({ length: 15 }, (_, i) => service(`api-${i}`, { namespace })));
    let served = 0;
    const made = world(services.flat(), () =>
      JSON.stringify({
        openapi: "3.0.0",
        info: { title: `${served++}` },
        paths: { [`/${"p".repeat(900_000)}`]: { get: { responses: {} } } },
      }),
    );
    const apply = made.cluster.apply.bind(made.cluster);
    made.cluster.apply = async (resource, ...rest) => {
      if (resource.kind === ApiDoc.kind) throw new ClusterError("Forbidden", `no: ${"r".repeat(100_000)}`);
      return apply(resource, ...rest);
    };
    made.lead();
    await eventually(() => expect(served).toBeGreaterThanOrEqual(45));
    await quiet(60_000);
    return made;
  });
  expect(held).toBeLessThan(2 * bytes);
});
