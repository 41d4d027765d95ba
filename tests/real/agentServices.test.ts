import { ApiDoc, ApiSchemaDiscovery } from "@isthmus/api";
import { createRoot, issueServerCertificate } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AgentReplicas, addressOfThisMachine, runPod, sliceOf, startAgentReplicas } from "./harness/agentReplicas.ts";
import { type ApiDocuments, serveApiDocuments } from "./harness/apiDocuments.ts";
import { type ManagementServer, startManagementServer } from "./harness/apps.ts";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace } from "./harness/istioInstallation.ts";
import { type LoggingEnvoy, startLoggingEnvoy } from "./harness/loggingEnvoy.ts";
import { applyAll, installCrds } from "./harness/manifests.ts";
import { ourCrds } from "./harness/meshCluster.ts";
import { runMeshctl } from "./harness/meshctl.ts";
import { giveRelaySecrets } from "./harness/relaySecrets.ts";
import { waitFor } from "./harness/waitFor.ts";

describeReal("the services of two replicas of an agent", (components) => {
  let address = "";
  let fleet: Fleet<"management" | "cluster-1">;
  let management: Cluster;
  let first: Cluster;
  let server: ManagementServer;
  let replicas: AgentReplicas | undefined;
  let [documents, secured]: (ApiDocuments | undefined)[] = [];
  const proxies: LoggingEnvoy[] = [];

  const logs = () => runMeshctl(["logs", "access", "--admin-address", server.adminUrl, "--status", "404", "-o", "json"]);
  const podsIn = (out: string) =>
    (JSON.parse(out) as { entries: readonly { readonly proxy: { readonly podName: string } }[] }).entries.map(({ proxy }) => proxy.podName);

  beforeAll(async () => {
    address = addressOfThisMachine();
    fleet = await startFleet(components, ["management", "cluster-1"], { crds: { management: "all" } });
    management = clusterOf(fleet.servers.management, "");
    first = clusterOf(fleet.servers["cluster-1"], "cluster-1");
    for (const cluster of [management, first]) await applyAll(cluster, [namespace("gloo-mesh")]);
    server = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory });
    await server.app.ready();
    await giveRelaySecrets(management, first);
    await installCrds(
      first,
      ourCrds().filter(({ spec }) => isOfApis((spec as { names?: { kind?: string } }).names?.kind)),
    );
    documents = await serveApiDocuments(address);
    await applyAll(first, [namespace("shop")]);
    const { servers, directory } = fleet;
    replicas = await startAgentReplicas({ server: servers["cluster-1"], cluster: first, relayAddress: server.relayAddress, directory });
  });

  afterAll(async () => {
    await Promise.all([
      ...proxies.map((proxy) => proxy.stop()),
      ...[replicas?.leading.app, replicas?.standby.app, server?.app].map((app) => app?.program.stop()),
    ]);
    await Promise.all([documents?.stop(), secured?.stop()]);
    await fleet?.stop();
  });

  /** A Service without a cluster IP of its own, and the one pod behind it. */
  function service(
    name: string,
    annotations: Readonly<Record<string, string>> = {},
    port = { name: "http", port: documents?.port },
  ): readonly AnyResource[] {
    const spec = { clusterIP: "None", selector: { app: name }, ports: [port] };
    const slice = sliceOf(`${name}-1`, "shop", { pod: `${name}-1`, service: name, port });
    const metadata = { name, namespace: "shop", annotations };
    return [{ apiVersion: "v1", kind: "Service", metadata, spec } as AnyResource, slice];
  }

  const docOf = async (name: string) => {
    const doc = await first.get(ApiDoc, { name, namespace: "shop" });
    return { title: titleIn(doc?.spec?.openapi?.inlineString), reason: doc?.status?.conditions?.[0]?.reason };
  };

  it("have one that reads the OpenAPI documents of Services: good ones are listed for portals, of others the reason", async () => {
    const annotated = { good: "/openapi.json", yaml: "/openapi.yaml", ...BAD };
    for (const [name, path] of Object.entries(annotated)) {
      await runPod(first, `${name}-1`, "shop", name);
      await applyAll(first, service(name, { [SOURCE]: path, [ATTEMPTS]: "1" }));
    }
    // Only the slice says that there is a pod at this address.
    await applyAll(first, service("claimed", { [SOURCE]: "/claimed", [ATTEMPTS]: "1" }));
    const { apiVersion, kind } = ApiSchemaDiscovery;
    const discovery = (name: string, url: string) => ({
      apiVersion,
      kind,
      metadata: { name, namespace: "shop" },
      spec: { openapi: { fetchEndpoint: { url, pullAttempts: 1 } } },
    });
    const good = discovery("by-discovery", `http://good.shop.svc.cluster.local:${documents?.port}/openapi.json`);
    await applyAll(first, [
      good,
      discovery("elsewhere", `http://${address}:${documents?.port}/openapi.json`),
    ] as unknown as readonly AnyResource[]);
    const expected = { good: ["Reviews", "Read"], yaml: ["Ratings", "Read"], ...REASONS };
    for (const [name, [title, reason]] of Object.entries(expected)) {
      await waitFor(`${name}: ${reason}`, async () => (await docOf(`${name}-service`)).reason === reason);
      expect((await docOf(`${name}-service`)).title).toBe(title);
    }
    await waitFor("the claimed address to be refused", async () => (await docOf("claimed-service")).reason === "Refused");
    expect(documents?.asked).not.toContain("GET /claimed");
    await waitFor("the ApiSchemaDiscovery", async () => (await docOf("by-discovery")).title === "Reviews");
    const refused = await waitFor("the refusal", () => conditionOf("elsewhere"));
    expect(refused).toMatchObject({ status: "False", reason: "Refused" });
    const listed = await waitFor("the list for portals", async () => {
      const { items } = (await (await fetch(`${server.adminUrl}/v1/apis?cluster=cluster-1`)).json()) as { readonly items: readonly Api[] };
      return items.filter(({ schema }) => schema === "openapi").length === 3 && items;
    });
    expect(
      listed
        .filter(({ schema }) => schema === "openapi")
        .map(({ name, title }) => [name, title])
        .sort(),
    ).toEqual([
      ["by-discovery", "Reviews"],
      ["good-service", "Reviews"],
      ["yaml-service", "Ratings"],
    ]);
    const { id } = listed.find(({ name }) => name === "good-service") ?? expect.fail("the API is not listed");
    const schema = await fetch(`${server.adminUrl}/v1/apis/${encodeURIComponent(id)}/schema`);
    expect(await schema.json()).toMatchObject({ openapi: "3.0.0", info: { title: "Reviews" } });
    // What another address answers is shown to nobody, and three redirects are the most.
    expect(JSON.stringify(listed)).not.toContain("hunter2");
    expect(documents?.asked.filter((one) => one === "GET /loop")).toHaveLength(4);
  });

  it("have one that reads https too, where the certificate verifies by the CA that the Service names", async () => {
    const root = await createRoot({ commonName: "shop", now: Date.now() });
    const identity = await issueServerCertificate(root, { dnsNames: ["secured.shop.svc"], now: Date.now() });
    secured = await serveApiDocuments(address, identity);
    const ca = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "shop-ca", namespace: "shop" },
      data: { "ca.crt": root.certificate },
    };
    await applyAll(first, [ca as unknown as AnyResource]);
    const port = { name: "https", port: secured.port };
    const annotations = { [SOURCE]: "/openapi.json", [ATTEMPTS]: "1" };
    for (const name of ["secured", "trusting", "other"]) await runPod(first, `${name}-1`, "shop", name);
    await applyAll(first, service("secured", { ...annotations, "isthmus.mesh/schema-ca": "shop-ca" }, port));
    // Without the CA, and where the certificate is for another name.
    await applyAll(first, service("trusting", annotations, port));
    await applyAll(first, service("other", { ...annotations, "isthmus.mesh/schema-ca": "shop-ca" }, port));
    await waitFor("the document", async () => (await docOf("secured-service")).title === "Reviews");
    for (const name of ["trusting", "other"])
      await waitFor(`${name} to be refused`, async () => (await docOf(`${name}-service`)).reason === "Untrusted");
    expect(secured.asked).toEqual(["GET /openapi.json"]);
  });

  it("take an ApiDoc away with the annotation, and touch none of somebody else", async () => {
    const { apiVersion, kind } = ApiDoc;
    const theirs = {
      apiVersion,
      kind,
      metadata: { name: "theirs-service", namespace: "shop", labels: { "reconciler.mesh.gloo.solo.io/name": "schema-reporter-service" } },
    };
    await applyAll(first, [theirs as AnyResource]);
    await applyAll(first, service("theirs", { [SOURCE]: "/openapi.json" }));
    await applyAll(first, service("good"));
    await waitFor("the ApiDoc to go", async () => (await first.get(ApiDoc, { name: "good-service", namespace: "shop" })) === undefined);
    await waitFor("the log to say whose it is", () =>
      replicas?.leading.app.program.output().includes("ApiDoc theirs-service of this namespace was written by somebody else"),
    );
    const found = await first.get(ApiDoc, { name: "theirs-service", namespace: "shop" });
    expect([found?.spec, found?.status]).toEqual([undefined, undefined]);
  });

  it("have access logs that are one answer for meshctl, and a replica that has gone is named", async () => {
    const both = [replicas?.leading, replicas?.standby];
    for (const [i, sinkPort] of both.map((one) => one?.workloadPort ?? 0).entries()) {
      const proxy = await startLoggingEnvoy({ envoy: components.envoy, directory: fleet.directory, sinkPort, pod: `reviews-${i + 1}` });
      proxies.push(proxy);
      expect(await proxy.request("/missing", i + 1)).toContain(404);
    }
    const { code, err } = await waitFor("entries of both", async () => {
      const answer = await logs();
      return podsIn(answer.out).sort().join() === "reviews-1,reviews-2,reviews-2" && answer;
    });
    expect([code, err]).toEqual([0, ""]);
    await replicas?.standby.app.program.kill();
    const after = await logs();
    expect(podsIn(after.out)).toEqual(["reviews-1"]);
    expect(after.code).toBe(3);
    expect(after.err).toContain("cluster-1: replicas of its agent that did not answer: agent-b");
  });

  async function conditionOf(name: string): Promise<object | undefined> {
    return (await first.get(ApiSchemaDiscovery, { name, namespace: "shop" }))?.status?.conditions?.[0];
  }
});

interface Api {
  readonly id: string;
  readonly name: string;
  readonly title?: string;
  readonly schema: string;
}

function isOfApis(kind: string | undefined): boolean {
  return kind === "ApiDoc" || kind === "ApiSchemaDiscovery";
}

function titleIn(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as { readonly info: { readonly title: string } }).info.title;
}

const SOURCE = "gloo.solo.io/scrape-openapi-source";
const ATTEMPTS = "gloo.solo.io/scrape-openapi-pull-attempts";
const BAD = { broken: "/broken", secret: "/secret", huge: "/huge", loop: "/loop", away: "/away", missing: "/missing", endless: "/endless" };
const REASONS: Readonly<Record<keyof typeof BAD, readonly [undefined, string]>> = {
  broken: [undefined, "NotOpenApi"],
  secret: [undefined, "NotOpenApi"],
  huge: [undefined, "TooLarge"],
  loop: [undefined, "RedirectRefused"],
  away: [undefined, "RedirectRefused"],
  missing: [undefined, "UnexpectedStatus"],
  endless: [undefined, "TimedOut"],
};
