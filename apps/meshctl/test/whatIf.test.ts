import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Resource, snapshotOf } from "@isthmus/core";
import { objectsIn, snapshotPage } from "@isthmus/process";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { meshctl } from "../src/meshctl.ts";
import { cluster } from "./fleetObjects.ts";
import { expectGolden } from "./goldenText.ts";
import { expectOutput } from "./outputs/expectOutput.ts";
import { recordedIo } from "./recordedIo.ts";

const directory = mkdtempSync(join(tmpdir(), "what-if-"));
afterAll(() => rmSync(directory, { recursive: true }));

const NUMBERS: Readonly<Record<string, number>> = { east: 1, north: 2, west: 3 };
const REGIONS: Readonly<Record<string, string>> = { east: "us-east", north: "us-east", west: "us-west" };

function mesh(cluster: string): readonly object[] {
  return [
    {
      apiVersion: "discovery.mesh.gloo.solo.io/v1",
      kind: "Mesh",
      metadata: { name: `istiod-${cluster}`, namespace: "gloo-mesh" },
      spec: {
        istio: { installation: { namespace: "istio-system", cluster, region: REGIONS[cluster] }, smartDnsProxyingEnabled: true },
        agentInfo: { agentNamespace: "gloo-mesh" },
      },
    },
    destination("gateway", cluster, { namespace: "istio-system", labels: { istio: "ingressgateway" }, isGateway: true }),
  ];
}

function destination(
  name: string,
  cluster: string,
  { namespace = "shop", labels = { app: name } as object, pods = 1, isGateway = false } = {},
): object {
  const endpoints = Array.from({ length: pods }, (_, i) => ({
    ipAddress: `10.${NUMBERS[cluster]}.${name.length}.${i + 1}`,
    labels: { ...labels, version: `v${i + 1}` },
  }));
  return {
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Destination",
    metadata: { name: `${name}-${namespace}-${cluster}`, namespace: "gloo-mesh" },
    spec: {
      kubeService: {
        ref: { name, namespace, clusterName: cluster },
        workloadSelectorLabels: labels,
        labels,
        region: REGIONS[cluster],
        ports: isGateway
          ? [{ port: 15443, name: "tls", protocol: "TCP", targetPortNumber: 15443 }]
          : [{ port: 80, name: "http", protocol: "TCP" }],
        ...(isGateway ? { serviceType: "LOAD_BALANCER", externalAddresses: [{ ip: `198.51.100.${NUMBERS[cluster]}` }] } : {}),
        endpointSubsets: [{ endpoints, ports: [{ name: isGateway ? "tls" : "http", port: 8080, protocol: "TCP" }] }],
      },
      mesh: { name: `istiod-${cluster}`, namespace: "gloo-mesh" },
    },
  };
}

function service(name: string, cluster: string, options: { readonly pods?: number } = {}): readonly object[] {
  return [
    destination(name, cluster, options),
    {
      apiVersion: "discovery.mesh.gloo.solo.io/v1",
      kind: "Workload",
      metadata: { name: `${name}-shop-${cluster}-deployment`, namespace: "gloo-mesh" },
      spec: {
        kubernetes: { controller: { name, namespace: "shop", clusterName: cluster }, podLabels: { app: name }, serviceAccountName: name },
        mesh: { name: `istiod-${cluster}`, namespace: "gloo-mesh" },
      },
    },
  ];
}

const inShop = (name: string, clusterName: string) => ({ name, namespace: "shop", clusterName });

function virtualDestination(name: string, spec: object): object {
  return {
    apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
    kind: "VirtualDestination",
    metadata: { name, namespace: "gloo-mesh" },
    spec: {
      hostname: `${name}.mesh.global`,
      port: { number: 80, protocol: "http" },
      virtualMesh: { name: "all", namespace: "gloo-mesh" },
      ...spec,
    },
  };
}

function shift(name: string, cluster: string, destinations: readonly object[]): object {
  return {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "TrafficPolicy",
    metadata: { name, namespace: "gloo-mesh" },
    spec: {
      destinationSelector: [{ kubeServiceRefs: { services: [inShop(name, cluster)] } }],
      policy: { trafficShift: { destinations } },
    },
  };
}

