import { X509Certificate } from "node:crypto";
import { allKinds, VirtualMesh } from "@isthmus/api";
import { createMeshRoot } from "@isthmus/certificates";
import type { AnyResource, Kind } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { NOW, virtualMesh } from "./fleetObjects.ts";
import { expectGolden } from "./goldenText.ts";
import { managementCluster, type Run, runIn } from "./planeRun.ts";

const DAY_MS = 86_400_000;
const at = (days: number): string => new Date(NOW + days * DAY_MS).toISOString();

interface ForecastFixture {
  readonly sequence?: string;
  readonly step?: string;
  readonly state?: string;
  readonly autoRestartPods?: boolean;
  readonly isConnected?: boolean;
  readonly waitsFor?: readonly string[];
  readonly restarts?: readonly object[];
  readonly restartCount?: number;
  readonly evicted?: number;
  readonly single?: readonly string[];
}

function intermediate(cluster: string, forecast: ForecastFixture = {}, entry: object = {}): object {
  const counts = { controlPlanePods: 2, proxies: 40, workloads: 12, single: ["bookinfo/ratings-v1"], singleCount: 1 };
  const place = { controlPlaneNamespace: "istio-system", controlPlaneLabels: { app: "istiod" } };
  return {
    use: "meshIntermediate",
    name: `istiod-istio-system-${cluster}`,
    namespace: "istio-system",
    cluster,
    notBefore: at(-100),
    notAfter: at(265),
    state: "VALID",
    next: `renewed by the agent of ${cluster} on 2027-07-07`,
    virtualMesh: "gloo-mesh/bookinfo",
    forecast: {
      ...{
        sequence: "STANDARD",
        rounds: 3,
        ...place,
        ...counts,
        autoRestartPods: true,
        isConnected: true,
        state: "FINISHED",
        step: "KEEP",
        waitsFor: [],
      },
      ...forecast,
    },
    ...entry,
  };
}

function root(entry: object = {}): object {
  const times = { notBefore: at(-320), notAfter: at(45) };
  const place = { use: "meshRoot", name: "bookinfo.gloo-mesh", namespace: "gloo-mesh", cluster: "", virtualMesh: "gloo-mesh/bookinfo" };
  return { ...place, ...times, state: "EXPIRING", next: "replace it now: meshctl cert rotate", isGenerated: true, ...entry };
}

const OTHERS: readonly object[] = [
  {
    use: "agent",
    name: "east",
    namespace: "gloo-mesh",
    cluster: "east",
    notBefore: at(-0.4),
    notAfter: at(0.6),
    state: "VALID",
    next: "renewed by its agent",
  },
  {
    use: "relayServer",
    name: "relay-server-tls-secret",
    namespace: "gloo-mesh",
    cluster: "",
    notAfter: at(200),
    state: "VALID",
    next: "renewed by the server",
  },
  {
    use: "joinToken",
    name: "relay-join-token-abcdefghijkl",
    namespace: "gloo-mesh",
    cluster: "west",
    notAfter: at(0.02),
    state: "VALID",
    next: "deleted after its use or its end",
  },
  {
    use: "sharedToken",
    name: "relay-identity-token-secret",
    namespace: "gloo-mesh",
    cluster: "",
    state: "NO_EXPIRY",
    next: "replaced by meshctl cluster revoke --rotate-token",
  },
];

function budget(name: string, disruptionsAllowed: number, labels: Readonly<Record<string, string>>): AnyResource {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: "bookinfo" },
    spec: { selector: { matchLabels: labels } },
    status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1 },
  };
}

const BUDGETS: Kind = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
  versions: ["policy/v1"],
  parse: (input) => input as AnyResource,
};

const POD: AnyResource = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "reviews-1", namespace: "bookinfo", labels: { app: "reviews" } },
  spec: { containers: [{ name: "istio-proxy", image: "istio/proxyv2:1.24" }] },
};

async function cert(
  args: readonly string[],
  entries: readonly object[] = [root(), intermediate("east"), intermediate("west"), ...OTHERS],
  {
    columns,
    plane = managementCluster([virtualMesh("bookinfo", ["east", "west"])]),
    east = [],
    ask,
  }: { ask?: () => Promise<boolean>; columns?: number; plane?: ReturnType<typeof managementCluster>; east?: readonly AnyResource[] } = {},
): Promise<Run> {
  const page = JSON.stringify({ items: entries });
  const workload = managementCluster([POD, ...east], [...allKinds(), BUDGETS]);
  return runIn(plane, ["cert", ...args, "--admin-address", "http://127.0.0.1:9091"], columns, {
    readAdminPage: async () => page,
    ...(ask === undefined ? {} : { ask }),
    connect: async ({ context }) => (context === "ctx-east" || context === "ctx-west" ? workload : plane),
  });
}

describe("meshctl cert list", () => {
  it("prints what needs somebody first, and exits with 1 as long as there is any", async () => {
    for (const columns of [undefined, 80, 120]) {
      const { code, out, err } = await cert(["list"], undefined, columns === undefined ? {} : { columns });
      expect({ code, err }).toEqual({ code: 1, err: "7 certificates and tokens: 1 expired or to be renewed now, 0 unknown\n" });
      expectGolden(`cert/list${columns === undefined ? "" : `-${columns}`}`, out);
    }
    expect((await cert(["list"], OTHERS)).code).toBe(0);
    expect((await cert(["list"], [intermediate("east", {}, { state: "UNKNOWN" })])).code).toBe(3);
  });

  it("prints the same for programs", async () => {
    const { out } = await cert(["list", "-o", "json"]);
    const { certificates } = JSON.parse(out) as { readonly certificates: readonly object[] };
    expect(certificates).toHaveLength(7);
    expect(certificates[0]).toMatchObject({ use: "meshRoot", state: "EXPIRING", notAfter: at(45) });
    expect((await cert(["list", "-o", "yaml"])).out).toContain("use: meshRoot");
  });

  it("says that a server of an earlier version has no such page", async () => {
    const run = await runIn(managementCluster([]), ["cert", "list", "--admin-address", "http://127.0.0.1:9091"], undefined, {
      readAdminPage: async () => "not found",
    });
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining("earlier version") });
  });
});