const WORLD: readonly object[] = [
  ...Object.keys(NUMBERS).flatMap(mesh),
  // Everywhere, joined by distance.
  ...Object.keys(NUMBERS).flatMap((cluster) => service("cart", cluster)),
  virtualDestination("cart", { localized: { destinationSelectors: [{ kubeServiceMatcher: { labels: { app: "cart" } } }] } }),
  // In a fixed order, west first or last.
  ...["north", "west"].flatMap((cluster) => service("orders", cluster, { pods: 2 })),
  virtualDestination("orders", {
    static: { destinations: ["west", "north"].map((cluster) => ({ kubeService: inShop("orders", cluster) })) },
  }),
  // In west alone, with and without a virtual host of its own.
  ...service("ledger", "west"),
  ...service("billing", "west"),
  virtualDestination("billing", { static: { destinations: [{ kubeService: inShop("billing", "west") }] } }),
  // Shifted in part.
  ...["east", "west"].flatMap((cluster) => service("reviews", cluster, { pods: 3 })),
  shift("reviews", "east", [
    { weight: 75, kubeService: { ...inShop("reviews", "east"), subset: { version: "v1" } } },
    { weight: 25, kubeService: inShop("reviews", "west") },
  ]),
  // Nothing to do with west.
  ...service("search", "east"),
  {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "VirtualMesh",
    metadata: { name: "all", namespace: "gloo-mesh" },
    spec: {
      meshes: Object.keys(NUMBERS).map((cluster) => ({ name: `istiod-${cluster}`, namespace: "gloo-mesh" })),
      federation: { selectors: [{ destinationSelectors: [{ kubeServiceMatcher: { namespaces: ["shop"] } }] }] },
    },
  },
];

const FILE = join(directory, "world.yaml");
writeFileSync(FILE, WORLD.map((object) => stringify(object)).join("---\n"));

async function run(args: readonly string[], columns?: number) {
  const io = { ...recordedIo(), ...(columns === undefined ? {} : { columns }) };
  const code = await meshctl(["what-if", ...args], io);
  expectOutput(["what-if", ...args], io.written.out);
  return { code, ...io.written };
}

interface ListedHost {
  readonly host: string;
  readonly result: string;
  readonly callers: readonly string[];
}

async function hostsWithout(clusterName: string, world: readonly object[]): Promise<readonly ListedHost[]> {
  const file = join(directory, "other-world.yaml");
  writeFileSync(file, world.map((object) => stringify(object)).join("---\n"));
  const { out } = await run(["--without", clusterName, "-f", file, "-o", "json"]);
  return (JSON.parse(out) as { readonly hosts: readonly ListedHost[] }).hosts;
}