describe("meshctl cert inspect", () => {
  it("prints what a certificate says, within 80 columns", async () => {
    const options = { commonName: "root of bookinfo.gloo-mesh", organization: "gloo-mesh", lifetimeMs: 365 * DAY_MS, now: NOW };
    const { certificate, key } = await createMeshRoot(options, "P-256");
    const { out: json } = await cert(["inspect", "bookinfo.gloo-mesh", "-o", "json"], [root({ certificate })]);
    expect(JSON.parse(json)).toMatchObject({ use: "meshRoot", isAuthority: true, sha256: expect.stringMatching(/^[0-9A-F:]{95}$/) });
    const { code, out } = await cert(["inspect", "bookinfo.gloo-mesh"], [root({ certificate })], { columns: 80 });
    expect(code).toBe(1);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(out).toMatch(/^Subject: .*CN=root of bookinfo\.gloo-mesh/m);
    expect(out).toMatch(/^SHA-256: +([0-9A-F]{2}:)+/m);
    expect(out).toMatch(/^CA: +true$/m);
    expect(out).not.toContain(key.split("\n")[1]);
  });

  it("names the nearest one, and asks for the use where a name is not enough", async () => {
    expect(await cert(["inspect", "bokinfo.gloo-mesh"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("did you mean bookinfo.gloo-mesh?"),
    });
    const twice = [root(), root({ use: "relayRoot" })];
    expect(await cert(["inspect", "bookinfo.gloo-mesh"], twice)).toMatchObject({
      code: 2,
      err: expect.stringContaining("meshRoot/bookinfo.gloo-mesh, relayRoot/bookinfo.gloo-mesh"),
    });
  });
});

describe("meshctl cert rotate", () => {
  const annotationsIn = async (plane: ReturnType<typeof managementCluster>) =>
    (await plane.get(VirtualMesh, { name: "bookinfo", namespace: "gloo-mesh" }))?.metadata.annotations;

  it("orders another generated root by a number that none has had", async () => {
    const plane = managementCluster([virtualMesh("bookinfo", ["east"])]);
    const unused = root({ name: "bookinfo.gloo-mesh.root-4", virtualMesh: undefined });
    const { code, err } = await cert(["rotate", "meshRoot/bookinfo.gloo-mesh"], [root(), unused, intermediate("east")], { plane });
    expect(code).toBe(0);
    expect(err).toContain("not done yet");
    expect(await annotationsIn(plane)).toEqual({
      "isthmus.mesh/root-generation": "5",
      "isthmus.mesh/previous-root-generation": "1, before 5",
    });
  });

  it("orders another CA of one mesh", async () => {
    const plane = managementCluster([virtualMesh("bookinfo", ["east"])]);
    expect((await cert(["rotate", "istiod-istio-system-east"], undefined, { plane })).code).toBe(0);
    expect(await annotationsIn(plane)).toEqual({ "reissue.isthmus.mesh/istiod-istio-system-east": new Date(NOW).toISOString() });
  });

  it.each([
    ["agent/east", [], "not rotated by this command: renewed by its agent"],
    [
      "meshRoot/theirs",
      [root({ name: "theirs", isGenerated: false })],
      "create a Secret with another root, and name it in VirtualMesh gloo-mesh/bookinfo",
    ],
    ["meshRoot/left", [root({ name: "left", virtualMesh: undefined })], "used by no VirtualMesh"],
    ["meshRoot/bookinfo.gloo-mesh", [root(), intermediate("east", { step: "REISSUE" })], "istiod-istio-system-east is at step REISSUE"],
  ])("changes nothing for %s, and says what to do", async (name, entries, message) => {
    const plane = managementCluster([virtualMesh("bookinfo", ["east"])]);
    const run = await cert(["rotate", name], [...entries, ...OTHERS], { plane });
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining(message) });
    expect(await annotationsIn(plane)).toBeUndefined();
  });

  it.each(["TRUST_BOTH", "REISSUE"])("aborts a change of the generated root at step %s", async (step) => {
    const plane = managementCluster([virtualMesh("bookinfo", ["east"])]);
    await cert(["rotate", "meshRoot/bookinfo.gloo-mesh"], [root(), intermediate("east")], { plane });
    const moving = [root({ name: "bookinfo.gloo-mesh.root-2" }), root({ virtualMesh: undefined }), intermediate("east", { step })];
    const { code, err } = await cert(["rotate", "meshRoot/bookinfo.gloo-mesh.root-2", "--abort"], moving, { plane });
    expect([code, err]).toEqual([0, expect.stringContaining("isthmus.mesh/root-generation is 1 again")]);
    expect(await annotationsIn(plane)).toEqual({ "isthmus.mesh/root-generation": "1" });
  });

  it("aborts a change to a Secret, back to the Secret that is noted as the root before", async () => {
    const mesh = virtualMesh("bookinfo", ["east"]);
    const secret = (name: string) => ({ shared: { rootCertificateAuthority: { secret: { name, namespace: "pki" } } } });
    const annotations = { "isthmus.mesh/previous-roots": "pki/old" };
    const plane = managementCluster([
      { ...mesh, metadata: { ...mesh.metadata, annotations }, spec: { meshes: [], mtlsConfig: secret("new") } },
    ]);
    const moving = [root({ name: "new", namespace: "pki", isGenerated: false }), intermediate("east", { step: "TRUST_BOTH" })];
    expect((await cert(["rotate", "meshRoot/new", "--abort"], moving, { plane })).code).toBe(0);
    const found = await plane.get(VirtualMesh, { name: "bookinfo", namespace: "gloo-mesh" });
    expect(found?.spec?.mtlsConfig).toEqual(secret("old"));
    expect(found?.metadata.annotations).toEqual({ "isthmus.mesh/previous-roots": "pki/new" });
  });

  describe("leaves a workload out of a running change of root", () => {
    const LEAVE = ["rotate", "meshIntermediate/istiod-istio-system-east", "--leave", "bookinfo/ratings-v1"];
    const key = "leave.isthmus.mesh/istiod-istio-system-east";

    async function world(step: string, state = "ISSUED") {
      const options = { commonName: "root", organization: "gloo-mesh", lifetimeMs: 365 * DAY_MS, now: NOW };
      const { certificate } = await createMeshRoot(options, "P-256");
      const fingerprint = new X509Certificate(certificate).fingerprint256.replaceAll(":", "").toLowerCase();
      const entries = [root({ certificate }), intermediate("east", { step, state }), intermediate("west", { step })];
      return { fingerprint, entries, plane: managementCluster([virtualMesh("bookinfo", ["east", "west"])]) };
    }

    it.each(["TRUST_BOTH", "REISSUE", "RETIRE"])("says at step %s which calls will fail, and asks", async (step) => {
      const { entries, plane } = await world(step);
      const silent = await cert(LEAVE, entries, { plane, columns: 100 });
      expect(silent.code).toBe(2);
      expectGolden(`cert/leave-${step}`, silent.err);
      const refused = await cert(LEAVE, entries, { plane, ask: async () => false });
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("nothing was ordered")]);
      expect(await annotationsIn(plane)).toBeUndefined();
    });

    it("orders it for this mesh and this root alone, once it is agreed to", async () => {
      const { entries, plane, fingerprint } = await world("REISSUE");
      expect((await cert(LEAVE, entries, { plane, ask: async () => true })).code).toBe(0);
      expect(await annotationsIn(plane)).toEqual({ [key]: `bookinfo/ratings-v1 to ${fingerprint}` });
      const { code, err } = await cert([...LEAVE.slice(0, 3), "bookinfo/details-v1", "--yes"], entries, { plane });
      expect([code, err]).toEqual([0, expect.stringContaining(`remove annotation ${key}`)]);
      expect(await annotationsIn(plane)).toEqual({ [key]: `bookinfo/details-v1, bookinfo/ratings-v1 to ${fingerprint}` });
      // The next change begins with all of them.
      await cert(["rotate", "meshRoot/bookinfo.gloo-mesh"], [root(), intermediate("east")], { plane });
      expect(Object.keys((await annotationsIn(plane)) ?? {})).not.toContain(key);
    });

    it.each([
      [[...LEAVE, "--plan"], "exclude each other"],
      [[...LEAVE.slice(0, 2), "--yes"], "--yes needs --leave"],
      [["rotate", "meshIntermediate/istiod-istio-system-east", "--leave", "ratings"], "give NAMESPACE/WORKLOAD"],
      [["rotate", "meshRoot/bookinfo.gloo-mesh", "--leave", "bookinfo/ratings-v1"], "such as meshIntermediate/istiod-istio-system-east"],
      [[...LEAVE, ...Array.from({ length: 20 }, (_, i) => ["--leave", `bookinfo/web-${i}`]).flat()], "at most 20"],
    ])("changes nothing for what makes no sense", async (args, message) => {
      const { entries, plane } = await world("REISSUE");
      const run = await cert([...args], entries, { plane, ask: async () => true });
      expect(run).toMatchObject({ code: 2, err: expect.stringContaining(message) });
      expect(await annotationsIn(plane)).toBeUndefined();
    });

    it("changes nothing while no change of root is running", async () => {
      const { entries, plane } = await world("KEEP", "FINISHED");
      const run = await cert(LEAVE, entries, { plane, ask: async () => true });
      expect(run).toMatchObject({ code: 2, err: expect.stringContaining("no change of root is running") });
    });
  });

  it.each([
    [[intermediate("east", { step: "RETIRE" }), intermediate("west", { step: "REISSUE" })], "istiod-istio-system-east is at step RETIRE"],
    [[intermediate("east", { step: "KEEP" }), intermediate("west", { step: "RETIRE" })], "cannot be aborted any more"],
    [[intermediate("east", { step: "KEEP" })], "no change of root is running"],
    [[intermediate("east", { step: "TRUST_BOTH" })], "was not changed by meshctl, so the one before is not noted"],
  ])("aborts nothing that is over, or of which the root before is unknown", async (entries, message) => {
    const plane = managementCluster([virtualMesh("bookinfo", ["east"])]);
    const run = await cert(["rotate", "meshRoot/bookinfo.gloo-mesh", "--abort"], [root(), ...entries], { plane });
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining(message) });
    expect(await annotationsIn(plane)).toBeUndefined();
  });

  it("says beforehand what restarts, how long it takes, and what blocks", async () => {
    const plan = ["rotate", "meshRoot/bookinfo.gloo-mesh", "--plan", "--workload-context", "east=ctx-east"];
    for (const columns of [80, 120]) {
      const unseen = await cert(plan, undefined, { columns });
      expect(unseen.code).toBe(3);
      expectGolden(`cert/plan-${columns}`, unseen.out);
    }
    const both = [...plan, "--workload-context", "west=ctx-west"];
    expect((await cert(both)).code).toBe(0);
    // Of other pods, and one that permits a disruption, nothing is said.
    const east = [
      budget("reviews", 0, { app: "reviews" }),
      budget("ratings", 0, { app: "ratings" }),
      budget("open", 1, { app: "reviews" }),
    ];
    const blocked = await cert([...both, "-o", "json"], undefined, { east });
    expect(blocked.code).toBe(1);
    expect(blocked.out).toContain("PodDisruptionBudget bookinfo/reviews permits no disruption");
    expect(blocked.out).not.toMatch(/bookinfo\/(ratings permits|open)/);
    const offline = await cert(both, [
      root(),
      intermediate("east", { isConnected: false }),
      intermediate("west", { autoRestartPods: false }),
    ]);
    expect(offline.code).toBe(1);
    expect(offline.out).toMatch(/the agent of east is not\s+connected/);
    expect(offline.out).toMatch(/autoRestartPods is\s+off/);
  });

  it("says beforehand of meshes with several roots at a time that nothing restarts", async () => {
    const multiRoot = ["east", "west"].map((name) => intermediate(name, { sequence: "MULTI_ROOT" }));
    // Budgets say nothing of it.
    const { code, out } = await cert(["rotate", "meshRoot/bookinfo.gloo-mesh", "--plan"], [root(), ...multiRoot]);
    expect(code).toBe(0);
    expectGolden("cert/plan-multi-root-80", out);
  });

  it("says of each workload how it restarts, and looks at no budgets where none is evicted", async () => {
    const restarts = [
      { workload: "bookinfo/ratings-v1", pods: 1, way: "ROLLOUT" },
      { workload: "bookinfo/report", pods: 1, way: "NONE" },
      { workload: "istio-system/istiod", pods: 2, way: "ROLLOUT" },
    ];
    const rolledOut = { restarts, restartCount: 4, evicted: 0, single: ["bookinfo/report"] };
    const plan = ["rotate", "meshRoot/bookinfo.gloo-mesh", "--plan"];
    const { code, out } = await cert(plan, [root(), intermediate("east", rolledOut)]);
    expect(code).toBe(0);
    expectGolden("cert/plan-rollouts-80", out);
    const yourself = await cert([...plan, "-o", "json"], [root(), intermediate("east", { ...rolledOut, autoRestartPods: false })]);
    expect(JSON.parse(yourself.out)).toMatchObject({ meshes: [{ restarts: [{ way: "you" }, { way: "you" }, { way: "you" }] }] });
    const evicted = restarts.map((one) => ({ ...one, way: "EVICTION" }));
    const unseen = await cert([...plan, "-o", "json"], [root(), intermediate("east", { restarts: evicted, evicted: 3 })]);
    expect(unseen.code).toBe(3);
    expect(JSON.parse(unseen.out)).toMatchObject({
      meshes: [{ restarts: [{ way: "eviction" }, { way: "eviction" }, { way: "eviction" }] }],
    });
  });

  it("says of one CA that nothing restarts", async () => {
    const { code, out } = await cert(["rotate", "istiod-istio-system-east", "--plan", "-o", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ change: "INTERMEDIATE", meshes: [{ sequence: "RELOAD", proxies: 0, restartedBy: "nobody" }] });
  });

  it("needs both halves of a context", async () => {
    expect(await cert(["rotate", "x", "--plan", "--workload-context", "east"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("east=admin@east"),
    });
  });
});