describe("meshctl what-if", () => {
  it.each([80, 120])("prints who is left without a target, and where traffic goes now, in %i characters", async (columns) => {
    const { out, err, code } = await run(["--without", "west", "-f", FILE], columns);
    expectGolden(`what-if/west-${columns}`, out);
    expect(err).toContain("capacity");
    expect(code).toBe(1);
  });

  it("says all of it in JSON", async () => {
    const { out } = await run(["--without", "west", "-f", FILE, "-o", "json"]);
    expectGolden("what-if/west-json", out);
  });

  it.each([
    ["never", 0],
    ["no-target", 1],
  ])("with --fail-on %s exits with code %i", async (failOn, code) => {
    expect((await run(["--without", "west", "-f", FILE, "--fail-on", failOn])).code).toBe(code);
  });

  it("does not fail for less than --fail-on", async () => {
    const { out } = await run(["--without", "north", "-f", FILE, "-o", "json"]);
    const results = (JSON.parse(out) as { readonly hosts: readonly { readonly result: string }[] }).hosts.map(({ result }) => result);
    expect(new Set(results)).toEqual(new Set(["NO_TARGET", "ELSEWHERE", "BACKUP_LOST"]));
  });

  it("takes several clusters at once, which nothing falls back on", async () => {
    const { out, code } = await run(["--without", "west,north", "-f", FILE, "-o", "json"]);
    const { hosts } = JSON.parse(out) as {
      readonly hosts: readonly { readonly host: string; readonly result: string; readonly now: unknown }[];
    };
    expect(hosts.find(({ host }) => host === "orders.mesh.global")?.result).toBe("NO_TARGET");
    expect(hosts.find(({ host }) => host === "cart.mesh.global")).toMatchObject({
      result: "BACKUP_LOST",
      now: [{ host: "cart.mesh.global", tiers: [{ east: 1 }] }],
    });
    expect(code).toBe(1);
  });

  it("knows that federated services fail over under their own name, and in which order", async () => {
    const failing = WORLD.map((object) => {
      const { kind, spec } = object as { readonly kind: string; readonly spec: { readonly federation?: object } };
      if (kind !== "VirtualMesh") return object;
      return { ...object, spec: { ...spec, mtlsConfig: { shared: {} }, federation: { ...spec.federation, failover: {} } } };
    });
    const mutual = {
      ...{ apiVersion: "settings.mesh.gloo.solo.io/v1", kind: "Settings", metadata: { name: "settings", namespace: "gloo-mesh" } },
      spec: { mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } } },
    };
    // Of which there are no pods in east for now.
    const stock = [...service("stock", "east", { pods: 0 }), ...service("stock", "west")];
    const hosts = await hostsWithout("west", [...failing, mutual, ...stock]);
    expect(hosts.find(({ host, callers }) => host === "cart.shop.svc.cluster.local" && callers.includes("east"))).toMatchObject({
      result: "BACKUP_LOST",
      before: [{ tiers: [{ east: 1 }, { north: 1 }, { west: 1 }] }],
      now: [{ tiers: [{ east: 1 }, { north: 1 }] }],
    });
    expect(hosts.find(({ host, callers }) => host === "stock.shop.svc.cluster.local" && callers.includes("east"))).toMatchObject({
      result: "NO_TARGET",
      before: [{ tiers: [{ west: 1 }] }],
      now: [{ tiers: [] }],
    });
  });

  it("knows which clusters have pods of a subset of a VirtualDestination", async () => {
    const share = (version: string, weight: number) => ({
      virtualDestination: { name: "web", namespace: "gloo-mesh", subset: { version } },
      weight,
    });
    const web = [
      ...service("web", "east"),
      ...service("web", "west", { pods: 2 }),
      virtualDestination("web", { localized: { destinationSelectors: [{ kubeServiceMatcher: { labels: { app: "web" } } }] } }),
      shift("web", "east", [share("v1", 75), share("v2", 25)]),
    ];
    const hosts = await hostsWithout("west", [...WORLD, ...web]);
    expect(hosts.find(({ host, callers }) => host === "web.shop.svc.cluster.local" && callers.includes("east"))).toMatchObject({
      result: "PARTIAL",
      before: [
        { subset: "version-v1", weight: 75, tiers: [{ east: 1 }, { west: 1 }] },
        { subset: "version-v2", weight: 25, tiers: [{ west: 1 }] },
      ],
      now: [{ tiers: [{ east: 1 }] }, { tiers: [] }],
    });
    // All pods of a cluster are behind one gateway, whatever their subset.
    expect(hosts.find(({ host, callers }) => host === "web.mesh.global" && callers.includes("east"))).toMatchObject({
      before: [{ tiers: [{ east: 1 }, { west: 1 }] }],
    });
  });

  it("reads the snapshot of a server", async () => {
    const snapshot = join(directory, "snapshot.json");
    writeFileSync(snapshot, JSON.stringify({ apiVersion: "v1", kind: "List", metadata: {}, items: WORLD }));
    const [fromFile, fromSnapshot] = [
      await run(["--without", "west", "-f", FILE]),
      await run(["--without", "west", "--snapshot", snapshot]),
    ];
    expect(fromSnapshot.out).toBe(fromFile.out);
  });

  it.each([
    [["--without", "south", "-f", FILE], "--without south: the input has no such cluster; it has east, north, west"],
    [["--without", "west,", "-f", FILE], "a name is empty"],
    [["--without", "West", "-f", FILE], "must be cluster names"],
    [["--without", "west"], "either --file, --snapshot or --live must be given"],
    [["--without", "west", "-f", FILE, "--snapshot", FILE], "either --file, --snapshot or --live must be given"],
    [["--without", "west", "-f", FILE, "--live"], "either --file, --snapshot or --live must be given"],
    [["--without", "west", "-f", FILE, "--context", "mgmt"], "--context needs --live"],
    [["--without", "west", "-f", FILE, "--admin-address", "http://127.0.0.1:1"], "--admin-address needs --live"],
  ])("refuses %j", async (args, message) => {
    const { code, err, out } = await run(args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
  });
});

describe("meshctl what-if --live", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** The admin port of a server that knows these objects, and gives seven of them at once. */
  async function serverWith(objects: readonly object[]): Promise<{ readonly args: readonly string[]; readonly asked: readonly string[] }> {
    const asked: string[] = [];
    const page = snapshotPage(() => [["clusters", ordered(objects)]]);
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
      asked.push(pathname);
      searchParams.set("limit", "7");
      response.end([...(page(searchParams) as Iterable<string>)].join(""));
    });
    servers.push(server.listen(0, "127.0.0.1"));
    await once(server, "listening");
    return { args: ["--live", "--admin-address", `http://127.0.0.1:${(server.address() as AddressInfo).port}`], asked };
  }

  const ordered = (objects: readonly object[]) => [...objectsIn(snapshotOf(objects as readonly Resource[]))];

  it("reads the whole snapshot of a running server, page by page", async () => {
    const { args, asked } = await serverWith(WORLD);
    const [fromFile, live] = [await run(["--without", "west", "-f", FILE]), await run(["--without", "west", ...args])];
    expect(live).toEqual(fromFile);
    expect(asked).toEqual(Array.from({ length: Math.ceil(WORLD.length / 7) }, () => "/snapshots/input"));
  });

  it("reads what meshctl snapshot save wrote, which replaces a file once it has read everything", async () => {
    const { args } = await serverWith(WORLD);
    const file = join(directory, "saved.json");
    writeFileSync(file, "before");
    const save = async (...words: readonly string[]) => {
      const io = recordedIo();
      return { code: await meshctl(["snapshot", "save", file, ...words], io), ...io.written };
    };
    expect(await save("--admin-address", "http://127.0.0.1:1")).toMatchObject({ code: 2 });
    expect(readFileSync(file, "utf8")).toBe("before");
    expect(await save(...args.slice(1))).toEqual({ code: 0, out: "", err: `${WORLD.length} objects saved\n` });
    expect(readdirSync(directory).filter((name) => name.startsWith("saved"))).toEqual(["saved.json"]);
    expect((await run(["--without", "west", "--snapshot", file])).out).toBe((await run(["--without", "west", "-f", FILE])).out);
  });

  it("names clusters that the server knows nothing of, and does not call that well", async () => {
    const registered = [...WORLD, cluster("south")];
    const [all, none] = [
      ["--fail-on", "no-target"],
      ["--fail-on", "never"],
    ];
    const unknown = await serverWith(registered);
    const { code, err } = await run(["--without", "west", ...unknown.args, ...none]);
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining("warning: the server knows nothing of south: ") });
    expect(await run(["--without", "west", ...unknown.args, ...all])).toMatchObject({ code: 1 });
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", clusterName: "south" } };
    const known = await serverWith([...registered, namespace]);
    const heard = await run(["--without", "west", ...known.args, ...none]);
    expect(heard).toMatchObject({ code: 0, err: expect.not.stringContaining("knows nothing") });
  });

  it("refuses what is no snapshot", async () => {
    const server = createServer((_, response) => response.end("<html>"));
    servers.push(server.listen(0, "127.0.0.1"));
    await once(server, "listening");
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, out, err } = await run(["--without", "west", "--live", "--admin-address", address]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("/snapshots/input: the answer is no list of objects: is it the admin port of a management server?");
  });
});
